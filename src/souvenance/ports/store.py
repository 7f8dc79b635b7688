"""The store: one owner's data, read and written by small synchronous pieces of work in plain sight (HOUSE 5–8).

A `Unit` is bound to one owner when it is made: no repository takes an owner id, so none can be given a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from souvenance.domain.due import Due
    from souvenance.domain.erasure import Erasure, Tombstone
    from souvenance.domain.ids import ErasureId, MemoryId, NotificationId, OwnerId
    from souvenance.domain.notification import Notification
    from souvenance.domain.owner import Owner
    from souvenance.ports.branches import Branches
    from souvenance.ports.conversations import Bots, Conversations, Levels, Messages, Personas, Turns
    from souvenance.ports.drafts import Drafts
    from souvenance.ports.memories import Index, Journal, Memories, Scopes
    from souvenance.ports.prompts import Calibrations, Epochs, Prompts, ShortIds
    from souvenance.ports.summaries import Rebuilds, Spending, Summaries


T = TypeVar("T")


class Owners(Protocol):
    """The unit's own owner row."""

    def get(self) -> Owner:
        """The owner; NotFound when it does not exist (an unknown account sees nothing)."""
        ...

    def create(self, owner: Owner) -> None:
        """Write it, unless it is there already (then nothing changes)."""
        ...

    def hold(self) -> None:
        """Hold the owner against other changes of its memories until the commit; the first lock of every such write,
        after a conversation's, so that no two writes wait for each other.
        """
        ...

    def next_place(self, count: int = 1) -> int:
        """The next place in the owner's order, 1 for the first, or the last of the next `count`; locks the owner row
        until the commit.
        """
        ...


class Notifications(Protocol):
    def put(self, notification: Notification) -> None: ...

    def page(self, *, before: NotificationId | None, limit: int, unread_only: bool) -> list[Notification]:
        """Newest first, older than `before`."""
        ...

    def mark_read(self, notification_id: NotificationId, at: datetime) -> None:
        """NotFound for an id of nobody's; marking twice keeps the first time."""
        ...


class DueWork(Protocol):
    """The owner's due work; the claim across owners is the store's (`Store.claim`)."""

    def put(self, due: Due) -> None:
        """Write it, or keep the row that is there (making it due no later than `due.due_at`, unless it is parked or
        waits for a reason); sets its rank.
        """
        ...

    def get(self, kind: str, subject: str) -> Due | None: ...

    def finish(self, due: Due) -> bool:
        """Remove it if its fence is still `due.fence`; False when another worker took it over: do not commit."""
        ...

    def postpone(self, due: Due, *, until: datetime, reason: str, failed: bool = True) -> bool:
        """Back to waiting, with one attempt more if it `failed`; False when the fence has moved."""
        ...

    def park(self, due: Due, *, reason: str) -> bool:
        """Keep it, visible, until a person restarts it; False when the fence has moved."""
        ...

    def extend(self, due: Due, *, until: datetime) -> bool:
        """Let the lease end later; False when the fence has moved."""
        ...

    def restart(self, kind: str, subject: str, *, at: datetime) -> None:
        """Let a piece that is parked, or waits for a reason, be due again, its failures forgotten; else NotFound."""
        ...

    def waiting(self) -> list[Due]: ...

    def every(self) -> list[Due]:
        """All of the owner's pieces in whatever state, the oldest first."""
        ...


