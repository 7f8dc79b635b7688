"""Tombstones: what a person erased, told by keyed hashes and sources only (M14)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import Row, bindparam, delete, insert, select

from souvenance.domain.erasure import Tombstone
from souvenance.domain.ids import ErasureId
from souvenance.domain.journal import Move, Operation, content_of, text_when_moved
from souvenance.domain.memory import Memory, Scope
from souvenance.domain.text import fold
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import tombstones

Hashed: TypeAlias = Callable[[str, str], bytes]
"""The owner's keyed hash of a text for a purpose."""

_Slot: TypeAlias = tuple[str, bytes, bytes]
"""Scope, hash of the text, hash of the subject: what tells one tombstone of an erasure from another."""

_OF_TEXT = (
    select(tombstones)
    .where(owned(tombstones), tombstones.c.text_hash == bindparam("hash"))
    .order_by(tombstones.c.scope, tombstones.c.subject_hash, tombstones.c.erasure_id)
)
_OF_SLOT = _OF_TEXT.where(tombstones.c.subject_hash == bindparam("subject"))
_DROP = delete(tombstones).where(owned(tombstones), tombstones.c.erasure_id == bindparam("erasure"))


class SqlTombstones(Repository):
    """The owner's tombstones: those of each erasure are rows of their own, so that it can be taken back exactly."""

    __slots__ = ()

    def bury(self, erasure_id: ErasureId, stones: Iterable[Tombstone]) -> None:
        self._insert(insert(tombstones), [_row(erasure_id, one) for one in _merged(stones)])

    def unbury(self, erasure_id: ErasureId) -> None:
        self._run(_DROP, erasure=erasure_id)

    def of_text(self, text: str, key: str | None, subject: str | None) -> list[Tombstone]:
        hashed = text_hash(self._hash, text, key)
        if key is None and subject is None:
            return [_stone(row) for row in self._rows(_OF_TEXT, hash=hashed)]
        slot = subject_hash(self._hash, key, subject or "")
        return [_stone(row) for row in self._rows(_OF_SLOT, hash=hashed, subject=slot)]


def tombstones_of(memory: Memory, operations: Sequence[Operation], hashed: Hashed, at: datetime) -> list[Tombstone]:
    """One for each text that the memory ever had, in each scope that it was ever in, with all its sources."""
    contents = [content for operation in operations if (content := content_of(operation.intent)) is not None]
    said_as = {(memory.text, memory.key, memory.subject), *((one.text, one.key, one.subject) for one in contents)}
    if any(isinstance(operation.intent, Move) for operation in operations):
        said_as |= {(text_when_moved(key, text), None, subject) for text, key, subject in said_as}
    scopes = {memory.scope, *(operation.scope for operation in operations)}
    evidence = (source for content in contents for source in content.evidence)
    sources = {source.message_id for source in evidence}
    sources.update(one for operation in operations for cause in operation.causes for one in (cause.message, cause.said))
    return [
        Tombstone(
            scope=scope,
            text_hash=text_hash(hashed, text, key),
            subject_hash=subject_hash(hashed, key, subject),
            sources=tuple(sorted(source for source in sources if source is not None)),
            erased_at=at,
        )
        for scope in scopes
        for text, key, subject in said_as
    ]


def text_hash(hashed: Hashed, text: str, key: str | None) -> bytes:
    """A free text and a key's value are different things, whatever their words: erasing one does not bury the other."""
    return hashed(f"{'t' if key is None else 'v'}:{fold(text)}", "tombstone")


def subject_hash(hashed: Hashed, key: str | None, subject: str) -> bytes:
    return hashed(f"k:{key}" if key is not None else f"s:{fold(subject)}", "subject")


def _merged(stones: Iterable[Tombstone]) -> list[Tombstone]:
    """One for each slot: several memories may have had one text."""
    merged: dict[_Slot, Tombstone] = {}
    for stone in stones:
        slot = (stone.scope.key, stone.text_hash, stone.subject_hash)
        before = merged.get(slot)
        sources = stone.sources if before is None else tuple(sorted({*before.sources, *stone.sources}))
        merged[slot] = replace(stone, sources=sources)
    return [merged[slot] for slot in sorted(merged)]


def _row(erasure_id: ErasureId, stone: Tombstone) -> dict[str, object]:
    return {
        "scope": stone.scope.key,
        "text_hash": stone.text_hash,
        "subject_hash": stone.subject_hash,
        "erasure_id": erasure_id,
        "sources": json.dumps(stone.sources),
        "erased_at": stone.erased_at,
    }


def _stone(row: Row[Any]) -> Tombstone:
    return Tombstone(
        scope=Scope.parse(row.scope),
        text_hash=row.text_hash,
        subject_hash=row.subject_hash,
        sources=tuple(json.loads(row.sources)),
        erased_at=row.erased_at,
    )
