"""Every setting: its name, its kind, its default and what it says; the reference page is made from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from souvenance.settings import values
from souvenance.settings.values import DatabaseUrl, Reader, UpstreamSettings

PREFIX = "SOUVENANCE_"
TABLES = ("upstreams", "limits")
"""Settings that are tables: the sources' tables are joined name by name."""


def _setting(read: Reader, default: object, says: str) -> Any:
    return field(default=default, metadata={"read": read, "says": says})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that an installation may set, checked. `file` is the settings file that was read, if any."""

    folder: Path = field(
        metadata={"read": values.folder, "says": "data folder: the SQLite store and the settings file"}
    )
    database_url: DatabaseUrl | None = field(
        default=None,
        metadata={"read": values.database_url, "says": "PostgreSQL to use instead of SQLite in the folder"},
    )
    host: str = _setting(values.text, "127.0.0.1", "address on which `serve` listens")
    port: int = _setting(values.whole(0, 65_535, "7411"), 7411, "port on which `serve` listens; 0 for a free one")
    allow_public_without_login: bool = _setting(
        values.switch, False, "listen on an address that others can reach, unguarded"
    )
    allowed_hosts: tuple[str, ...] = _setting(values.names, (), "names by which this server may be called")
    allowed_origins: tuple[str, ...] = _setting(values.names, (), "web pages of other origins that may ask, https://…")
    model: str | None = _setting(values.text, None, "model that answers when neither bot nor caller names one")
    summary_model: str | None = _setting(
        values.text, None, "model that writes summaries, often a smaller one; else the one that answers"
    )
    upstreams: Mapping[str, UpstreamSettings] = field(
        default_factory=dict,
        metadata={
            "read": values.upstreams,
            "says": "OpenAI-compatible upstreams, a table for each name: base_url, api_key or api_key_env, context, "
            "tools; in the environment SOUVENANCE_UPSTREAMS_<NAME>_BASE_URL and so on",
        },
    )
    detect_local: bool = _setting(
        values.switch, True, "look for Ollama, LM Studio, llama.cpp and vLLM on this machine, when no upstream is set"
    )
    local_ports: tuple[int, ...] | None = _setting(values.ports, None, "ports to look on instead of their usual ones")
    detect_keys: bool = _setting(
        values.switch, True, "use the keys in the environment (OPENAI_API_KEY, …) when no upstream is set"
    )
    model_timeout: float = _setting(values.number, 120.0, "seconds of silence after which a model is given up")
    work: bool = _setting(
        values.switch, True, "do background work, such as summaries, in `serve`, `chat` and the opened library"
    )
    work_at_once: int = _setting(
        values.whole(1, 64, "2"), 2, "steps of background work that one worker does side by side"
    )
    deeper_memory: bool = _setting(
        values.switch, True, "read what is summarised once more for lasting memories, where the bot's preset says so"
    )
    credit_tokens: int | None = _setting(
        values.whole(0, 10**15, "1_000_000"),
        None,
        "tokens, in and out, that summaries and their rebuilds may spend in all; any number when not set",
    )
    limits: Mapping[str, float] = field(
        default_factory=dict,
        metadata={"read": values.limits, "says": "limits by name; in the environment SOUVENANCE_LIMITS_<NAME>"},
    )
    time_zone: str = _setting(
        values.time_zone, "UTC", "IANA time zone of new conversations; the machine's own when not set"
    )
    log_level: str = _setting(values.log_level, "info", "debug, info, warning or error")
    file: Path | None = None


READERS: Mapping[str, Reader] = {f.name: f.metadata["read"] for f in fields(Settings) if "read" in f.metadata}
