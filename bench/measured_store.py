"""A store that notes how long each unit of work took and which statements it ran."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import Engine, event

from souvenance.domain.due import Due
from souvenance.domain.ids import OwnerId
from souvenance.ports.store import Store, Unit

T = TypeVar("T")


@contextmanager
def _timed(phase: Phase) -> Iterator[None]:
    began, worked = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        phase.seconds, phase.cpu = time.perf_counter() - began, time.process_time() - worked


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as it reached the driver; `rows` are its parameters, of several rows when `many`."""

    sql: str
    rows: Any
    many: bool


@dataclass(slots=True, kw_only=True)
class Phase:
    """One unit of work: `seconds` passed inside `Store.write` or `Store.read`, `cpu` of them this process worked."""

    label: str
    writes: bool
    seconds: float = 0.0
    cpu: float = 0.0
    statements: list[Statement] = field(default_factory=list)


class MeasuredStore:
    """`ports.store.Store` over another; one caller at a time. `engine` is the one whose statements are noted."""

    def __init__(self, store: Store, engine: Engine) -> None:
        self._store = store
        self._phases: list[Phase] = []
        event.listen(engine, "before_cursor_execute", self._note)

    def take(self) -> list[Phase]:
        """What was done since the last call, in order."""
        phases, self._phases = self._phases, []
        return phases

    async def write(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        phase = self._begin(label, writes=True)
        with _timed(phase):
            return await self._store.write(owner_id, work, label=label)

    async def read(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        phase = self._begin(label, writes=False)
        with _timed(phase):
            return await self._store.read(owner_id, work, label=label)

    async def rehearse(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        phase = self._begin(label, writes=False)
        with _timed(phase):
            return await self._store.rehearse(owner_id, work, label=label)

    async def claim(self, *, worker: str, now: datetime, lease: timedelta, kinds: Sequence[str]) -> Due | None:
        return await self._store.claim(worker=worker, now=now, lease=lease, kinds=kinds)

    async def owners_with_ended_offers(self, now: datetime) -> list[OwnerId]:
        return await self._store.owners_with_ended_offers(now)

    async def will_purge(self) -> None:
        await self._store.will_purge()

    async def scrub(self, *, deleted: bool) -> bool:
        return await self._store.scrub(deleted=deleted)

    def listening(self, wake: Callable[[], object]) -> AbstractAsyncContextManager[None]:
        return self._store.listening(wake)

    async def close(self) -> None:
        await self._store.close()

    def _begin(self, label: str, *, writes: bool) -> Phase:
        self._phases.append(Phase(label=label, writes=writes))
        return self._phases[-1]

    def _note(self, _connection: object, _cursor: object, sql: str, rows: Any, _context: object, many: bool) -> None:
        if self._phases:
            self._phases[-1].statements.append(Statement(sql, rows, many))
