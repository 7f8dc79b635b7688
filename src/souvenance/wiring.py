"""From settings to objects: the only module that knows every class. What is heavy is imported where it is needed."""

from __future__ import annotations

import asyncio
import gc
import os
import secrets
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable
from urllib.parse import urlsplit

import uuid_utils

from souvenance.app.forget_old_prompts import forget_old_prompts
from souvenance.app.kit import Kit
from souvenance.app.purge_ended import purge_ended
from souvenance.domain.ids import LOCAL_ACCOUNT, OwnerId
from souvenance.domain.limits import Limits, figures
from souvenance.domain.owner import Owner, OwnerKind
from souvenance.errors import NotFound, SettingError
from souvenance.models.tokens import O200k
from souvenance.settings import Settings, refuse_unknown

if TYPE_CHECKING:
    from souvenance.app.due_work import Work
    from souvenance.domain.phrases import Phrases
    from souvenance.models.detect import Found, FoundKey, FoundServer
    from souvenance.models.upstreams import Provider, Upstreams
    from souvenance.ports.chat_model import ChatModel, ChatRequest, ModelChunk, ModelInfo
    from souvenance.ports.clock import Clock, Ids
    from souvenance.ports.store import Store, Unit
    from souvenance.worker.loop import Worker
    from souvenance.worker.one_step import Step, WhenParked
    from souvenance.worker.pace import Pace

LOOK_AGAIN = timedelta(seconds=10)
Probe = Callable[[str], None]
"""Told `<label>:before` and `<label>:after` every commit."""


@runtime_checkable
class Closes(Protocol):
    """A model that holds connections."""

    async def close(self) -> None: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class Uuid7Ids:
    """Ids that sort by the time of their making: the digits are a UUID of version 7."""

    def new(self, prefix: str) -> str:
        return f"{prefix}_{uuid_utils.uuid7().hex}"


