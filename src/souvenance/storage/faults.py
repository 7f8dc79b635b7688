"""What an error of a database means for the work that met it: try again, give up, or a fault of ours."""

from __future__ import annotations

import sqlite3
from enum import StrEnum

from sqlalchemy.exc import DBAPIError

TRIES = 5
FIRST_PAUSE = 0.02
"""Seconds before the second try; each further pause is twice as long."""


class Fault(StrEnum):
    """What to do about it.

    AGAIN: nothing was written, the same work may go through now. TAKEN: a row is there already; if another wrote it
    meanwhile, the work will find it now. LOST: the connection broke. UNAVAILABLE: the database cannot do its part.
    OURS: the statement was wrong.
    """

    AGAIN = "again"
    TAKEN = "taken"
    LOST = "lost"
    UNAVAILABLE = "unavailable"
    OURS = "ours"


def pause(tries: int) -> float:
    """Seconds to wait after so many failed tries."""
    return FIRST_PAUSE * 2.0 ** (tries - 1)


_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_UNUSABLE = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_PROTOCOL,
}


def of_sqlite(error: DBAPIError | sqlite3.Error) -> Fault:
    cause = error.orig if isinstance(error, DBAPIError) else error
    primary = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    if primary in _BUSY:
        return Fault.AGAIN
    return Fault.UNAVAILABLE if primary in _UNUSABLE else Fault.OURS


_ANEW = {
    "40001",  # serialization failure
    "40P01",  # deadlock
    "55P03",  # a lock was not to be had in time
}
_UNIQUE_VIOLATION = "23505"
# Connection, resources, operator intervention, system, internal; and a standby that takes no writes.
_UNUSABLE_CLASSES = ("08", "28", "3D", "53", "57", "58", "XX", "25006")


def of_postgres(error: DBAPIError) -> Fault:
    if error.connection_invalidated:
        return Fault.LOST
    state = getattr(error.orig, "sqlstate", None) or ""
    if state == _UNIQUE_VIOLATION:
        return Fault.TAKEN
    # The plan of a cached statement no longer fits a table that was migrated meanwhile.
    if state in _ANEW or type(error.orig).__name__ == "InvalidCachedStatementError":
        return Fault.AGAIN
    return Fault.UNAVAILABLE if state.startswith(_UNUSABLE_CLASSES) else Fault.OURS


def reason(error: Exception) -> str:
    """The database's own words, on one line, without statement or parameters."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return " ".join(str(cause).split())[:200] or type(cause).__name__
