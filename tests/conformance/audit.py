"""The audit of HOUSE 7: every statement that reaches the database is bound to the owner of the unit it runs in.

It reads SQLAlchemy's own tree of each compiled statement, not its text. Every table of the schema that stands in a
FROM must be held by a condition `owner_id = <the unit's owner>` that cannot be avoided (a conjunct of WHERE or ON, at
its own level), directly or through the owner_id of a table that is; what is inserted must carry the owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import (
    Alias,
    BinaryExpression,
    BindParameter,
    BooleanClauseList,
    ClauseElement,
    ColumnClause,
    CompoundSelect,
    Connection,
    Delete,
    Engine,
    FromClause,
    Insert,
    Join,
    Select,
    Subquery,
    Table,
    Update,
    event,
)
from sqlalchemy.sql import operators
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.selectable import CTE, SelectBase, SelectStatementGrouping

from souvenance.domain.due import Due
from souvenance.domain.ids import OwnerId
from souvenance.ports.store import Store, Unit
from souvenance.storage import claims, notified
from souvenance.storage.schema import metadata

T = TypeVar("T")

_owner: ContextVar[OwnerId | None] = ContextVar("_owner", default=None)

_ACROSS_OWNERS: tuple[ClauseElement, ...] = (claims.NEXT, claims.LEASE, claims.ENDED, notified.TELL)
"""Together with the migrations, which run before a store is open, all that may look across owners."""


class AuditedStore:
    """A store whose every statement is checked; one that is not bound to its owner raises AssertionError."""

    def __init__(self, store: Store, engine: Engine) -> None:
        self._store = store
        event.listen(engine, "before_cursor_execute", _before_cursor_execute)

    async def write(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        return await self._store.write(owner_id, _watched(work), label=label)

    async def read(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        return await self._store.read(owner_id, _watched(work), label=label)

    async def rehearse(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        return await self._store.rehearse(owner_id, _watched(work), label=label)

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


def _watched(work: Callable[[Unit], T]) -> Callable[[Unit], T]:
    def watched(unit: Unit) -> T:
        token = _owner.set(unit.owner_id)
        try:
            return work(unit)
        finally:
            _owner.reset(token)

    return watched


def _before_cursor_execute(
    _connection: Connection, _cursor: object, statement: str, _parameters: object, context: Any, _many: bool
) -> None:
    owner_id = _owner.get()
    compiled = context.compiled
    if not isinstance(compiled, SQLCompiler):
        # The driver's own questions at its first connection come outside of any unit.
        assert owner_id is None, f"raw SQL in a unit: {statement}"
        return
    found = compiled.statement
    assert found is not None
    if owner_id is None:
        assert any(found is known for known in _ACROSS_OWNERS), f"outside of a unit: {statement}"
        return
    for values in context.compiled_parameters:
        unbound = find_unbound(found, partial(_value, compiled, values), owner_id)
        assert not unbound, f"not bound to {owner_id}: {', '.join(unbound)} in {statement}"


def _value(compiled: SQLCompiler, values: Mapping[str, object], bind: BindParameter[Any]) -> object:
    return values.get(compiled.bind_names.get(bind, bind.key), bind.value)


Values = Callable[[BindParameter[Any]], object]


def find_unbound(statement: ClauseElement, values: Values, owner_id: str) -> list[str]:
    """Names of the tables in `statement` that something of another owner could come from, or go to."""
    return [table.name for table in _unbound(statement, _Scope(values, owner_id)) if table in metadata.tables.values()]


@dataclass(frozen=True, slots=True)
class Condition:
    """One conjunct. That of an outer join keeps rows of its right side only out; None: those of every FROM."""

    clause: ClauseElement
    right_side: tuple[FromClause, ...] | None = None

    def filters(self, source: FromClause) -> bool:
        return self.right_side is None or source in self.right_side


class _Scope:
    """What is known at one level of a statement: which FROMs are held to the owner, here or further out."""

    def __init__(self, values: Values, owner_id: str, outer: frozenset[FromClause] = frozenset()) -> None:
        self.values = values
        self.owner_id = owner_id
        self.outer = outer

    def within(self, held: Iterable[FromClause]) -> _Scope:
        return _Scope(self.values, self.owner_id, self.outer | frozenset(held))

    def held_by(self, conditions: Sequence[Condition], known: Iterable[FromClause]) -> frozenset[FromClause]:
        held = set(self.outer) | set(known)
        claims_to_hold = [
            (side.table, against)
            for condition in conditions
            for side, against in _owner_pairs(condition.clause)
            if isinstance(side, ColumnClause) and side.table is not None and condition.filters(side.table)
        ]
        for _ in claims_to_hold:
            held.update(source for source, against in claims_to_hold if self._is_owner(against, held))
        return frozenset(held)

    def _is_owner(self, side: ClauseElement, held: set[FromClause]) -> bool:
        if isinstance(side, BindParameter):
            return self.values(side) == self.owner_id
        return isinstance(side, ColumnClause) and side.name == "owner_id" and side.table in held


def _owner_pairs(condition: ClauseElement) -> list[tuple[ClauseElement, ClauseElement]]:
    """Both readings of an equation with an `owner_id` in it: what is held, against what."""
    if not isinstance(condition, BinaryExpression) or condition.operator is not operators.eq:
        return []
    pairs = [(condition.left, condition.right), (condition.right, condition.left)]
    return [pair for pair in pairs if getattr(pair[0], "name", None) == "owner_id"]


def _unbound(statement: ClauseElement, scope: _Scope) -> Iterator[Table]:
    if isinstance(statement, SelectStatementGrouping):
        yield from _unbound(statement.element, scope)
    elif isinstance(statement, CompoundSelect):
        for part in statement.selects:
            yield from _unbound(part, scope)
    elif isinstance(statement, Select):
        yield from _unbound_in_select(statement, scope)
    elif isinstance(statement, Insert):
        yield from _unbound_in_insert(statement, scope)
    elif isinstance(statement, Update | Delete):
        held = scope.held_by([Condition(part) for part in _conjuncts(statement.whereclause)], ())
        yield from _tables([statement.table], held)
        for inner in _nested(statement):
            yield from _unbound(inner, scope.within([statement.table] if statement.table in held else ()))
    else:
        raise TypeError(f"the audit does not know {type(statement).__name__}: write it with SQLAlchemy's constructs")


def _unbound_in_select(select: Select[Any], scope: _Scope) -> Iterator[Table]:
    froms: list[FromClause] = []
    conditions = [Condition(part) for part in _conjuncts(select.whereclause)]
    for source in select.get_final_froms():
        _flatten(source, froms, conditions)
    derived = [source for source in froms if isinstance(source, Subquery | CTE)]
    held = scope.held_by(conditions, derived)
    yield from _tables([source for source in froms if source not in scope.outer], held)
    for source in derived:
        yield from _unbound(source.element, scope)
    inside = scope.within(held.intersection(froms))
    parts = [part for part in select.get_children() if not isinstance(part, FromClause)]
    for part in [*(condition.clause for condition in conditions), *parts]:
        for inner in _nested(part):
            yield from _unbound(inner, inside)


def _unbound_in_insert(insert: Insert, scope: _Scope) -> Iterator[Table]:
    assert isinstance(insert.table, Table)
    assert insert.select is None, "an insert from a select may carry any owner"
    if scope.values(BindParameter("owner_id")) != scope.owner_id:
        yield insert.table
    for inner in _nested(insert):
        yield from _unbound(inner, scope)


def _tables(sources: Iterable[FromClause], held: frozenset[FromClause]) -> Iterator[Table]:
    for source in sources:
        table = source.element if isinstance(source, Alias) else source
        if isinstance(table, Table) and source not in held:
            yield table


def _flatten(source: FromClause, froms: list[FromClause], conditions: list[Condition]) -> None:
    """Take joins apart."""
    if not isinstance(source, Join):
        froms.append(source)
        return
    assert not source.full, "a full join is held to its owner by neither side"
    _flatten(source.left, froms, conditions)
    right: list[FromClause] = []
    _flatten(source.right, right, conditions)
    froms.extend(right)
    right_side = tuple(right) if source.isouter else None
    conditions.extend(Condition(part, right_side) for part in _conjuncts(source.onclause))


def _conjuncts(clause: ClauseElement | None) -> Iterator[ClauseElement]:
    if isinstance(clause, BooleanClauseList) and clause.operator is operators.and_:
        for part in clause.clauses:
            yield from _conjuncts(part)
    elif clause is not None:
        yield clause


def _nested(clause: ClauseElement) -> Iterator[SelectBase]:
    """The selects inside a clause, outermost ones only."""
    for child in clause.get_children():
        if isinstance(child, SelectBase):
            yield child
        elif not isinstance(child, FromClause):
            assert isinstance(child, ClauseElement)
            yield from _nested(child)