class DetectedModels:
    """The configured upstreams and what is found on this machine, as one `ChatModel`.

    Looks for models when one is first asked for, so that opening a memory contacts nobody; while it has found none it
    looks again, at most every few seconds. Local servers and keys in the environment count only where no upstream is
    configured: then nothing but that is contacted (D3).
    """

    def __init__(self, settings: Settings, *, clock: Clock, environment: Mapping[str, str] | None = None) -> None:
        self._settings = settings
        self._clock = clock
        self._environment = os.environ if environment is None else environment
        self._providers = {name: _configured(settings, name) for name in settings.upstreams}
        self._upstreams: Upstreams | None = None
        self._looked_at: datetime | None = None
        self._alone = asyncio.Lock()

    async def reply(self, request: ChatRequest) -> AsyncGenerator[ModelChunk, None]:
        upstreams = await self._at_hand()
        async with aclosing(upstreams.reply(request)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def models(self) -> tuple[ModelInfo, ...]:
        return await (await self._at_hand()).models()

    async def info(self, model: str) -> ModelInfo:
        return await (await self._at_hand()).info(model)

    async def look_again(self) -> Found:
        """What is there now. Upstreams that are known already stay as they are."""
        async with self._alone:
            return await self._look()

    async def close(self) -> None:
        """End every connection."""
        for provider in self._providers.values():
            if isinstance(provider.model, Closes):
                await provider.model.close()

    async def _at_hand(self) -> Upstreams:
        async with self._alone:
            if self._upstreams is None or (not self._providers and self._is_time()):
                await self._look()
            assert self._upstreams is not None
            return self._upstreams

    def _is_time(self) -> bool:
        return self._looked_at is None or self._clock.now() - self._looked_at >= LOOK_AGAIN

    async def _look(self) -> Found:
        from souvenance.models.detect import USUAL_PORTS, detect
        from souvenance.models.upstreams import Upstreams

        usual = USUAL_PORTS if self._settings.local_ports is None else self._settings.local_ports
        alone = not self._settings.upstreams
        keys = self._environment if self._settings.detect_keys and alone else {}
        found = await detect(keys, ports=usual if self._settings.detect_local and alone else ())
        self._looked_at = self._clock.now()
        known = dict(self._providers)
        for provider in (
            *map(self._server, found.servers),
            *map(self._key, filter(lambda key: key.usable, found.keys)),
        ):
            if provider.base_url == "" or provider.base_url not in {one.base_url for one in known.values()}:
                known.setdefault(provider.name, provider)
        if self._upstreams is None or known.keys() != self._providers.keys():
            self._providers, self._upstreams = known, Upstreams(tuple(known.values()), clock=self._clock)
        return found

    def _server(self, server: FoundServer) -> Provider:
        from souvenance.models.base_url import normalise
        from souvenance.models.detect import USUAL_PORTS
        from souvenance.models.openai_wire import OpenAIWire
        from souvenance.models.upstreams import Provider

        wire = OpenAIWire(server.base_url, provider=server.kind, idle_seconds=self._settings.model_timeout)
        port = urlsplit(server.base_url).port
        name = server.kind if port in USUAL_PORTS else f"{server.kind}-{port}"
        return Provider(name=name, model=wire, base_url=normalise(server.base_url), kind=server.kind)

    def _key(self, key: FoundKey) -> Provider:
        from souvenance.models.openai_wire import OpenAIWire
        from souvenance.models.other_providers import OtherProvider
        from souvenance.models.upstreams import Provider

        secret, idle = self._environment.get(key.variable), self._settings.model_timeout
        if key.base_url:
            wire = OpenAIWire(key.base_url, api_key=secret, provider=key.provider, idle_seconds=idle)
            return Provider(name=key.provider, model=wire, base_url=wire.base_url)
        return Provider(name=key.provider, model=OtherProvider(key.provider, api_key=secret, idle_seconds=idle))


def _configured(settings: Settings, name: str) -> Provider:
    from souvenance.models.openai_wire import OpenAIWire
    from souvenance.models.upstreams import Provider

    upstream = settings.upstreams[name]
    try:
        wire = OpenAIWire(
            upstream.base_url, api_key=upstream.api_key, provider=name, idle_seconds=settings.model_timeout
        )
    except SettingError as error:
        problem, mend = str(error.details["problem"]), str(error.details["mend"])
        raise SettingError(f"upstreams.{name}.base_url", problem=problem, mend=mend) from error
    return Provider(
        name=name, model=wire, base_url=wire.base_url, context=upstream.context, can_call_tools=upstream.tools
    )


class House:
    """One opened installation: what the doors are handed. Close it, or use it in an `async with` block."""

    def __init__(
        self,
        *,
        kit: Kit,
        settings: Settings,
        detected: DetectedModels | None,
        steps: Mapping[Work, Step] | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.kit = kit
        self.settings = settings
        self._steps = steps
        self._pace = pace
        self.owner_id: OwnerId = LOCAL_ACCOUNT
        self._detected = detected

    async def found(self) -> Found | None:
        """What is there to ask for replies, looked up now; None when the models were handed in."""
        return None if self._detected is None else await self._detected.look_again()

    async def warm_up(self) -> None:
        """Load what the first reply would wait for."""
        if isinstance(self.kit.tokenizer, O200k):
            await asyncio.to_thread(self.kit.tokenizer.load)

    def worker(self, *, grace: float | None = None) -> Worker:
        """A worker for what is due here; `grace`: seconds that running steps get once it is to stop."""
        from socket import gethostname

        from souvenance.worker.loop import Worker
        from souvenance.worker.pace import Pace

        steps = _usual_steps() if self._steps is None else self._steps
        pace = self._pace or Pace(at_once=self.settings.work_at_once)
        pace = pace if grace is None else replace(pace, grace=grace)
        name = f"{os.getpid()}@{gethostname()}"
        return Worker(self.kit, steps, name=name, pace=pace, when_parked=_when_parked())

    def at_work(self, *, grace: float | None = None) -> AbstractAsyncContextManager[None]:
        """A block in which a worker runs beside, unless the settings say that none does here."""
        from souvenance.worker.at_work import at_work

        return at_work(self.worker(grace=grace)) if self.settings.work else nullcontext()

    async def close(self) -> None:
        """End the connections to models, then close the store."""
        if self._detected is not None:
            await self._detected.close()
        await self.kit.store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def open_house(
    settings: Settings,
    *,
    models: ChatModel | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    probe: Probe | None = None,
    steps: Mapping[Work, Step] | None = None,
    pace: Pace | None = None,
) -> House:
    """Open the store, make the local account if need be, and purge what an offer to undo no longer holds (M14).

    `models`, `clock`, `ids`, `steps` and `pace` (of workers) stand in for the usual ones. No model is contacted before
    one is asked for, and no work is done before a worker is.
    Raises SettingError, StoreUnavailable, StoreTooNew.
    """
    clock = clock or SystemClock()
    detected = DetectedModels(settings, clock=clock) if models is None else None
    answering = models or detected
    assert answering is not None, "one of the two is there"
    limits = limits_of(settings)
    kit = Kit(
        store=await _open_store(settings, probe),
        models=answering,
        tokenizer=O200k(),
        clock=clock,
        ids=ids or Uuid7Ids(),
        limits=limits,
        default_model=settings.model,
        summary_model=settings.summary_model,
        credit_tokens=settings.credit_tokens,
        deeper_memory=settings.deeper_memory,
        read_phrases=installed_phrases,
    )
    house = House(kit=kit, settings=settings, detected=detected, steps=steps, pace=pace)
    try:
        await _make_account(kit)
        await purge_ended(kit)
        await forget_old_prompts(kit, LOCAL_ACCOUNT)
    except BaseException:
        await house.close()
        raise
    return house


def _usual_steps() -> Mapping[Work, Step]:
    """How each kind of background work is done."""
    from souvenance.app.due_work import Work
    from souvenance.app.steps import compact, deepen, rebuild

    return {Work.SUMMARY: compact, Work.REFRESH: compact, Work.DEEPER: deepen, Work.REBUILD: rebuild}


def _when_parked() -> Mapping[Work, WhenParked]:
    """What becomes of work that is given up until a person starts it again."""
    from souvenance.app.due_work import Work
    from souvenance.app.steps import fail_rebuild

    return {Work.REBUILD: fail_rebuild}


@cache
def installed_phrases() -> Phrases:
    """The phrases of the installed language files, read once; SettingError when one is wrong."""
    from souvenance.domain.read_phrases import read_phrases

    folder = files("souvenance") / "languages"
    return read_phrases(
        {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".toml")}
    )


def limits_of(settings: Settings) -> Limits:
    """The figures in force; SettingError for one that does not exist or whose kind is another."""
    kinds: dict[str, type] = {figure.name: type(figure.value) for figure in figures(Limits())}
    refuse_unknown(settings.limits, kinds, lambda name: f"limits.{name}")
    given: dict[str, Any] = {}
    for name, value in settings.limits.items():
        if kinds[name] is int and value != int(value):
            raise SettingError(f"limits.{name}", problem=f"it is {value:g}", mend="Write a whole number.")
        given[name] = int(value) if kinds[name] is int else float(value)
    return replace(Limits(), **given)


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the garbage collector still meanwhile: imports make a hundred thousand objects, all of which stay, and it
    would look through them dozens of times: a tenth of the time of a start.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


async def _open_store(settings: Settings, probe: Probe | None) -> Store:
    if settings.database_url is None:
        with uncollected():
            from souvenance.storage.sqlite import FILE, SqliteStore

        return await SqliteStore.open(settings.folder / FILE, probe=probe)
    try:
        from souvenance.storage.postgres import PostgresStore

        return await PostgresStore.open(settings.database_url, probe=probe)
    except ModuleNotFoundError as error:
        raise missing_extra(error, "database_url", "PostgreSQL", "postgres") from error


def missing_extra(error: ModuleNotFoundError, setting: str, what: str, extra: str) -> Exception:
    """What to tell when `what` needs a library that the core does not bring; one of our own modules is a bug."""
    if (error.name or "").partition(".")[0] == "souvenance":
        return error
    mend = f"Install it: pip install 'souvenance[{extra}]'."
    return SettingError(setting, problem=f"{what} needs {error.name}, which is not installed", mend=mend)


async def _make_account(kit: Kit) -> None:
    """The local account's row; its secret keys the hashes kept beside content, so it is made once and stays."""
    made = Owner(
        owner_id=LOCAL_ACCOUNT,
        kind=OwnerKind.ACCOUNT,
        name="",
        secret=secrets.token_bytes(32),
        place=0,
        created_at=kit.clock.now(),
    )

    def is_there(unit: Unit) -> bool:
        try:
            unit.owners.get()
        except NotFound:
            return False
        return True

    if not await kit.store.read(LOCAL_ACCOUNT, is_there, label="account.read"):
        await kit.store.write(LOCAL_ACCOUNT, lambda unit: unit.owners.create(made), label="account.created")
