"""The journal: what was done to memories, in the owner's order, and what stands of it (M11, T4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from sqlalchemy import (
    BindParameter,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    not_,
    or_,
    select,
    union,
    update,
)

from souvenance.domain.ids import ConversationId, MemoryId, MessageId
from souvenance.domain.journal import Actor, Anchor, Operation
from souvenance.domain.memory import Evidence
from souvenance.storage import intents
from souvenance.storage.batches import batches
from souvenance.storage.blanks import blank_of
from souvenance.storage.evidence import SqlEvidence
from souvenance.storage.memory_rows import scope_of
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import causes, evidence, messages, operations, owners

_PUT, _PUT_CAUSES = insert(operations), insert(causes)
_COLUMNS = tuple(
    operations.c[name] for name in ("place", "memory_id", "scope", "actor", "at", "revoked", *intents.COLUMNS)
)
_OF_THESE = operations.c.memory_id.in_(bindparam("ids", expanding=True))
_OPERATIONS = select(*_COLUMNS).where(owned(operations), _OF_THESE).order_by(operations.c.place)
_CAUSES = (
    select(causes.c.place, causes.c.message_origin, causes.c.said_origin, causes.c.held_in)
    .join_from(operations, causes, causes.c.place == operations.c.place)
    .where(owned(operations), owned(causes), _OF_THESE)
    .order_by(causes.c.place, causes.c.message_origin)
)
_HANGS_ON = select(causes.c.place, causes.c.message_origin, causes.c.said_origin, causes.c.held_in).where(
    owned(causes),
    causes.c.message_origin == bindparam("origin"),
    or_(causes.c.held_in.is_(None), causes.c.held_in == bindparam("conversation")),
)
_ORIGINS: BindParameter[str] = bindparam("origins", expanding=True)
_CONCERNED = union(
    select(causes.c.place).where(owned(causes), causes.c.message_origin.in_(_ORIGINS)),
    select(causes.c.place).where(owned(causes), causes.c.said_origin.in_(_ORIGINS)),
)
_said = messages.alias("said")
_ANSWERS_IT = exists().where(
    owned(_said),
    _said.c.origin_id == causes.c.said_origin,
    _said.c.conversation_id == messages.c.conversation_id,
    _said.c.position == messages.c.position,
    _said.c.chosen,
)
_STANDS = exists().where(
    owned(causes),
    causes.c.place == operations.c.place,
    owned(messages),
    messages.c.origin_id == causes.c.message_origin,
    messages.c.chosen,
    or_(causes.c.held_in.is_(None), causes.c.held_in == messages.c.conversation_id),
    or_(causes.c.said_origin.is_(None), _ANSWERS_IT),
)
_DRAWN_FROM = select(operations.c.memory_id).where(owned(operations), operations.c.place.in_(_CONCERNED)).distinct()
_STANDS_ALONE = select(operations.c.place).where(
    owned(operations), operations.c.place.in_(_CONCERNED), not_(operations.c.revoked), not_(_STANDS)
)
_IS_THERE = exists().where(
    owned(_said),
    _said.c.origin_id == causes.c.said_origin,
    _said.c.conversation_id == messages.c.conversation_id,
    _said.c.position == messages.c.position,
)
_MAY_STAND = exists().where(
    owned(causes),
    causes.c.place == operations.c.place,
    owned(messages),
    messages.c.origin_id == causes.c.message_origin,
    or_(causes.c.held_in.is_(None), causes.c.held_in == messages.c.conversation_id),
    or_(causes.c.said_origin.is_(None), _IS_THERE),
)
_DEAD = select(operations.c.place, operations.c.memory_id).where(
    owned(operations), operations.c.place.in_(_CONCERNED), operations.c.revoked, not_(_MAY_STAND)
)
_HOLD = select(owners.c.place).where(owned(owners)).with_for_update()
_SETTLE = (
    update(operations)
    .where(owned(operations), operations.c.place.in_(_CONCERNED), operations.c.revoked == _STANDS)
    .values(revoked=not_(operations.c.revoked))
    .returning(operations.c.memory_id)
)


def _counting() -> Select[Any]:
    """The standing operations of some memories, but for those that leave nothing (`domain.journal.leaves_nothing`) and
    follow one after which a memory is live for certain.
    """
    over: dict[str, Any] = {"partition_by": operations.c.memory_id, "order_by": operations.c.place}
    neighbours = (
        func.lag(operations.c.intent, 1, "").over(**over).label("before"),
        func.lead(operations.c.intent, 1, "").over(**over).label("then"),
        func.lead(operations.c.confidence).over(**over).label("then_confidence"),
        func.lead(operations.c.origin).over(**over).label("then_origin"),
    )
    looked_at = [operations.c[name] for name in ("place", "intent", "confidence", "origin", "sensitive")]
    standing = (
        select(*looked_at, *neighbours).where(owned(operations), _OF_THESE, not_(operations.c.revoked)).subquery()
    )
    o = standing.c
    said_anew = and_(o.then == "update", or_(o.intent == "add", and_(o.intent == "update", not_(o.sensitive))))
    again = and_(o.then == "add", o.intent == "add", o.confidence <= o.then_confidence, o.origin == o.then_origin)
    leaves_nothing = and_(o.before.in_(["add", "update", "pin"]), or_(said_anew, again))
    counting = select(o.place).where(not_(leaves_nothing)).subquery()
    return (
        select(*_COLUMNS)
        .join_from(operations, counting, counting.c.place == operations.c.place)
        .where(owned(operations))
        .order_by(operations.c.place)
    )


_COUNTING = _counting()
_ACTORS = {actor.value: actor for actor in Actor}
_Blank = blank_of(Operation)
_THESE: BindParameter[list[int]] = bindparam("places", expanding=True)
_FALL = update(operations).where(owned(operations), operations.c.place.in_(_THESE)).values(revoked=True)
_CUT_LOOSE = delete(causes).where(owned(causes), causes.c.place.in_(_THESE))

_DROP = delete(operations).where(owned(operations), operations.c.place.in_(_THESE))
_DROP_SOURCES = delete(evidence).where(
    owned(evidence), evidence.c.memory_id.in_(bindparam("ids", expanding=True)), evidence.c.place.in_(_THESE)
)


class SqlJournal(Repository):
    """`ports.memories.Journal`."""

    __slots__ = ()

    def append(self, operation: Operation) -> None:
        self.append_all([operation])

    def append_all(self, many: Sequence[Operation]) -> None:
        for some in batches(many):
            self._insert(insert(operations), [_row(operation) for operation in some])
            self._insert(insert(causes), [row for operation in some for row in _cause_rows(operation)])
            self._evidence().put_all(some)

    def of_memory(self, memory_id: MemoryId) -> list[Operation]:
        return self.of_memories([memory_id]).get(memory_id, [])

    def of_memories(self, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, list[Operation]]:
        found: defaultdict[MemoryId, list[Operation]] = defaultdict(list)
        for ids in batches(list(dict.fromkeys(memory_ids))):
            anchors = self._anchors(ids)
            said = self._evidence().by_place(ids)
            for row in self._tuples(_OPERATIONS, ids=ids):
                operation = _operation(row, anchors, said)
                found[operation.memory_id].append(operation)
        return dict(found)

    def counting(self, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, list[Operation]]:
        found: defaultdict[MemoryId, list[Operation]] = defaultdict(list)
        for ids in batches(list(dict.fromkeys(memory_ids))):
            for row in self._tuples(_COUNTING, ids=ids):
                operation = _operation(row, {}, {})
                found[operation.memory_id].append(operation)
        return dict(found)

    def _anchors(self, memory_ids: Sequence[MemoryId]) -> dict[int, tuple[Anchor, ...]]:
        found: defaultdict[int, tuple[Anchor, ...]] = defaultdict(tuple)
        for row in self._rows(_CAUSES, ids=memory_ids):
            found[row.place] += (_anchor(row),)
        return found

    def settle(self, origins: Sequence[MessageId]) -> list[MemoryId]:
        # Two conversations may let go of one origin at once; whoever comes second must see that nobody holds it.
        self._run(_HOLD)
        touched: set[MemoryId] = set()
        for some in batches(list(dict.fromkeys(origins))):
            touched.update(row.memory_id for row in self._rows(_SETTLE, origins=some))
        return sorted(touched)

    def drawn_from(self, origins: Sequence[MessageId]) -> list[MemoryId]:
        named = batches(list(dict.fromkeys(origins)))
        return sorted({row.memory_id for some in named for row in self._rows(_DRAWN_FROM, origins=some)})

    def drawn_in(self, conversation_id: ConversationId) -> list[MemoryId]:
        return self._evidence().drawn_in(conversation_id)

    def let_go(self, origins: Sequence[MessageId]) -> None:
        self._run(_HOLD)
        for some in batches(list(dict.fromkeys(origins))):
            alone = [row.place for row in self._rows(_STANDS_ALONE, origins=some)]
            for places in batches(alone):
                self._run(_CUT_LOOSE, places=places)

    def forget_dead(self, origins: Sequence[MessageId]) -> list[MemoryId]:
        self._run(_HOLD)
        thinned: set[MemoryId] = set()
        for some in batches(list(dict.fromkeys(origins))):
            for dead in batches(self._rows(_DEAD, origins=some)):
                ids = {MemoryId(row.memory_id) for row in dead}
                self._forget([row.place for row in dead], sorted(ids))
                thinned |= ids
        return sorted(thinned)

    def _forget(self, places: Sequence[int], memory_ids: Sequence[MemoryId]) -> None:
        self._run(_CUT_LOOSE, places=places)
        self._run(_DROP_SOURCES, places=places, ids=memory_ids)
        self._run(_DROP, places=places)

    def hand_on(self, origin: MessageId, to: MessageId, *, conversation_id: ConversationId) -> None:
        rows = self._rows(_HANGS_ON, origin=origin, conversation=conversation_id)
        anchors = [(row.place, replace(_anchor(row), message=to)) for row in rows]
        self._insert(insert(causes), [_cause_row(anchor, place) for place, anchor in anchors])

    def let_fall(self, places: Sequence[int]) -> None:
        for some in batches(places):
            self._run(_FALL, places=some)
            self._run(_CUT_LOOSE, places=some)

    def _evidence(self) -> SqlEvidence:
        return SqlEvidence(self._connection, self._owner_id, self._hash)


def _row(operation: Operation) -> dict[str, object]:
    return {
        "place": operation.place,
        "memory_id": operation.memory_id,
        "scope": operation.scope.key,
        "actor": operation.actor,
        "at": operation.at,
        "revoked": operation.revoked,
        **intents.stored_of(operation.intent),
    }


def _cause_rows(operation: Operation) -> list[dict[str, object]]:
    by_message = {anchor.message: anchor for anchor in operation.causes}
    return [_cause_row(anchor, operation.place) for anchor in by_message.values()]


def _cause_row(anchor: Anchor, place: int) -> dict[str, object]:
    return {
        "message_origin": anchor.message,
        "place": place,
        "said_origin": anchor.said,
        "held_in": anchor.held_in,
    }


def _anchor(row: Row[Any]) -> Anchor:
    return Anchor(
        message=MessageId(row.message_origin),
        said=None if row.said_origin is None else MessageId(row.said_origin),
        held_in=None if row.held_in is None else ConversationId(row.held_in),
    )


def _operation(
    row: Sequence[Any], anchors: Mapping[int, tuple[Anchor, ...]], said: Mapping[int, tuple[Evidence, ...]]
) -> Operation:
    o = _Blank()
    place, o.memory_id, scope, actor, o.at, o.revoked, *stored = row
    o.place, o.scope, o.actor = place, scope_of(scope), _ACTORS[actor]
    o.intent, o.causes = intents.intent_of(stored, said.get(place, ())), anchors.get(place, ())
    o.__class__ = Operation
    return cast(Operation, o)
