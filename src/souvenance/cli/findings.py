"""What an installation is made of and what is wrong with it, each finding with its mend."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING

import souvenance
from souvenance.domain.limits import Limits
from souvenance.errors import SettingError, SouvenanceError
from souvenance.ports.chat_model import ModelInfo
from souvenance.settings import Settings
from souvenance.wiring import DetectedModels, House, SystemClock, open_house

if TYPE_CHECKING:
    from souvenance.models.detect import Found

EXTRAS = {
    "server": ("the server", ("fastapi", "uvicorn")),
    "models": ("providers with a wire form of their own", ("pydantic_ai",)),
    "postgres": ("PostgreSQL", ("asyncpg",)),
}
"""Extra → what it is for, and the modules it brings."""


class State(StrEnum):
    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the report; `mend` is empty where nothing needs it."""

    subject: str
    state: State
    says: str
    mend: str = ""

    def form(self) -> dict[str, object]:
        return {"subject": self.subject, "state": self.state.value, "says": self.says, "mend": self.mend}


async def examine(settings: Settings) -> tuple[Finding, ...]:
    """Everything that `doctor` reports; what is broken is a finding, not an error."""
    told = (*_program(), _settings(settings), *_extras())
    try:
        async with await open_house(settings) as house:
            return (*told, *await examine_house(house))
    except SouvenanceError as error:
        return (*told, as_finding("settings" if isinstance(error, SettingError) else "store", error))


async def examine_house(house: House) -> tuple[Finding, ...]:
    """What is found in an open installation: its store and its models."""
    return (_store(house.settings), *await _models(house))


def as_finding(subject: str, error: SouvenanceError) -> Finding:
    mend = str(error.details.get("mend", ""))
    return Finding(subject=subject, state=State.BROKEN, says=error.message.removesuffix(mend).strip(), mend=mend)


def _program() -> Iterator[Finding]:
    says = f"Souvenance {souvenance.__version__} on Python {platform.python_version()}"
    yield Finding(subject="program", state=State.OK, says=says)


def _settings(settings: Settings) -> Finding:
    says = f"read from {settings.file}" if settings.file else f"no settings file in {settings.folder}: defaults hold"
    return Finding(subject="settings", state=State.OK, says=says)


def _extras() -> Iterator[Finding]:
    for extra, (what, modules) in EXTRAS.items():
        missing = [module for module in modules if find_spec(module) is None]
        yield Finding(
            subject=f"extra {extra}",
            state=State.NOTE if missing else State.OK,
            says=f"not installed: {what} cannot be used" if missing else "installed",
            mend=f"pip install 'souvenance[{extra}]'" if missing else "",
        )


def _store(settings: Settings) -> Finding:
    from souvenance.storage.migrate import CURRENT

    if settings.database_url is not None:
        says = f"PostgreSQL at {settings.database_url.shown}, schema {CURRENT.newest}"
    else:
        size = sum(path.stat().st_size for path in settings.folder.glob("souvenance.db*") if path.is_file())
        says = f"SQLite in {settings.folder}, {size / 1_048_576:.1f} MB, schema {CURRENT.newest}"
    return Finding(subject="store", state=State.OK, says=says)


async def _models(house: House) -> tuple[Finding, ...]:
    found = await house.found()
    listed = await house.kit.models.models()
    around = () if found is None else _around(found, asked_for=not house.settings.upstreams)
    upstreams = _upstreams(house.settings, listed)
    contexts = _contexts(house.settings, house.kit.limits, await _stated(house.settings, listed))
    return (*upstreams, *around, *_default(house.settings, listed), *contexts)


def _upstreams(settings: Settings, listed: Sequence[ModelInfo]) -> Iterator[Finding]:
    for name, upstream in settings.upstreams.items():
        models = [info.name for info in listed if info.provider == name]
        yield Finding(
            subject=f"upstream {name}",
            state=State.OK if models else State.BROKEN,
            says=f"{upstream.base_url}: {_some(models)}",
            mend="" if models else f"Start it, or mend upstreams.{name}: its address, its key, a model in it.",
        )


def _around(found: Found, *, asked_for: bool) -> Iterator[Finding]:
    for server in found.servers:
        state = State.OK if server.models else State.NOTE
        says = f"at {server.base_url}: {_some(server.models)}"
        yield Finding(subject=server.title, state=state, says=says)
    for key in found.keys:
        if key.usable:
            says = f"{key.provider} can be asked"
            yield Finding(subject=key.variable or key.provider, state=State.OK, says=says)
    for advice in found.advice:
        state = State.WARNING if asked_for else State.NOTE
        yield Finding(subject="looking around", state=state, says=advice)


def _default(settings: Settings, listed: Sequence[ModelInfo]) -> Iterator[Finding]:
    names = [info.name for info in listed]
    if settings.model is not None and settings.model not in names:
        yield Finding(
            subject="default model",
            state=State.WARNING,
            says=f"{settings.model} is on nobody's list: {_some(names)}",
            mend="Name another in the setting `model`, or start the server that has it.",
        )
    elif names:
        yield Finding(subject="default model", state=State.OK, says=settings.model or names[0])
    else:
        says = "no model answers: replies are made from what is remembered alone"
        yield Finding(subject="default model", state=State.WARNING, says=says, mend="Start or set one.")


async def _stated(settings: Settings, listed: Sequence[ModelInfo]) -> Sequence[ModelInfo]:
    """The models with the contexts that their servers state, whatever the settings say of them."""
    if all(upstream.context is None for upstream in settings.upstreams.values()):
        return listed
    bare = {name: replace(upstream, context=None) for name, upstream in settings.upstreams.items()}
    models = DetectedModels(replace(settings, upstreams=bare), clock=SystemClock())
    try:
        return await models.models()
    finally:
        await models.close()


def _contexts(settings: Settings, limits: Limits, stated: Sequence[ModelInfo]) -> Iterator[Finding]:
    """W7: a context that is really smaller than what is assumed would cut prompts without a word."""
    for info in stated:
        upstream = settings.upstreams.get(info.provider)
        assumed = (upstream.context if upstream else None) or limits.unknown_context
        if info.context is not None and info.context < assumed:
            yield Finding(
                subject=f"context of {info.name}",
                state=State.WARNING,
                says=f"{info.context} tokens, smaller than the {assumed} assumed: less is remembered in each reply",
                mend="Start its server with a larger context (Ollama: OLLAMA_CONTEXT_LENGTH=16384).",
            )


def _some(names: Sequence[str]) -> str:
    """The first few names and how many there are."""
    if not names:
        return "no model"
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more
