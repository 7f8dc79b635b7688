"""Erasure by a person: out of sight at once, purged after the offer to undo, a text-free tombstone stays (M14)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from souvenance.domain.ids import ErasureId, MemoryId, MessageId
from souvenance.domain.memory import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """One click of a person: the memories it took, and until when it can be taken back."""

    erasure_id: ErasureId
    memory_ids: tuple[MemoryId, ...]
    at: datetime
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """What must not come back by itself: keyed hashes of one text a memory had, and the sources it came from."""

    scope: Scope
    text_hash: bytes
    subject_hash: bytes
    sources: tuple[MessageId, ...]
    erased_at: datetime
