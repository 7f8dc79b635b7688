"""Memories that a standing operation deleted, with who did it and when (M11)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, bindparam, func, literal_column, not_, select

from souvenance.domain.journal import Actor
from souvenance.domain.memory import MemoryState, Scope
from souvenance.ports.memories import Removed
from souvenance.storage.batches import batches
from souvenance.storage.memory_rows import COLUMNS, memory_of
from souvenance.storage.repository import LIMIT, Repository, owned
from souvenance.storage.schema import memories, operations

_DECIDING: list[ColumnElement[str]] = [literal_column(f"'{word}'") for word in ("add", "update", "pin", "delete")]
_later = operations.alias("later")
_OF_IT = (owned(_later), _later.c.memory_id == memories.c.memory_id, not_(_later.c.revoked))
_LAST = select(func.max(_later.c.place)).where(*_OF_IT, _later.c.intent.in_(_DECIDING)).scalar_subquery()
_REMOVED = (
    select(*COLUMNS, operations.c.place.label("removed_place"), operations.c.actor, operations.c.at)
    .join_from(memories, operations, operations.c.memory_id == memories.c.memory_id)
    .where(
        owned(memories),
        owned(operations),
        memories.c.scope.in_(bindparam("scopes", expanding=True)),
        memories.c.state == MemoryState.DELETED,
        operations.c.intent == literal_column("'delete'"),
        operations.c.place == _LAST,
    )
    .order_by(operations.c.place.desc())
    .limit(LIMIT)
)
_BEFORE = _REMOVED.where(operations.c.place < bindparam("before"))


class SqlRemoved(Repository):
    """What `ports.memories.Memories.removed` lists."""

    __slots__ = ()

    def page(self, scopes: Sequence[Scope], *, before: int | None, limit: int) -> list[Removed]:
        statement = _REMOVED if before is None else _BEFORE
        bound = {} if before is None else {"before": before}
        found = [
            Removed(memory=memory_of(row[: len(COLUMNS)]), place=row.removed_place, actor=Actor(row.actor), at=row.at)
            for some in batches(scopes)
            for row in self._rows(statement, scopes=[scope.key for scope in some], limit=limit, **bound)
        ]
        return sorted(found, key=lambda one: -one.place)[:limit]
