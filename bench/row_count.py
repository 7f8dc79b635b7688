"""What reading statements cost on SQLite, in counts that no other process can disturb: rows and steps."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from bench.measured_store import Phase

_EACH = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """`rows` were fetched by `statements`; `steps` are instructions of SQLite's virtual machine, to the nearest ten."""

    statements: int
    rows: int
    steps: int


class RowCount:
    """Runs the reading statements of a phase again, on a connection of its own that writes nothing."""

    def __init__(self, path: Path) -> None:
        self._steps = 0
        self._connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self._connection.set_progress_handler(self._step, _EACH)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def of(self, phases: Sequence[Phase]) -> Counted:
        """The counts of all phases; statements that write count as statements only."""
        before, rows, statements = self._steps, 0, 0
        for statement in (one for phase in phases for one in phase.statements):
            statements += 1
            if statement.sql.lstrip().startswith(("SELECT", "WITH")) and not statement.many:
                rows += len(self._connection.execute(statement.sql, statement.rows).fetchall())
        return Counted(statements=statements, rows=rows, steps=(self._steps - before) * _EACH)

    def _step(self) -> int:
        self._steps += 1
        return 0
