"""A person archives a memory by hand, or brings it back (M2, M14): hidden, not lost."""

from __future__ import annotations

from souvenance.app.change_memories import said_by_person, write_operation
from souvenance.app.edit_memory import held
from souvenance.app.kit import Kit
from souvenance.domain.ids import MemoryId, OwnerId
from souvenance.domain.journal import Archive, Restore
from souvenance.domain.memory import Memory
from souvenance.errors import PinnedMemory
from souvenance.ports.store import Unit


async def archive_memory(kit: Kit, owner_id: OwnerId, memory_id: MemoryId, *, archived: bool) -> Memory:
    """The memory, archived or back. Restoring also updates it, which brings one that was archived for room back in.

    A pinned one is always sent, so it must be unpinned first: PinnedMemory.
    """

    def work(unit: Unit) -> Memory:
        memory = held(unit, memory_id)
        if memory.archived and archived:
            return memory
        if memory.pinned and archived:
            raise PinnedMemory(memory_id)
        intent = Archive() if archived else Restore()
        saved = write_operation(unit, memory, intent, said_by_person(kit.clock.now()))
        unit.scopes.start_epoch(memory.scope)
        return saved

    return await kit.store.write(owner_id, work, label="memory.archived")
