"""Erasures by a person: hidden at once, brought back or purged, with a tombstone that holds no text (M14)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BindParameter,
    Row,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from souvenance.domain.erasure import Erasure, Tombstone
from souvenance.domain.ids import ErasureId, MemoryId
from souvenance.domain.memory import MemoryState
from souvenance.errors import NotFound
from souvenance.ports.memories import Kind
from souvenance.storage.batches import batches
from souvenance.storage.index import SqlIndex
from souvenance.storage.journal import SqlJournal
from souvenance.storage.memories import PRESENT_PLACE, SqlMemories
from souvenance.storage.memory_rows import COLUMNS, memory_of
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import causes, epochs, erasures, evidence, memories, operations, prompt_parts
from souvenance.storage.tombstones import SqlTombstones, tombstones_of

_IDS: BindParameter[list[str]] = bindparam("ids", expanding=True)

_GET = select(erasures).where(owned(erasures), erasures.c.erasure_id == bindparam("id"))
_ENDED = (
    select(erasures)
    .where(owned(erasures), erasures.c.until <= bindparam("now"))
    .order_by(erasures.c.until, erasures.c.erasure_id)
)
_DROP = delete(erasures).where(owned(erasures), erasures.c.erasure_id == bindparam("id"))

_THESE = (owned(memories), memories.c.memory_id.in_(_IDS))
_ERASING = memories.c.state == MemoryState.ERASING
_CHANGED = {"changed": PRESENT_PLACE, "version": memories.c.version + 1}
_HIDE = update(memories).where(*_THESE).values(state=MemoryState.ERASING, **_CHANGED)


def _bring_back() -> Any:
    """As the fold has it now: deleted if the last standing operation that says or deletes is a deletion. Any other is
    shadowed until it is settled which of its equals stands.
    """
    says = operations.c.intent.in_([literal_column(f"'{word}'") for word in ("add", "update", "pin", "delete")])
    of_it = (owned(operations), operations.c.memory_id == memories.c.memory_id)
    last = select(operations.c.intent).where(*of_it, ~operations.c.revoked, says).order_by(operations.c.place.desc())
    stands = func.coalesce(last.limit(1).scalar_subquery(), literal_column("'delete'")) != literal_column("'delete'")
    state = case((stands, MemoryState.SHADOWED), else_=MemoryState.DELETED)
    return update(memories).where(*_THESE, _ERASING).values(state=state, **_CHANGED)


_BRING_BACK = _bring_back()

_BEING_ERASED = select(*COLUMNS).where(*_THESE, _ERASING)
_PLACES = select(operations.c.place).where(owned(operations), operations.c.memory_id.in_(_IDS))
_PURGE = (
    delete(causes).where(owned(causes), causes.c.place.in_(_PLACES)),
    delete(evidence).where(owned(evidence), evidence.c.memory_id.in_(_IDS)),
    delete(operations).where(owned(operations), operations.c.memory_id.in_(_IDS)),
    delete(memories).where(*_THESE),
    update(prompt_parts).where(owned(prompt_parts), prompt_parts.c.memory_id.in_(_IDS)).values(data=None),
)
# A basis that no prompt can have; the number goes on, so that no two epochs of a conversation share one.
_END_EPOCHS = update(epochs).where(owned(epochs)).values(basis="{}", lines="[]")

_SCOPES = select(memories.c.scope).where(*_THESE).distinct().order_by(memories.c.scope)
# One that was ended already has lost its basis, and says no more what it reads.
_END_EPOCHS_OF = _END_EPOCHS.where(or_(epochs.c.basis == "{}", epochs.c.basis.like(bindparam("reads"))))


class SqlErasures(Repository):
    """`ports.store.Erasures`. Short ids stay: their numbers are never given again, and they hold no text."""

    __slots__ = ()

    def begin(self, erasure: Erasure) -> None:
        for ids in batches(erasure.memory_ids):
            self._run(_HIDE, ids=ids)
        row = {
            "erasure_id": erasure.erasure_id,
            "memory_ids": json.dumps(erasure.memory_ids),
            "at": erasure.at,
            "until": erasure.until,
        }
        self._insert(insert(erasures), [row])
        self._tombstones().bury(erasure.erasure_id, self._stones(erasure))

    def get(self, erasure_id: ErasureId) -> Erasure | None:
        row = self._row(_GET, id=erasure_id)
        return None if row is None else _erasure(row)

    def undo(self, erasure_id: ErasureId) -> None:
        erasure = self.get(erasure_id)
        # Who drops the offer decides what becomes of it: a purge may have been quicker.
        if erasure is None or not self._run(_DROP, id=erasure_id).rowcount:
            raise NotFound("erasure", erasure_id)
        self._tombstones().unbury(erasure_id)
        for ids in batches(erasure.memory_ids):
            self._run(_BRING_BACK, ids=ids)
        memories_back = SqlMemories(self._connection, self._owner_id, self._hash)
        memories_back.settle_equals(memories_back.many(erasure.memory_ids))

    def ended(self, now: datetime) -> list[Erasure]:
        return [_erasure(row) for row in self._rows(_ENDED, now=now)]

    def purge(self, erasure: Erasure) -> None:
        if not self._run(_DROP, id=erasure.erasure_id).rowcount:
            return
        for ids in batches(erasure.memory_ids):
            self._remove([row.memory_id for row in self._rows(_BEING_ERASED, ids=ids)])
        self._run(_END_EPOCHS)

    def forget(self, memory_ids: Sequence[MemoryId]) -> None:
        for ids in batches(memory_ids):
            scopes = [row.scope for row in self._rows(_SCOPES, ids=ids)]
            self._remove(ids)
            for scope in scopes:
                self._run(_END_EPOCHS_OF, reads=f'%"scope {scope}"%')

    def _remove(self, memory_ids: Sequence[MemoryId]) -> None:
        SqlIndex(self._connection, self._owner_id, self._hash).remove_all(Kind.MEMORY, memory_ids)
        for statement in _PURGE:
            self._run(statement, ids=memory_ids)

    def tombstones(self, *, text: str, key: str | None, subject: str | None = None) -> list[Tombstone]:
        return self._tombstones().of_text(text, key, subject)

    def _stones(self, erasure: Erasure) -> Iterator[Tombstone]:
        journal = SqlJournal(self._connection, self._owner_id, self._hash)
        for ids in batches(erasure.memory_ids):
            operations = journal.of_memories(ids)
            for row in self._rows(_BEING_ERASED, ids=ids):
                memory = memory_of(row)
                yield from tombstones_of(memory, operations.get(memory.memory_id, ()), self._hash, erasure.at)

    def _tombstones(self) -> SqlTombstones:
        return SqlTombstones(self._connection, self._owner_id, self._hash)


def _erasure(row: Row[Any]) -> Erasure:
    return Erasure(erasure_id=row.erasure_id, memory_ids=tuple(json.loads(row.memory_ids)), at=row.at, until=row.until)