class Erasures(Protocol):
    """M14's offers and tombstones."""

    def begin(self, erasure: Erasure) -> None:
        """Hide the memories (state ERASING), keep the offer and write the tombstones of all that they ever said."""
        ...

    def get(self, erasure_id: ErasureId) -> Erasure | None: ...

    def undo(self, erasure_id: ErasureId) -> None:
        """Bring its memories back as their journal has them by now, drop the offer and its tombstones; one whose equal
        was stored meanwhile comes back SHADOWED. NotFound when there is no such offer (any more).
        """
        ...

    def ended(self, now: datetime) -> list[Erasure]:
        """The owner's offers whose time is up at `now`."""
        ...

    def purge(self, erasure: Erasure) -> None:
        """Remove text, postings, operations and epochs, and blank the prompt parts.

        Nothing happens when the offer is gone: taken back, or purged by another process.
        """
        ...

    def forget(self, memory_ids: Sequence[MemoryId]) -> None:
        """Remove these memories, in any state, as `purge` does, and the epochs that may show them; no tombstone."""
        ...

    def tombstones(self, *, text: str, key: str | None, subject: str | None = None) -> list[Tombstone]:
        """All tombstones of a text that is equal after folding (M10), in whatever scope; with a key, of that key's;
        else about this subject, None for whomever.
        """
        ...


class Unit(Protocol):
    """One transaction on one owner's data. Holds SQL and pure decisions only; may be run again from the start."""

    @property
    def owner_id(self) -> OwnerId: ...
    @property
    def owners(self) -> Owners: ...
    @property
    def bots(self) -> Bots: ...
    @property
    def personas(self) -> Personas: ...
    @property
    def levels(self) -> Levels: ...
    @property
    def conversations(self) -> Conversations: ...
    @property
    def turns(self) -> Turns: ...
    @property
    def messages(self) -> Messages: ...
    @property
    def branches(self) -> Branches: ...
    @property
    def scopes(self) -> Scopes: ...
    @property
    def memories(self) -> Memories: ...
    @property
    def journal(self) -> Journal: ...
    @property
    def index(self) -> Index: ...
    @property
    def epochs(self) -> Epochs: ...
    @property
    def short_ids(self) -> ShortIds: ...
    @property
    def prompts(self) -> Prompts: ...
    @property
    def calibrations(self) -> Calibrations: ...
    @property
    def notifications(self) -> Notifications: ...
    @property
    def due(self) -> DueWork: ...
    @property
    def erasures(self) -> Erasures: ...
    @property
    def drafts(self) -> Drafts: ...
    @property
    def summaries(self) -> Summaries: ...
    @property
    def rebuilds(self) -> Rebuilds: ...
    @property
    def spending(self) -> Spending: ...

    def keyed_hash(self, text: str) -> bytes:
        """32 bytes, the same for the same text and owner, telling nothing without the owner's secret."""
        ...


class Store(Protocol):
    """Runs units of work. `label` names the commit for probes, logs and kill tests, e.g. `turn.opened`."""

    async def write(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        """Run `work` in one transaction and commit it; run it again after a serialization failure or a busy database.

        An error in `work` rolls everything back. Raises StoreUnavailable when the database cannot be used.
        """
        ...

    async def read(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        """Run `work` against one snapshot, in one hop; nothing is written."""
        ...

    async def rehearse(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        """The result of `work` as `write` would give it, every change taken back: what the world would be like (T1).

        It holds the locks of a write while it runs; no probe is told, since nothing is committed.
        """
        ...

    async def claim(self, *, worker: str, now: datetime, lease: timedelta, kinds: Sequence[str]) -> Due | None:
        """Lease the next piece of due work, fairly across owners and in order within a conversation."""
        ...

    def listening(self, wake: Callable[[], object]) -> AbstractAsyncContextManager[None]:
        """Call `wake` on this loop after every commit that made something due: in this process, and in all others on a
        database that can tell. A call may be lost, or come for nothing: whoever waits looks from time to time.
        """
        ...

    async def owners_with_ended_offers(self, now: datetime) -> list[OwnerId]:
        """Owners with erasures or drafts to purge (the due work of M14 and V10)."""
        ...

    async def will_purge(self) -> None:
        """Note, so that a crash does not forget it, that content is about to be deleted for good: `scrub` is due."""
        ...

    async def scrub(self, *, deleted: bool) -> bool:
        """Leave no trace of deleted content in side files of the database (M14); `deleted` says that there is some.

        False when others still read what was deleted: call it again later, with `deleted` False.
        """
        ...

    async def close(self) -> None: ...
