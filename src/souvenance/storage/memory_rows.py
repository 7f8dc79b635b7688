"""A memory as a row, and back."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any

from sqlalchemy import literal_column

from souvenance.domain.memory import Memory, MemoryState, Origin, Scope
from souvenance.domain.text import fold
from souvenance.storage import evidence
from souvenance.storage.hashing import Hasher
from souvenance.storage.schema import memories

COLUMNS = tuple(
    memories.c[name]
    for name in (
        "memory_id", "scope", "text", "key", "subject", "pinned", "archived", "confidence", "origin", "evidence",
        "language", "sensitive", "created_at", "updated_at", "place", "changed", "version", "state",
    )
)  # fmt: skip
"""What `memory_of` expects, in this order."""

# As a literal: an index on part of a table serves only a condition that stands in the statement itself.
LIVE = memories.c.state == literal_column("'live'")


# Many rows are read in every turn: looking up is several times faster than calling an enumeration.
_ORIGINS = {origin.value: origin for origin in Origin}
_STATES = {state.value: state for state in MemoryState}
_scope = lru_cache(maxsize=1_024)(Scope.parse)


class Standing(StrEnum):
    """How a memory counts for room (M2): PINNED and KEYED are always in, ARCHIVED by hand never, FREE by its rank."""

    PINNED = "pinned"
    ARCHIVED = "archived"
    KEYED = "keyed"
    FREE = "free"


def standing_of(memory: Memory) -> Standing:
    if memory.pinned:
        return Standing.PINNED
    if memory.archived:
        return Standing.ARCHIVED
    return Standing.FREE if memory.key is None else Standing.KEYED


def identity_of(hasher: Hasher, *, text: str, key: str | None) -> bytes:
    """What makes two memories of a scope the same one (M10): the exact key, else the folded text."""
    return hasher(f"t:{fold(text)}" if key is None else f"k:{key}", "identity")


def memory_of(row: Sequence[Any]) -> Memory:
    (
        memory_id, scope, text, key, subject, pinned, archived, confidence, origin, sources,
        language, sensitive, created_at, updated_at, place, changed, version, state,
    ) = row  # fmt: skip
    return Memory(
        memory_id=memory_id,
        scope=_scope(scope),
        text=text,
        key=key,
        subject=subject,
        pinned=pinned,
        archived=archived,
        confidence=confidence,
        origin=_ORIGINS[origin],
        evidence=evidence.read(sources),
        language=language,
        sensitive=sensitive,
        created_at=created_at,
        updated_at=updated_at,
        place=place,
        changed=changed,
        version=version,
        state=_STATES[state],
    )


def values_of(memory: Memory, hasher: Hasher) -> dict[str, object]:
    """The row's columns but for the owner, `changed` and `version`."""
    return {
        "memory_id": memory.memory_id,
        "scope": memory.scope.key,
        "state": memory.state,
        "text": memory.text,
        "key": memory.key,
        "subject": memory.subject,
        "identity_hash": identity_of(hasher, text=memory.text, key=memory.key),
        "pinned": memory.pinned,
        "archived": memory.archived,
        "standing": standing_of(memory),
        "confidence": memory.confidence,
        "origin": memory.origin,
        "evidence": evidence.written(memory.evidence),
        "language": memory.language,
        "sensitive": memory.sensitive,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "place": memory.place,
    }
