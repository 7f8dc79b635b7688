"""Repositories of memories, their journal and the text index."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias, assert_never

from souvenance.domain.ids import BotId, ConversationId, MemoryId, MessageId

if TYPE_CHECKING:
    from souvenance.domain.equals import Identity
    from souvenance.domain.journal import Actor, Operation
    from souvenance.domain.memory import Evidence, Memory, Scope
    from souvenance.domain.recall import Posting


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeState:
    """`version` grows with every write in the scope; `epoch` with each change that must show at once (C6)."""

    version: int = 0
    epoch: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Live memories of a scope: pinned, unpinned and not archived by hand, archived by hand."""

    pinned: int
    unpinned: int
    archived: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A deleted memory, and the operation that deleted it: its place, who decided it and when."""

    memory: Memory
    place: int
    actor: Actor
    at: datetime


class Shelf(StrEnum):
    """Which memories a list shows: ACTIVE are those in room, ARCHIVED those by hand or beyond room (M2)."""

    ALL = "all"
    ACTIVE = "active"
    ARCHIVED = "archived"


class Order(StrEnum):
    UPDATED = "updated"
    CREATED = "created"
    PLACE = "place"


Mark: TypeAlias = tuple[datetime | int, MemoryId]
"""Where a memory stands in an order: its value there, and its id."""


def mark_of(order: Order, memory: Memory) -> Mark:
    match order:
        case Order.UPDATED:
            return memory.updated_place, memory.memory_id
        case Order.CREATED:
            return memory.created_at, memory.memory_id
        case Order.PLACE:
            return memory.place, memory.memory_id
        case _:
            assert_never(order)


class Scopes(Protocol):
    def lock(self, scope: Scope) -> ScopeState:
        """Hold the scope against other writers until the commit and count one write; makes its row if need be."""
        ...

    def start_epoch(self, scope: Scope) -> None:
        """From now on every conversation that reads this scope begins a new epoch with its next prompt."""
        ...

    def read(self, scopes: Sequence[Scope]) -> dict[Scope, ScopeState]: ...

    def remove(self, scope: Scope) -> None:
        """Forget a scope in which nothing is any more."""
        ...

    def lasting(self) -> dict[Scope, bool]:
        """Every scope of the owner in which something was ever written, but those of single conversations, in the order
        of its key: as many as there are bots, however many conversations there were. And whether it is a notebook's.
        """
        ...


class Memories(Protocol):
    """`Memory.version` and `Memory.changed` are set by `save`, but not by `save_all`."""

    def get(self, memory_id: MemoryId) -> Memory:
        """In any state; NotFound when the owner has no such memory."""
        ...

    def many(self, memory_ids: Sequence[MemoryId]) -> list[Memory]: ...

    def equal_to(self, scope: Scope, *, text: str, key: str | None, subject: str = "") -> Memory | None:
        """The live memory of the scope with this key, or (key None) with text and subject equal after folding (M10)."""
        ...

    def live_equals(self, identities: Collection[Identity]) -> dict[Identity, Memory]:
        """The live memory of each of these identities that has one (M10)."""
        ...

    def hidden_equals(self, memories: Sequence[Memory]) -> list[Memory]:
        """Shadowed and deleted ones that say the same in the same scope as one of these."""
        ...

    def settle_equals(self, memories: Sequence[Memory]) -> None:
        """Let one of all live and shadowed memories that say the same as one of these be live, and the others stand
        behind it (`domain.equals.settled`); a change of state is a change of the memory.
        """
        ...

    def save(self, memory: Memory) -> Memory:
        """Write the row (new or changed) with the next version and `changed` = the owner's present place; returns it.

        One that a person is erasing stays ERASING. KeyTaken when another live one of the scope has its key, Conflict
        when one has an equal text; the unit cannot go on after either.
        """
        ...

    def save_all(self, memories: Sequence[Memory]) -> None:
        """Write many live ones of scopes that are held, new or changed, with the `version` and `changed` that they
        have; Conflict as with `save`.
        """
        ...

    def save_moved(self, memories: Sequence[Memory]) -> None:
        """Write what many that are there became in another scope, as `save` does but for many thousands at once. A live
        one goes behind its equals until `settle_equals` says which of them stands.
        """
        ...

    def pinned(self, scope: Scope) -> list[Memory]:
        """Live pinned ones in the order of their place."""
        ...

    def newest_unpinned(self, scope: Scope, *, limit: int) -> list[Memory]:
        """Live, not archived by hand, newest update first."""
        ...

    def by_place(self, scope: Scope) -> list[Memory]:
        """All live ones in the order in which they were first stored (K2)."""
        ...

    def every(self, scope: Scope) -> list[Memory]:
        """All of the scope, in any state, in the order of their place."""
        ...

    def ids_in(self, scope: Scope, *, pinned: bool) -> list[MemoryId]:
        """All pinned or all unpinned ones of the scope, in any state but ERASING, first stored first."""
        ...

    def removed(self, scopes: Sequence[Scope], *, before: int | None, limit: int) -> list[Removed]:
        """Those that a standing operation deleted, removed last first; `before`: only those removed before this place.

        Not those of which nothing stands any more.
        """
        ...

    def changed_since(self, scopes: Sequence[Scope], place: int, *, limit: int) -> list[Memory]:
        """At most `limit` of those changed after `place`, in any state, in the order of their change."""
        ...

    def counts(self, scope: Scope) -> Counts: ...

    def room_edge(self, scope: Scope, room: int) -> int | None:
        """`updated_place` of the last unpinned one still in room, None while there is room for all (M2).

        `room` is at least 1, here and in `page`.
        """
        ...

    def page(
        self, *, rooms: Mapping[Scope, int | None], shelf: Shelf, order: Order, after: Mark | None, limit: int
    ) -> list[Memory]:
        """Live memories of these scopes, each with its room (None: a notebook's has no cap): UPDATED and CREATED newest
        first, PLACE first stored first; after `after`, the mark of the last one seen in this order.
        """
        ...

    def evidence(self, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, tuple[Evidence, ...]]:
        """Every source of each of these that stands, in the order in which they came (M4)."""
        ...

    def drawn_from(self, conversation_id: ConversationId, memory_ids: Sequence[MemoryId]) -> set[MemoryId]:
        """Those of these that have a standing source in this conversation."""
        ...


class Journal(Protocol):
    def append(self, operation: Operation) -> None:
        """Write one operation with its causes."""
        ...

    def append_all(self, many: Sequence[Operation]) -> None:
        """Write many."""
        ...

    def of_memory(self, memory_id: MemoryId) -> list[Operation]:
        """All operations of one memory in order, revoked ones too; the causes of each in the order of their ids."""
        ...

    def of_memories(self, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, list[Operation]]:
        """The same for many at once; one without operations is left out."""
        ...

    def counting(self, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, list[Operation]]:
        """The operations that `fold` makes each memory of, in order, without causes and sources: those that stand, but
        for those that leave nothing since the next says something else at once.
        """
        ...

    def settle(self, origins: Sequence[MessageId]) -> list[MemoryId]:
        """Answer anew, for each operation with one of these causes, whether any of its causes is held and chosen in any
        conversation (T4); mark what is revoked or stands again. Returns the memories to fold again, by id.
        """
        ...

    def drawn_from(self, origins: Sequence[MessageId]) -> list[MemoryId]:
        """The memories with an operation, revoked or not, that one of these caused, by id."""
        ...

    def drawn_in(self, conversation_id: ConversationId) -> list[MemoryId]:
        """The memories with an operation, revoked or not, that has a source in this conversation, by id."""
        ...

    def let_go(self, origins: Sequence[MessageId]) -> None:
        """Let the operations with one of these causes that stand, though no cause of theirs is held and chosen any
        more, stand on their own from now on (T4, D1).
        """
        ...

    def forget_dead(self, origins: Sequence[MessageId]) -> list[MemoryId]:
        """Remove, with causes and sources, the revoked operations with one of these causes that can never stand again:
        no message that any cause of theirs names is there any more where it counts, chosen or not (T3). Returns the
        memories that they were of, by id.
        """
        ...

    def hand_on(self, origin: MessageId, to: MessageId, *, conversation_id: ConversationId) -> None:
        """Let what hangs on the first of these messages hang on the second too, which says all of it in this
        conversation and more: copies that others hold stay as they were (T4, T6).
        """
        ...

    def let_fall(self, places: Sequence[int]) -> None:
        """Revoke these operations for good: nothing that they hang on brings them back (M14)."""
        ...


class Kind(StrEnum):
    """What the text index holds."""

    MEMORY = "memory"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Postings of the query's terms among what may be read, and what BM25 needs beside them.

    `terms` are the hashes of the query's terms in the query's order, each once; `frequencies` says in how many of the
    owner's items of this kind each stands (not all need have a posting here: common terms choose no candidates).
    The postings are in no order.
    """

    postings: tuple[Posting, ...]
    terms: tuple[int, ...]
    frequencies: tuple[int, ...]
    items: int
    mean_length: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatsWith:
    """The conversations with this bot; None: those with a bare model."""

    bot_id: BotId | None


class Index(Protocol):
    """The text index of one owner (HOUSE 11): terms are kept as keyed hashes."""

    def put(self, kind: Kind, item: str, terms: Sequence[str]) -> None:
        """Index an item by its terms (repeats count); replaces what was there."""
        ...

    def put_new(self, kind: Kind, items: Mapping[str, Sequence[str]]) -> None:
        """Index many items that are not indexed yet."""
        ...

    def copy(self, kind: Kind, copies: Mapping[str, str]) -> None:
        """Index each new item (the values) by the terms of the item that it is a copy of (the keys)."""
        ...

    def missing(self, kind: Kind, items: Sequence[str]) -> set[str]:
        """Those of these items that are not indexed; one without any term never is."""
        ...

    def remove(self, kind: Kind, item: str) -> None: ...

    def remove_all(self, kind: Kind, items: Sequence[str]) -> None: ...

    def find_memories(self, terms: Sequence[str], *, scopes: Sequence[Scope]) -> Found:
        """Among live memories of these scopes, archived ones too."""
        ...

    def find_messages(
        self,
        terms: Sequence[str],
        *,
        conversation_id: ConversationId | None,
        leave_out: ConversationId | None,
        leave_out_from: int,
        chats: ChatsWith | None = None,
    ) -> Found:
        """Among chosen messages of one conversation or all of the owner's that may be found, of `chats` only if given;
        without those of conversation `leave_out` at position `leave_out_from` and later (its live window).
        """
        ...
