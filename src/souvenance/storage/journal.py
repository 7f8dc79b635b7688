"""The journal: what was done to memories, in the owner's order, and what stands of it (M11, T4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, bindparam, exists, insert, not_, select, update

from souvenance.domain.ids import MemoryId, MessageId
from souvenance.domain.journal import Actor, Operation
from souvenance.domain.memory import Evidence, Scope
from souvenance.storage.batches import batches
from souvenance.storage.evidence import SqlEvidence
from souvenance.storage.intents import intent_of, stored_of
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import causes, messages, operations, owners

_OPERATIONS = (
    select(
        operations.c.place,
        operations.c.memory_id,
        operations.c.scope,
        operations.c.actor,
        operations.c.intent,
        operations.c.content,
        operations.c.at,
        operations.c.revoked,
    )
    .where(owned(operations), operations.c.memory_id.in_(bindparam("ids", expanding=True)))
    .order_by(operations.c.place)
)
_CAUSES = (
    select(causes.c.place, causes.c.message_origin)
    .join_from(operations, causes, causes.c.place == operations.c.place)
    .where(owned(operations), owned(causes), operations.c.memory_id.in_(bindparam("ids", expanding=True)))
    .order_by(causes.c.place, causes.c.message_origin)
)
_CONCERNED = select(causes.c.place).where(
    owned(causes), causes.c.message_origin.in_(bindparam("origins", expanding=True))
)
_STANDS = exists().where(
    owned(causes),
    causes.c.place == operations.c.place,
    owned(messages),
    messages.c.origin_id == causes.c.message_origin,
    messages.c.chosen,
)
_HOLD = select(owners.c.place).where(owned(owners)).with_for_update()
_SETTLE = (
    update(operations)
    .where(owned(operations), operations.c.place.in_(_CONCERNED), operations.c.revoked == _STANDS)
    .values(revoked=not_(operations.c.revoked))
    .returning(operations.c.memory_id)
)


class SqlJournal(Repository):
    """`ports.memories.Journal`."""

    __slots__ = ()

    def append(self, operation: Operation) -> None:
        word, content = stored_of(operation.intent)
        row = {
            "place": operation.place,
            "memory_id": operation.memory_id,
            "scope": operation.scope.key,
            "actor": operation.actor,
            "intent": word,
            "content": content,
            "revoked": operation.revoked,
            "at": operation.at,
        }
        self._insert(insert(operations), [row])
        origins = dict.fromkeys(operation.causes)
        self._insert(insert(causes), [{"message_origin": one, "place": operation.place} for one in origins])
        self._evidence().put(operation)

    def of_memory(self, memory_id: MemoryId) -> list[Operation]:
        return self.of_memories([memory_id]).get(memory_id, [])

    def of_memories(self, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, list[Operation]]:
        found: defaultdict[MemoryId, list[Operation]] = defaultdict(list)
        for ids in batches(list(dict.fromkeys(memory_ids))):
            origins: defaultdict[int, list[MessageId]] = defaultdict(list)
            for row in self._rows(_CAUSES, ids=ids):
                origins[row.place].append(row.message_origin)
            said = self._evidence().by_place(ids)
            for row in self._rows(_OPERATIONS, ids=ids):
                found[row.memory_id].append(_operation(row, tuple(origins[row.place]), said.get(row.place, ())))
        return dict(found)

    def settle(self, origins: Sequence[MessageId]) -> list[MemoryId]:
        # Two conversations may let go of one origin at once; whoever comes second must see that nobody holds it.
        self._run(_HOLD)
        touched: set[MemoryId] = set()
        for some in batches(list(dict.fromkeys(origins))):
            touched.update(row.memory_id for row in self._rows(_SETTLE, origins=some))
        return sorted(touched)

    def _evidence(self) -> SqlEvidence:
        return SqlEvidence(self._connection, self._owner_id, self._hash)


def _operation(row: Row[Any], causes: tuple[MessageId, ...], evidence: tuple[Evidence, ...]) -> Operation:
    return Operation(
        place=row.place,
        memory_id=row.memory_id,
        scope=Scope.parse(row.scope),
        actor=Actor(row.actor),
        intent=intent_of(row.intent, row.content, evidence),
        at=row.at,
        causes=causes,
        revoked=row.revoked,
    )
