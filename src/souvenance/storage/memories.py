"""Memories: rows that are caches of the fold of their journal (M11), and the lists that are made of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import ScalarSelect, Select, bindparam, case, func, literal_column, select, update
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.exc import IntegrityError

from souvenance.domain.equals import Identity, identity, settled
from souvenance.domain.ids import ConversationId, MemoryId
from souvenance.domain.memory import Evidence, Memory, MemoryState, Scope
from souvenance.errors import Conflict, KeyTaken, NotFound
from souvenance.ports.memories import Counts, Mark, Order, Removed, Shelf, mark_of
from souvenance.storage.batches import batches
from souvenance.storage.evidence import SqlEvidence
from souvenance.storage.hashing import Hasher
from souvenance.storage.memory_pages import descending, newest, page_of, page_values, room_edge
from souvenance.storage.memory_rows import COLUMNS, IDENTITY, LIVE, Standing, identity_of, memory_of, values_of
from souvenance.storage.removed import SqlRemoved
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import memories, owners

SCOPES_AT_ONCE = 25
"""Scopes in one statement; more are read in turn and merged here (SQLite joins at most 500 selects)."""

PRESENT_PLACE: ScalarSelect[int] = select(owners.c.place).where(owned(owners)).scalar_subquery()

_ONE = select(*COLUMNS).where(owned(memories), memories.c.memory_id == bindparam("memory"))
_MANY = (
    select(*COLUMNS)
    .where(owned(memories), memories.c.memory_id.in_(bindparam("ids", expanding=True)))
    .order_by(memories.c.memory_id)
)
_EQUAL = select(*COLUMNS).where(
    owned(memories), memories.c.scope == bindparam("in"), memories.c.identity_hash == bindparam("identity"), LIVE
)
_SAME = (
    owned(memories),
    memories.c.scope.in_(bindparam("scopes", expanding=True)),
    memories.c.identity_hash.in_(bindparam("identities", expanding=True)),
)
# Each from an index of its own; the second's serves only this very condition.
_LIVE_EQUALS = select(*COLUMNS).where(*_SAME, LIVE)
_SHADOWED_EQUALS = select(*COLUMNS).where(
    *_SAME, memories.c.state != literal_column("'live'"), memories.c.state == MemoryState.SHADOWED
)
_FORMER_EQUALS = select(*COLUMNS).where(
    *_SAME, memories.c.state != literal_column("'live'"), memories.c.state != MemoryState.ERASING
)
_STAND = (
    update(memories)
    .where(owned(memories), memories.c.memory_id.in_(bindparam("ids", expanding=True)))
    .values(state=bindparam("as"), changed=PRESENT_PLACE, version=memories.c.version + 1)
)
_IN_SCOPE = (owned(memories), memories.c.scope == bindparam("in"), LIVE)
_BY_PLACE = select(*COLUMNS).where(*_IN_SCOPE).order_by(memories.c.place, memories.c.memory_id)
_EVERY = (
    select(*COLUMNS)
    .where(owned(memories), memories.c.scope == bindparam("in"))
    .order_by(memories.c.place, memories.c.memory_id)
)
_PINNED = _BY_PLACE.where(memories.c.standing == Standing.PINNED)
_CHANGED = (
    select(*COLUMNS)
    .where(
        owned(memories),
        memories.c.scope.in_(bindparam("scopes", expanding=True)),
        memories.c.changed > bindparam("place"),
    )
    .order_by(memories.c.changed, memories.c.memory_id)
    .limit(bindparam("limit"))
)
_IDS_IN = (
    select(memories.c.memory_id)
    .where(
        owned(memories),
        memories.c.scope == bindparam("in"),
        memories.c.state != MemoryState.ERASING,
        memories.c.pinned == bindparam("held"),
    )
    .order_by(memories.c.place, memories.c.memory_id)
)
_NEWEST = newest(Standing.FREE)
_ROOM_EDGE = room_edge()
_COUNTS = select(memories.c.standing, func.count().label("found")).where(*_IN_SCOPE).group_by(memories.c.standing)


_KEY = ["owner_id", "memory_id"]
_MOVABLE = ("scope", "state", "text", "key", "identity_hash", "archived", "standing", "updated_at", "updated_place")
"""What a move into another scope may change of a memory."""


def _upsert() -> tuple[Insert, dict[str, Any]]:
    """Write a row, new or not. What a person erases stays hidden, whatever is folded meanwhile (M14)."""
    new = insert(memories)
    kept = {"owner_id", "memory_id", "state"}
    changed = {column.name: new.excluded[column.name] for column in memories.c if column.name not in kept}
    erasing = memories.c.state == MemoryState.ERASING
    state = case((erasing, memories.c.state), else_=new.excluded.state)
    return new, {**changed, "state": state}


def _next_version() -> Any:
    """The next version of a row."""
    new, changed = _upsert()
    return (
        new.values(changed=PRESENT_PLACE, version=1)
        .on_conflict_do_update(index_elements=_KEY, set_={**changed, "version": memories.c.version + 1})
        .returning(memories.c.changed, memories.c.version, memories.c.state)
    )


def _given_version() -> Any:
    new, changed = _upsert()
    return new.on_conflict_do_update(index_elements=_KEY, set_=changed)


_UPSERT, _UPSERT_ALL = _next_version(), _given_version()
_MOVED = (
    update(memories)
    .where(owned(memories), memories.c.memory_id == bindparam("id"))
    .values(changed=PRESENT_PLACE, version=memories.c.version + 1)
    .values({name: bindparam(f"new_{name}") for name in _MOVABLE})
)


class SqlMemories(Repository):
    """`ports.memories.Memories`."""

    __slots__ = ()

    def get(self, memory_id: MemoryId) -> Memory:
        row = self._row(_ONE, memory=memory_id)
        if row is None:
            raise NotFound("memory", memory_id)
        return memory_of(row)

    def many(self, memory_ids: Sequence[MemoryId]) -> list[Memory]:
        ids = sorted(set(memory_ids))
        return [memory_of(row) for some in batches(ids) for row in self._tuples(_MANY, ids=some)]

    def equal_to(self, scope: Scope, *, text: str, key: str | None, subject: str = "") -> Memory | None:
        hashed = identity_of(self._hash, text=text, key=key, subject=subject)
        row = self._row(_EQUAL, **{"in": scope.key, "identity": hashed})
        return None if row is None else memory_of(row)

    def live_equals(self, identities: Collection[Identity]) -> dict[Identity, Memory]:
        return {identity(memory): memory for memory in self._equals(_LIVE_EQUALS, identities)}

    def hidden_equals(self, memories: Sequence[Memory]) -> list[Memory]:
        return self._equals(_FORMER_EQUALS, map(identity, memories))

    def settle_equals(self, memories: Sequence[Memory]) -> None:
        identities = {identity(memory) for memory in memories}
        shadowed = self._equals(_SHADOWED_EQUALS, identities)
        if not shadowed:
            return
        found = [*shadowed, *self._equals(_LIVE_EQUALS, identities)]
        for state, changed in groupby(settled(found), key=attrgetter("state")):
            for some in batches([memory.memory_id for memory in changed]):
                self._run(_STAND, ids=some, **{"as": state})

    def _equals(self, statement: Select[Any], identities: Iterable[Identity]) -> list[Memory]:
        """Those found of these identities."""
        wanted = {(scope.key, self._hash(words, IDENTITY)): (scope, words) for scope, words in identities}
        found = (
            memory_of(row)
            for some in batches(list(wanted))
            for row in self._tuples(
                statement, scopes=sorted({scope for scope, _ in some}), identities=[hashed for _, hashed in some]
            )
        )
        said = set(wanted.values())
        return [memory for memory in found if identity(memory) in said]

    def save(self, memory: Memory) -> Memory:
        try:
            row = self._write(_UPSERT, **values_of(memory, self._hash)).one()
        except IntegrityError as e:
            if memory.key is not None:
                raise KeyTaken(memory.key) from e
            raise Conflict(f"A memory equal to {memory.memory_id} is live in its scope.", id=memory.memory_id) from e
        return _stored(memory, row)

    def save_all(self, memories: Sequence[Memory]) -> None:
        for some in batches(memories):
            rows = [
                {**values_of(memory, self._hash), "version": memory.version, "changed": memory.changed}
                for memory in some
            ]
            try:
                self._insert(_UPSERT_ALL, rows)
            except IntegrityError as e:
                raise Conflict("A memory equal to one of several is live in its scope.", size=len(some)) from e

    def save_moved(self, memories: Sequence[Memory]) -> None:
        rows = [{"id": memory.memory_id, "owner": self._owner_id, **_moved(memory, self._hash)} for memory in memories]
        for some in batches(rows):
            self._connection.execute(_MOVED, some)

    def pinned(self, scope: Scope) -> list[Memory]:
        return [memory_of(row) for row in self._tuples(_PINNED, **{"in": scope.key})]

    def newest_unpinned(self, scope: Scope, *, limit: int) -> list[Memory]:
        return [memory_of(row) for row in self._tuples(_NEWEST, scope_0=scope.key, limit=limit)]

    def by_place(self, scope: Scope) -> list[Memory]:
        return [memory_of(row) for row in self._tuples(_BY_PLACE, **{"in": scope.key})]

    def every(self, scope: Scope) -> list[Memory]:
        return [memory_of(row) for row in self._tuples(_EVERY, **{"in": scope.key})]

    def changed_since(self, scopes: Sequence[Scope], place: int, *, limit: int) -> list[Memory]:
        rows = self._tuples(_CHANGED, scopes=[scope.key for scope in scopes], place=place, limit=limit)
        return [memory_of(row) for row in rows]

    def ids_in(self, scope: Scope, *, pinned: bool) -> list[MemoryId]:
        return [row.memory_id for row in self._rows(_IDS_IN, **{"in": scope.key, "held": pinned})]

    def removed(self, scopes: Sequence[Scope], *, before: int | None, limit: int) -> list[Removed]:
        return SqlRemoved(self._connection, self._owner_id, self._hash).page(scopes, before=before, limit=limit)

    def counts(self, scope: Scope) -> Counts:
        found = {row.standing: row.found for row in self._rows(_COUNTS, **{"in": scope.key})}
        return Counts(
            pinned=found.get(Standing.PINNED, 0),
            unpinned=found.get(Standing.FREE, 0),
            archived=found.get(Standing.ARCHIVED, 0),
        )

    def room_edge(self, scope: Scope, room: int) -> int | None:
        match self._tuples(_ROOM_EDGE, scope_0=scope.key, last_in_room_0=room - 1):
            case [(last,), _]:
                return int(last)
            case _:
                return None

    def page(
        self, *, rooms: Mapping[Scope, int | None], shelf: Shelf, order: Order, after: Mark | None, limit: int
    ) -> list[Memory]:
        found: list[Memory] = []
        for some in batches(list(rooms.items()), SCOPES_AT_ONCE):
            statement = page_of(dict(some), shelf, order, following=after is not None)
            values = page_values(dict(some), after=after, limit=limit)
            found.extend(memory_of(row) for row in self._tuples(statement, **values))
        if len(rooms) <= SCOPES_AT_ONCE:
            return found
        return sorted(found, key=partial(mark_of, order), reverse=descending(order))[:limit]

    def evidence(self, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, tuple[Evidence, ...]]:
        return self._evidence().standing(memory_ids)

    def drawn_from(self, conversation_id: ConversationId, memory_ids: Sequence[MemoryId]) -> set[MemoryId]:
        return self._evidence().drawn_from(conversation_id, memory_ids)

    def _evidence(self) -> SqlEvidence:
        return SqlEvidence(self._connection, self._owner_id, self._hash)


def _moved(memory: Memory, hasher: Hasher) -> dict[str, object]:
    state = MemoryState.SHADOWED if memory.state is MemoryState.LIVE else memory.state
    values = {**values_of(memory, hasher), "state": state}
    return {f"new_{name}": values[name] for name in _MOVABLE}


def _stored(memory: Memory, row: Any) -> Memory:
    return replace(memory, changed=row.changed, version=row.version, state=MemoryState(row.state))
