"""A memory as a row, and back."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import literal_column

from souvenance.domain.equals import words_of
from souvenance.domain.memory import Memory, MemoryState, Origin, Scope
from souvenance.storage.blanks import blank_of
from souvenance.storage.hashing import Hasher
from souvenance.storage.schema import memories

COLUMNS = tuple(
    memories.c[name]
    for name in (
        "memory_id", "scope", "text", "key", "subject", "pinned", "archived", "confidence", "origin", "language",
        "sensitive", "created_at", "updated_at", "place", "updated_place", "changed", "version", "state",
    )
)  # fmt: skip
"""What `memory_of` expects, in this order."""

# As a literal: an index on part of a table serves only a condition that stands in the statement itself.
LIVE = memories.c.state == literal_column("'live'")


IDENTITY = "identity"
"""The purpose of the hashes in `identity_hash`."""

# Many rows are read in every turn: looking up is several times faster than calling an enumeration.
_ORIGINS = {origin.value: origin for origin in Origin}
_STATES = {state.value: state for state in MemoryState}
_Blank = blank_of(Memory)
scope_of = lru_cache(maxsize=1_024)(Scope.parse)


class Standing(StrEnum):
    """How a memory counts for room (M2): PINNED ones are always in, ARCHIVED by hand never, FREE by their rank."""

    PINNED = "pinned"
    ARCHIVED = "archived"
    FREE = "free"


def standing_of(memory: Memory) -> Standing:
    if memory.pinned:
        return Standing.PINNED
    return Standing.ARCHIVED if memory.archived else Standing.FREE


def identity_of(hasher: Hasher, *, text: str, key: str | None, subject: str) -> bytes:
    """What makes two memories of a scope the same one (M10)."""
    return hasher(words_of(text=text, key=key, subject=subject), IDENTITY)


def memory_of(row: Sequence[Any]) -> Memory:
    m = _Blank()
    (
        m.memory_id, scope, m.text, m.key, m.subject, m.pinned, m.archived, m.confidence, origin, m.language,
        m.sensitive, m.created_at, m.updated_at, m.place, m.updated_place, m.changed, m.version, state,
    ) = row  # fmt: skip
    m.scope, m.origin, m.state = scope_of(scope), _ORIGINS[origin], _STATES[state]
    m.__class__ = Memory
    return cast(Memory, m)


def values_of(memory: Memory, hasher: Hasher) -> dict[str, object]:
    """The row's columns but for the owner, `changed` and `version`."""
    return {
        "memory_id": memory.memory_id,
        "scope": memory.scope.key,
        "state": memory.state,
        "text": memory.text,
        "key": memory.key,
        "subject": memory.subject,
        "identity_hash": identity_of(hasher, text=memory.text, key=memory.key, subject=memory.subject),
        "pinned": memory.pinned,
        "archived": memory.archived,
        "standing": standing_of(memory),
        "confidence": memory.confidence,
        "origin": memory.origin,
        "language": memory.language,
        "sensitive": memory.sensitive,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "place": memory.place,
        "updated_place": memory.updated_place,
    }
