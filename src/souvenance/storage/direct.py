"""Selects that go straight to SQLite's cursor: what each turn, page and undo reads.

They are written with SQLAlchemy and compiled by it, once; values pass through the column types, in and out; and who
listens to `before_cursor_execute` hears of each, compiled statement and all. Left out is what SQLAlchemy does for each
execution anew, which takes several times as long as SQLite itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, cast

from sqlalchemy import CompoundSelect, Connection, Dialect, Select
from sqlalchemy.sql.compiler import SQLCompiler

Query: TypeAlias = Select[Any] | CompoundSelect[Any]

_MOST_SHAPES = 64
"""Of one statement; a list has at most `batches.BATCH` lengths, most of them seldom."""

_Convert = Callable[[Any], Any]
_Place: TypeAlias = tuple[str, int | None, _Convert | None]
"""A parameter: its name, where in its list it stands if it is of one, how its value goes in."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a listener is told of a statement: as much of SQLAlchemy's own context as there is."""

    compiled: SQLCompiler
    compiled_parameters: Sequence[Mapping[str, object]]


def fetch(connection: Connection, statement: Query, values: Mapping[str, object]) -> list[tuple[Any, ...]]:
    """All rows. The statement is one of a few that live as long as the process."""
    prepared = _prepared(statement, connection.dialect)
    sql, parameters = prepared.bound(values)
    cursor = cast(sqlite3.Connection, connection.connection.dbapi_connection).cursor()
    for listener in connection.dispatch.before_cursor_execute:
        listener(connection, cursor, sql, parameters, Told(prepared.compiled, [values]), False)
    return prepared.converted(cursor.execute(sql, parameters).fetchall())


class _Prepared:
    """One statement, compiled; and of its lists in conditions each length that was met, spelled out."""

    def __init__(self, statement: Query, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        assert isinstance(compiled, SQLCompiler)
        self.compiled = compiled
        self._fixed = {name: bind.effective_value for name, bind in compiled.binds.items() if not bind.required}
        self._lists = sorted(compiled.bind_names[bind] for bind in compiled.post_compile_params)
        self._shapes: dict[tuple[int, ...], tuple[str, list[_Place]]] = {}
        self._inward: dict[str, _Convert | None] = {
            name: bind.type.dialect_impl(dialect).bind_processor(dialect) for name, bind in compiled.binds.items()
        }
        types = [column.type.dialect_impl(dialect) for column in statement.selected_columns]
        outward = enumerate(one.result_processor(dialect, None) for one in types)
        self._outward = [(place, convert) for place, convert in outward if convert is not None]

    def bound(self, values: Mapping[str, object]) -> tuple[str, list[Any]]:
        """The SQL and its parameters in their order."""
        given = {**self._fixed, **values}
        lists: dict[str, Any] = {name: given[name] for name in self._lists}
        lengths = tuple(map(len, lists.values()))
        shape = self._shapes.get(lengths)
        if shape is None:
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            shape = self._shapes[lengths] = self._spelled_out(given)
        sql, places = shape
        found = [(given[name] if number is None else lists[name][number], convert) for name, number, convert in places]
        return sql, [value if convert is None else convert(value) for value, convert in found]

    def _spelled_out(self, given: dict[str, Any]) -> tuple[str, list[_Place]]:
        state = self.compiled.construct_expanded_state(given, escape_names=False)
        numbered = ((name, enumerate(names)) for name, names in state.parameter_expansion.items())
        of_list = {one: (name, number) for name, names in numbered for number, one in names}
        assert state.positiontup is not None, "SQLite's parameters have places"
        found = [of_list.get(one, (one, None)) for one in state.positiontup]
        places = [(name, number, self._inward[name]) for name, number in found]
        return state.statement, places

    def converted(self, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """The rows with their values as the column types give them; a column at a time, which is twice as fast."""
        if not rows or not self._outward:
            return rows
        columns: list[Any] = list(zip(*rows, strict=True))
        for place, convert in self._outward:
            columns[place] = map(convert, columns[place])
        return list(zip(*columns, strict=True))


_prepared = lru_cache(maxsize=512)(_Prepared)
