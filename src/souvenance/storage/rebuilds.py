"""Rebuilds of a conversation's summary, running and ended (S7)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, bindparam, insert, select, update

from souvenance.domain.ids import ConversationId, RebuildId
from souvenance.domain.limits import Level
from souvenance.domain.summary import Rebuild, RebuildState
from souvenance.errors import NotFound
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import rebuilds

_C = rebuilds.c
_GET = select(rebuilds).where(owned(rebuilds), _C.rebuild_id == bindparam("id"))
_NEWEST = (
    select(rebuilds)
    .where(owned(rebuilds), _C.conversation_id == bindparam("conversation"))
    .order_by(_C.begun_at.desc(), _C.rebuild_id.desc())
    .limit(1)
)
_SAVE = update(rebuilds).where(owned(rebuilds), _C.rebuild_id == bindparam("id"))


class SqlRebuilds(Repository):
    """`ports.summaries.Rebuilds`."""

    __slots__ = ()

    def get(self, rebuild_id: RebuildId) -> Rebuild:
        row = self._row(_GET, id=rebuild_id)
        if row is None:
            raise NotFound("rebuild", rebuild_id)
        return _rebuild(row)

    def newest(self, conversation_id: ConversationId) -> Rebuild | None:
        row = self._row(_NEWEST, conversation=conversation_id)
        return None if row is None else _rebuild(row)

    def put(self, rebuild: Rebuild) -> None:
        self._insert(insert(rebuilds), [_values(rebuild)])

    def save(self, rebuild: Rebuild) -> None:
        if self._run(_SAVE, id=rebuild.rebuild_id, **_values(rebuild)).rowcount == 0:
            raise NotFound("rebuild", rebuild.rebuild_id)


_SAME = tuple(column.key for column in rebuilds.columns if column.key != "owner_id")
"""Each field stands in a column of its own name as it is."""


def _values(rebuild: Rebuild) -> dict[str, object]:
    return {name: getattr(rebuild, name) for name in _SAME}


def _rebuild(row: Row[Any]) -> Rebuild:
    fields = {name: row._mapping[name] for name in _SAME}
    return Rebuild(**{**fields, "level": Level(row.level), "state": RebuildState(row.state)})
