"""What SQLite's planner is told of the data: how far each column of an index narrows the rows down.

Without figures it takes an owner to have ten rows, so it walks all of an owner's messages rather than use an index that
is not the table's own order: a turn would grow slower with every message (Z3). Figures counted from the file would
differ from file to file and with time; these are planted when the schema is made, and plans hold still.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, text

ROWS = 1_000_000
ROWS_OF_AN_OWNER = 100_000
ROWS_OF_A_KEY = 10
"""Rows that are equal in all columns of an index that is not unique."""

_INDEXES = text(
    "SELECT t.name AS of_table, i.name AS name, i.\"unique\" AS is_unique, i.origin = 'pk' AS is_key, "
    "(SELECT count(*) FROM pragma_index_info(i.name)) AS columns "
    "FROM sqlite_schema AS t JOIN pragma_index_list(t.name) AS i "
    "JOIN pragma_index_info(i.name) AS first ON first.seqno = 0 AND first.name = 'owner_id' "
    "WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%'"
)


def plant_figures(connection: Connection) -> None:
    """Write the figures for every index that starts with the owner; connections opened later go by them."""
    connection.execute(text("ANALYZE"))
    connection.execute(text("DELETE FROM sqlite_stat1"))
    for row in connection.execute(_INDEXES).all():
        # The figures of a table's own order stand under the table's name.
        name = row.of_table if row.is_key else row.name
        figures = " ".join(map(str, (ROWS, *narrowing(row.columns, unique=bool(row.is_unique)))))
        connection.execute(
            text("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (:tbl, :idx, :stat)"),
            {"tbl": row.of_table, "idx": name, "stat": figures},
        )


def narrowing(columns: int, *, unique: bool) -> Iterator[int]:
    """Rows that are left after each column, the same factor from one to the next."""
    last = 1 if unique else ROWS_OF_A_KEY
    if columns == 1:
        yield last
        return
    for column in range(columns):
        yield round(ROWS_OF_AN_OWNER * (last / ROWS_OF_AN_OWNER) ** (column / (columns - 1)))
