"""Undo what messages wrote that are no longer held or chosen: revoke and fold again, nothing is patched back (M11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from souvenance.app.change_memories import hold
from souvenance.app.forget_dead import forget_dead
from souvenance.domain.erasure import Stones, comes_back, without_erased
from souvenance.domain.ids import MemoryId, MessageId
from souvenance.domain.journal import fold
from souvenance.domain.memory import Memory, MemoryState
from souvenance.domain.terms import terms
from souvenance.ports.memories import Kind
from souvenance.ports.store import Unit


def undo_writes(unit: Unit, origins: Sequence[MessageId], now: datetime) -> list[Memory]:
    """Settle the operations that these messages caused, and fold every memory they touched; returns those memories."""
    return [memory for memory_id in unit.journal.settle(origins) if (memory := refold(unit, memory_id)) is not None]


def undo_removed(unit: Unit, origins: Sequence[MessageId], now: datetime) -> None:
    """The same for messages that are gone; what nothing can let stand again is forgotten (T2, T7)."""
    undo_writes(unit, origins, now)
    forget_dead(unit, origins)


def refold(unit: Unit, memory_id: MemoryId) -> Memory | None:
    """Write what a memory is now by the operations that stand; every conversation begins a new epoch (C6)."""
    before = unit.memories.get(memory_id)
    hold(unit, before.scope)
    unit.owners.next_place()
    memory = _now(unit, before) or replace(before, state=MemoryState.DELETED)
    hold(unit, memory.scope)
    saved = unit.memories.save(_beside(unit, memory))
    if saved.state is MemoryState.DELETED:
        unit.index.remove(Kind.MEMORY, memory_id)
    else:
        unit.index.put(Kind.MEMORY, memory_id, terms(f"{saved.key or saved.subject} {saved.text}"))
    unit.memories.settle_equals([before, saved])
    for scope in {before.scope, saved.scope}:
        unit.scopes.start_epoch(scope)
    return unit.memories.get(memory_id)


def _now(unit: Unit, before: Memory) -> Memory | None:
    """What it is by the operations that stand. Those that would let it say again what a person erased since then fall
    for good (M14); only for these are all of a long history read.
    """
    journal, memory_id = unit.journal, before.memory_id
    memory = fold(journal.counting([memory_id]).get(memory_id, ()))
    if memory is None or not comes_back(before, memory) or not _tombstones(unit)(memory):
        return memory
    operations = journal.of_memory(memory_id)
    left = without_erased(before, operations, _tombstones(unit))
    journal.let_fall([now.place for now, was in zip(left, operations, strict=True) if now.revoked > was.revoked])
    return fold(left)


def _tombstones(unit: Unit) -> Stones:
    return lambda said: unit.erasures.tombstones(text=said.text, key=said.key, subject=said.subject)


def _beside(unit: Unit, memory: Memory) -> Memory:
    """One that comes back while a live one says the same is out of sight until it is settled which of them stands."""
    if memory.state is not MemoryState.LIVE:
        return memory
    twin = unit.memories.equal_to(memory.scope, text=memory.text, key=memory.key, subject=memory.subject)
    same = twin is not None and twin.memory_id != memory.memory_id
    return replace(memory, state=MemoryState.SHADOWED) if same else memory
