"""Scopes: a row each, which every write in it locks and counts (HOUSE 8), with the epoch that erasures move (C6)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, delete, select, union_all
from sqlalchemy.dialects.postgresql import insert

from souvenance.domain.memory import Scope, ScopeKind
from souvenance.ports.memories import ScopeState
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import scopes

_KEY = ["owner_id", "scope"]

# PostgreSQL's INSERT renders ON CONFLICT on both databases; SQLite's own does not.
_LOCK = (
    insert(scopes)
    .values(version=1, epoch=0)
    .on_conflict_do_update(index_elements=_KEY, set_={"version": scopes.c.version + 1})
    .returning(scopes.c.version, scopes.c.epoch)
)
_START_EPOCH = (
    insert(scopes)
    .values(version=0, epoch=1)
    .on_conflict_do_update(index_elements=_KEY, set_={"epoch": scopes.c.epoch + 1})
)
_REMOVE = delete(scopes).where(owned(scopes), scopes.c.scope == bindparam("key"))
_READ = select(scopes.c.scope, scopes.c.version, scopes.c.epoch).where(
    owned(scopes), scopes.c.scope.in_(bindparam("keys", expanding=True))
)
# Two ranges of the key: the conversations between them are not read.
_BEFORE = select(scopes.c.scope).where(owned(scopes), scopes.c.scope < f"{ScopeKind.CONVERSATION}:")
_AFTER = select(scopes.c.scope).where(owned(scopes), scopes.c.scope > f"{ScopeKind.CONVERSATION};")
_BOTH = union_all(_BEFORE, _AFTER)
_LASTING = _BOTH.order_by(_BOTH.selected_columns.scope)


class SqlScopes(Repository):
    """`ports.memories.Scopes`. The lock is the count: one statement that writes the row and holds it."""

    __slots__ = ()

    def lock(self, scope: Scope) -> ScopeState:
        row = self._write(_LOCK, scope=scope.key).one()
        return ScopeState(version=row.version, epoch=row.epoch)

    def start_epoch(self, scope: Scope) -> None:
        self._write(_START_EPOCH, scope=scope.key)

    def lasting(self) -> list[Scope]:
        return [Scope.parse(row.scope) for row in self._rows(_LASTING)]

    def remove(self, scope: Scope) -> None:
        self._run(_REMOVE, key=scope.key)

    def read(self, scopes: Sequence[Scope]) -> dict[Scope, ScopeState]:
        rows = self._rows(_READ, keys=[scope.key for scope in scopes])
        found = {row.scope: ScopeState(version=row.version, epoch=row.epoch) for row in rows}
        return {scope: found.get(scope.key, ScopeState()) for scope in scopes}
