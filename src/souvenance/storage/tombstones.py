"""Tombstones: what a person erased, told by keyed hashes and sources only (M14)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from sqlalchemy import bindparam, exists, select
from sqlalchemy.dialects.postgresql import insert as upsert

from souvenance.domain.erasure import Tombstone
from souvenance.domain.ids import MessageId
from souvenance.domain.journal import Operation, content_of
from souvenance.domain.memory import Memory
from souvenance.domain.text import fold
from souvenance.storage.batches import batches
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import tombstones

Hashed: TypeAlias = Callable[[str, str], bytes]
"""The owner's keyed hash of a text for a purpose."""

_Slot: TypeAlias = tuple[str, bytes, bytes]
"""Scope, hash of the text, hash of the subject: what tells one tombstone from another."""

_IN_SCOPES = tombstones.c.scope.in_(bindparam("scopes", expanding=True))
_THERE = select(tombstones).where(
    owned(tombstones), _IN_SCOPES, tombstones.c.text_hash.in_(bindparam("hashes", expanding=True))
)
_HAS = select(
    exists().where(
        owned(tombstones), tombstones.c.scope == bindparam("in"), tombstones.c.text_hash == bindparam("hash")
    )
)
_NEW = upsert(tombstones)
_BURY = _NEW.on_conflict_do_update(
    index_elements=["owner_id", "scope", "text_hash", "subject_hash"],
    set_={name: _NEW.excluded[name] for name in ("sources", "erased_at")},
)


class SqlTombstones(Repository):
    """The owner's tombstones."""

    __slots__ = ()

    def bury(self, stones: Iterable[Tombstone]) -> None:
        """Write them; one that is there already gets the newer time and the sources of both."""
        for some in batches(list(_merged(stones).values())):
            found = self._rows(
                _THERE, scopes=sorted({one.scope.key for one in some}), hashes=[one.text_hash for one in some]
            )
            sources = {(row.scope, row.text_hash, row.subject_hash): json.loads(row.sources) for row in found}
            self._insert(_BURY, [_row(one, sources.get(_slot(one), ())) for one in some])

    def has(self, scope_key: str, text: str) -> bool:
        found: bool = self._run(_HAS, **{"in": scope_key, "hash": text_hash(self._hash, text)}).scalar_one()
        return bool(found)


def tombstones_of(memory: Memory, operations: Sequence[Operation], hashed: Hashed, now: datetime) -> list[Tombstone]:
    """One for each text that the memory ever had, in each scope that it was ever in, with all its sources."""
    contents = [content for operation in operations if (content := content_of(operation.intent)) is not None]
    said_as = {(memory.text, memory.key, memory.subject), *((one.text, one.key, one.subject) for one in contents)}
    scopes = {memory.scope, *(operation.scope for operation in operations)}
    evidence = (source for content in contents for source in content.evidence)
    sources = {source.message_id for source in evidence if source.message_id is not None}
    sources.update(anchor.message for operation in operations for anchor in operation.causes)
    return [
        Tombstone(
            scope=scope,
            text_hash=text_hash(hashed, text),
            subject_hash=hashed(f"k:{key}" if key is not None else f"s:{fold(subject)}", "subject"),
            sources=tuple(sorted(sources)),
            erased_at=now,
        )
        for scope in sorted(scopes, key=lambda scope: scope.key)
        for text, key, subject in said_as
    ]


def text_hash(hashed: Hashed, text: str) -> bytes:
    return hashed(fold(text), "tombstone")


def _merged(stones: Iterable[Tombstone]) -> dict[_Slot, Tombstone]:
    """One for each slot: several memories may have had one text."""
    merged: dict[_Slot, Tombstone] = {}
    for stone in stones:
        before = merged.get(_slot(stone))
        sources = stone.sources if before is None else (*before.sources, *stone.sources)
        merged[_slot(stone)] = replace(stone, sources=sources)
    return merged


def _slot(stone: Tombstone) -> _Slot:
    return stone.scope.key, stone.text_hash, stone.subject_hash


def _row(stone: Tombstone, earlier: Sequence[MessageId]) -> dict[str, object]:
    return {
        "scope": stone.scope.key,
        "text_hash": stone.text_hash,
        "subject_hash": stone.subject_hash,
        "sources": json.dumps(sorted({*stone.sources, *earlier})),
        "erased_at": stone.erased_at,
    }
