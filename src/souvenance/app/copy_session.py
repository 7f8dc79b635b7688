"""Session memory goes along with a fork, as memories of its own (M1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from souvenance.app.change_memories import hold
from souvenance.app.kit import Kit
from souvenance.app.undo_writes import refold
from souvenance.domain.ids import ConversationId, MemoryId, MessageId
from souvenance.domain.journal import Operation, copied_to, fold
from souvenance.domain.memory import MemoryState, Scope
from souvenance.ports.store import Unit


def copy_session(
    unit: Unit, kit: Kit, parent_id: ConversationId, fork_id: ConversationId, held: Mapping[MessageId, bool]
) -> None:
    """Copy the parent's session memory as far as it hangs on the messages that the fork holds, or on nobody's; `held`
    says of each of their origins whether it is chosen. What a person is erasing stays behind.
    """
    there = unit.memories.every(Scope.of_conversation(parent_id))
    kept = [memory.memory_id for memory in there if memory.state is not MemoryState.ERASING]
    if not kept:
        return
    hold(unit, Scope.of_conversation(fork_id))
    copies: dict[MemoryId, list[Operation]] = {}
    journal = unit.journal.of_memories(kept)
    ids = {memory_id: MemoryId(kit.ids.new("mem")) for memory_id in kept}
    done = sorted((one for operations in journal.values() for one in operations), key=lambda one: one.place)
    for one in done:
        memory_id = ids[one.memory_id]
        copy = copied_to(one, memory_id, fork_id, held)
        if copy is not None:
            copies.setdefault(memory_id, []).append(replace(copy, place=unit.owners.next_place()))
    for memory_id, operations in copies.items():
        _put(unit, memory_id, operations)


def _put(unit: Unit, memory_id: MemoryId, operations: Sequence[Operation]) -> None:
    """A memory with these operations, folded; none for operations that say nothing together."""
    said = fold(replace(one, revoked=False) for one in operations)
    if said is None:
        return
    unit.memories.save(replace(said, state=MemoryState.DELETED))
    for one in operations:
        unit.journal.append(one)
    refold(unit, memory_id)
