"""Readers: from what was written under a setting's name to a value, or to a SettingError that names it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from souvenance.errors import SettingError

Reader = Callable[[str, object], object]
"""Makes a value of what was written under the setting's name; SettingError when it cannot."""


class Secret(str):
    """A text that does not show in a repr."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'…'" if self else "''"


class DatabaseUrl(str):
    """A database's address; its repr and `shown` leave the password out."""

    __slots__ = ()

    @property
    def shown(self) -> str:
        return re.sub(r"(://[^:/@]*):[^@/]*@", r"\1:…@", self)

    def __repr__(self) -> str:
        return repr(self.shown)


NO_SECRET = Secret()


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamSettings:
    """One OpenAI-compatible upstream; `context` (tokens) and `tools` None: what it says of itself."""

    name: str
    base_url: str
    api_key: Secret = NO_SECRET
    context: int | None = None
    tools: bool | None = None


def _wrong(setting: str, raw: object, expected: str, example: str) -> SettingError:
    shown = repr(raw)
    shown = shown if len(shown) <= 60 else shown[:57] + "…"
    return SettingError(setting, problem=f"it is {shown}; expected {expected}", mend=f"Write it like {example}.")


def text(setting: str, raw: object) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise _wrong(setting, raw, "a text", '"gemma3"')
    return raw.strip()


def whole(low: int, high: int, example: str) -> Reader:
    def read(setting: str, raw: object) -> int:
        digits = raw.strip() if isinstance(raw, str) else raw
        if isinstance(digits, str) and re.fullmatch(r"[0-9]{1,12}", digits):
            digits = int(digits)
        if isinstance(digits, bool) or not isinstance(digits, int) or not low <= digits <= high:
            raise _wrong(setting, raw, f"a whole number from {low} to {high}", example)
        return digits

    return read


def number(setting: str, raw: object) -> float:
    """A number of zero or more; a whole one stays an int."""
    if isinstance(raw, str) and re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,12})?", raw.strip()):
        raw = float(raw) if "." in raw else int(raw)
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not 0 <= raw < 1e12:
        raise _wrong(setting, raw, "a number of zero or more", "60")
    return raw


_SWITCH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def switch(setting: str, raw: object) -> bool:
    read = raw if isinstance(raw, bool) else _SWITCH.get(str(raw).strip().lower())
    if read is None:
        raise _wrong(setting, raw, "true or false", "true")
    return read


def names(setting: str, raw: object) -> tuple[str, ...]:
    """A list of texts, or one text with commas between them."""
    given = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(given, list | tuple) or not all(isinstance(item, str) and item.strip() for item in given):
        raise _wrong(setting, raw, "a list of names", '["memory.home.arpa"]')
    return tuple(item.strip() for item in given)


def ports(setting: str, raw: object) -> tuple[int, ...]:
    """A list of ports, or a text with commas between them; empty for none."""
    given = [item for item in raw.split(",") if item.strip()] if isinstance(raw, str) else raw
    if not isinstance(given, list | tuple):
        raise _wrong(setting, raw, "a list of ports", "[11434, 1234]")
    port = whole(1, 65_535, "11434")
    return tuple(value for item in given if isinstance(value := port(setting, item), int))


def folder(setting: str, raw: object) -> Path:
    if isinstance(raw, os.PathLike):
        raw = os.fspath(raw)
    if not isinstance(raw, str) or not raw.strip() or "\0" in raw:
        raise _wrong(setting, raw, "the path of a folder", '"~/souvenance"')
    return Path(raw).expanduser().absolute()


def database_url(setting: str, raw: object) -> DatabaseUrl:
    found = re.fullmatch(r"postgres(?:ql)?(?:\+\w+)?://(\S+)", raw.strip()) if isinstance(raw, str) else None
    if found is None:
        problem = "it is no address of a PostgreSQL database"
        mend = (
            "Write it like postgresql://user:password@host/database, or leave it out to use SQLite in the data folder."
        )
        raise SettingError(setting, problem=problem, mend=mend)
    return DatabaseUrl(f"postgresql+asyncpg://{found.group(1)}")


def log_level(setting: str, raw: object) -> str:
    level = raw.strip().lower() if isinstance(raw, str) else ""
    if level not in ("debug", "info", "warning", "error"):
        raise _wrong(setting, raw, "debug, info, warning or error", '"info"')
    return level


def time_zone(setting: str, raw: object) -> str:
    from zoneinfo import ZoneInfo

    name = text(setting, raw)
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError) as error:
        raise _wrong(setting, raw, "an IANA time zone of this machine", '"Europe/Oslo"') from error
    return name


UPSTREAM_READERS: Mapping[str, Reader] = {
    "base_url": text,
    "api_key": text,
    "api_key_env": text,
    "context": whole(256, 100_000_000, "32768"),
    "tools": switch,
}


def upstreams(setting: str, raw: object) -> dict[str, dict[str, object]]:
    """Fields of upstreams by name: complete only once all sources are laid over each other."""
    read: dict[str, dict[str, object]] = {}
    for name, given in _table(setting, raw).items():
        here = f"{setting}.{name}"
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", name):
            raise SettingError(here, problem="the name is unusable", mend="Use letters, digits, - and _.")
        rows = _table(here, given)
        refuse_unknown(rows, UPSTREAM_READERS, _within(here))
        read[name] = {row: UPSTREAM_READERS[row](f"{here}.{row}", value) for row, value in rows.items()}
    return read


def limits(setting: str, raw: object) -> dict[str, float]:
    """Figures by name; whether there is such a limit is for `wiring` to say."""
    return {name: number(f"{setting}.{name}", value) for name, value in _table(setting, raw).items()}


def refuse_unknown(given: Iterable[str], known: Iterable[str], label: Callable[[str], str]) -> None:
    """Raise SettingError for a name that does not exist: with the nearest one that does, else with all of them."""
    from difflib import get_close_matches

    names = tuple(known)
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, n=1, cutoff=0.5)
            mend = f"Did you mean {label(near[0])}?" if near else f"Known are {', '.join(map(label, names))}."
            raise SettingError(label(name), problem="there is no such setting", mend=mend)


def _table(setting: str, raw: object) -> Mapping[str, object]:
    if not isinstance(raw, Mapping):
        raise SettingError(setting, problem="it is not a table", mend=f"Write [{setting}] and a line for each name.")
    return raw


def _within(table: str) -> Callable[[str], str]:
    return lambda name: f"{table}.{name}"
