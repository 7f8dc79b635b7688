"""Scopes: a row each, which every write in it locks and counts (HOUSE 8), with the epoch that erasures move (C6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import CompoundSelect, and_, bindparam, delete, func, select, union_all
from sqlalchemy.dialects.postgresql import insert

from souvenance.domain.bot import Preset
from souvenance.domain.memory import Scope, ScopeKind
from souvenance.ports.memories import ScopeState
from souvenance.storage.declare import WORD
from souvenance.storage.memory_rows import scope_of
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import bots, scopes

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
_BOT_OF_IT = func.substr(scopes.c.scope, len(f"{ScopeKind.BOT}:") + 1, type_=WORD)


def _lasting() -> CompoundSelect[Any]:
    """Two ranges of the key: the conversations between them are not read."""
    its_bot = and_(owned(bots), bots.c.bot_id == _BOT_OF_IT, bots.c.preset == Preset.NOTEBOOK)
    found = select(scopes.c.scope, bots.c.bot_id).outerjoin(bots, its_bot).where(owned(scopes))
    before, after = scopes.c.scope < f"{ScopeKind.CONVERSATION}:", scopes.c.scope > f"{ScopeKind.CONVERSATION};"
    both = union_all(found.where(before), found.where(after))
    return both.order_by(both.selected_columns.scope)


_LASTING = _lasting()


class SqlScopes(Repository):
    """`ports.memories.Scopes`. The lock is the count: one statement that writes the row and holds it."""

    __slots__ = ()

    def lock(self, scope: Scope) -> ScopeState:
        row = self._write(_LOCK, scope=scope.key).one()
        return ScopeState(version=row.version, epoch=row.epoch)

    def start_epoch(self, scope: Scope) -> None:
        self._write(_START_EPOCH, scope=scope.key)

    def lasting(self) -> dict[Scope, bool]:
        return {scope_of(scope): notebook is not None for scope, notebook in self._tuples(_LASTING)}

    def remove(self, scope: Scope) -> None:
        self._run(_REMOVE, key=scope.key)

    def read(self, scopes: Sequence[Scope]) -> dict[Scope, ScopeState]:
        rows = self._tuples(_READ, keys=[scope.key for scope in scopes])
        found = {scope: ScopeState(version=version, epoch=epoch) for scope, version, epoch in rows}
        return {scope: found.get(scope.key, ScopeState()) for scope in scopes}
