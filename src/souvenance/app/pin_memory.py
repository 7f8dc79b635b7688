"""A person pins or unpins a memory (M2, M5)."""

from __future__ import annotations

from souvenance.app.change_memories import has_room_cap, pin, said_by_person, write_operation
from souvenance.app.edit_memory import held
from souvenance.app.kit import Kit
from souvenance.domain.ids import MemoryId, OwnerId
from souvenance.domain.journal import Unpin
from souvenance.domain.memory import Memory
from souvenance.ports.store import Unit


async def pin_memory(kit: Kit, owner_id: OwnerId, memory_id: MemoryId, *, pinned: bool) -> Memory:
    """The memory, pinned or not; doing it twice changes nothing. PinRoomFull with the figures past the cap."""

    def work(unit: Unit) -> Memory:
        memory = held(unit, memory_id)
        if memory.pinned == pinned:
            return memory
        cause = said_by_person(kit.clock.now())
        if pinned:
            room = kit.limits.room_pinned if has_room_cap(unit, memory.scope) else None
            saved = pin(unit, memory, cause, room=room)
        else:
            saved = write_operation(unit, memory, Unpin(), cause)
        unit.scopes.start_epoch(memory.scope)
        return saved

    return await kit.store.write(owner_id, work, label="memory.pinned")
