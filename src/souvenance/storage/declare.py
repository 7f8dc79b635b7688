"""How the schema declares its tables: the kinds of columns that stand in many of them."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Integer, MetaData, String, Table
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from souvenance.storage.columns import Moment

metadata = MetaData()

WORD = String(64, collation="C").with_variant(String(64), "sqlite")
"""Ids and stable words: compared by their bytes on both databases."""


def word(name: str, *, key: bool = False, nullable: bool = False) -> Column[str]:
    """An id or a stable word."""
    return Column(name, WORD, primary_key=key, nullable=nullable)


def owner() -> Column[str]:
    """The column that every primary key starts with (HOUSE 7)."""
    return word("owner_id", key=True)


def flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False, default=False)


def moment(name: str, *, nullable: bool = False) -> Column[object]:
    return Column(name, Moment, nullable=nullable)


def whole(name: str, default: int = 0, kind: type[TypeEngine[int]] = Integer) -> Column[int]:
    return Column(name, kind, nullable=False, default=default)


def number(name: str, kind: type[TypeEngine[int]]) -> Column[int]:
    """A number that is part of the key, given by who writes the row."""
    return Column(name, kind, primary_key=True, autoincrement=False)


def table(name: str, *parts: SchemaItem, rowid: bool = False) -> Table:
    """A table; without row ids on SQLite, where its key then is its place."""
    return Table(name, metadata, *parts, sqlite_with_rowid=rowid)
