"""A store that fails where a test tells it to, and one that notes its commits; both are `ports.store.Store`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import TypeVar

from souvenance.domain.due import Due
from souvenance.domain.ids import OwnerId
from souvenance.errors import StoreUnavailable
from souvenance.ports.store import Store, Unit

T = TypeVar("T")


class FailingStore:
    """Passes everything on, but for the units with one of these labels: those raise StoreUnavailable.

    `done` lists the labels of the units that went through, in order.
    """

    def __init__(self, store: Store, *fails: str) -> None:
        self._store = store
        self.fails = set(fails)
        self.done: list[str] = []

    async def write(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        self._refuse(label)
        result = await self._store.write(owner_id, work, label=label)
        self.done.append(label)
        return result

    async def read(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        self._refuse(label)
        result = await self._store.read(owner_id, work, label=label)
        self.done.append(label)
        return result

    async def rehearse(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        self._refuse(label)
        result = await self._store.rehearse(owner_id, work, label=label)
        self.done.append(label)
        return result

    async def claim(self, *, worker: str, now: datetime, lease: timedelta, kinds: Sequence[str]) -> Due | None:
        return await self._store.claim(worker=worker, now=now, lease=lease, kinds=kinds)

    def listening(self, wake: Callable[[], object]) -> AbstractAsyncContextManager[None]:
        return self._store.listening(wake)

    async def owners_with_ended_offers(self, now: datetime) -> list[OwnerId]:
        return await self._store.owners_with_ended_offers(now)

    async def will_purge(self) -> None:
        await self._store.will_purge()

    async def scrub(self, *, deleted: bool) -> bool:
        return await self._store.scrub(deleted=deleted)

    async def close(self) -> None:
        await self._store.close()

    def _refuse(self, label: str) -> None:
        if label in self.fails:
            raise StoreUnavailable(f"scripted fault at {label}")
