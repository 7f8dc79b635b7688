"""A person brings back what a memory said before a model or pass changed or removed it (M11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from souvenance.app.change_memories import content_now, hold, said_by_person, source, write_operation
from souvenance.app.edit_memory import check_free, terms_of
from souvenance.app.kit import Kit
from souvenance.domain.ids import MemoryId, OwnerId
from souvenance.domain.journal import Content, Delete, Operation, Update, content_of, text_when_moved
from souvenance.domain.memory import Memory, MemoryState
from souvenance.errors import BadValue, NotFound
from souvenance.ports.store import Unit


async def bring_back(kit: Kit, owner_id: OwnerId, memory_id: MemoryId, place: int) -> Memory:
    """The memory, live, saying again what it said by the operation at `place` of its history, undone or not; by a
    deletion: what it said before that.

    NotFound for one that is not there or that a person erased; KeyTaken, or Conflict naming the other memory, when
    another one of the scope says the same; BadValue for a place at which nothing was said.
    """

    def work(unit: Unit) -> Memory:
        memory = _held(unit, memory_id)
        now = kit.clock.now()
        said = _said_at(unit.journal.of_memory(memory_id), place)
        if memory.key is None:
            said = replace(said, text=text_when_moved(said.key, said.text), key=None)
        content = replace(said, confidence=1.0, evidence=source(now))
        check_free(unit, memory, content)
        if memory.state is MemoryState.LIVE and _same(content, memory, content_now(memory, now)):
            return memory
        # What stands behind an equal one is live by its own history.
        before = replace(memory, state=MemoryState.LIVE) if memory.state is MemoryState.SHADOWED else memory
        back = write_operation(unit, before, Update(content=content), said_by_person(now), terms=terms_of(content))
        unit.scopes.start_epoch(memory.scope)
        return back

    return await kit.store.write(owner_id, work, label="memory.brought_back")


def _held(unit: Unit, memory_id: MemoryId) -> Memory:
    """The memory in any state but erased, with its scope held."""
    hold(unit, unit.memories.get(memory_id).scope)
    memory = unit.memories.get(memory_id)
    if memory.state is MemoryState.ERASING:
        raise NotFound("memory", memory_id)
    return memory


def _said_at(operations: Sequence[Operation], place: int) -> Content:
    chosen = next((one for one in operations if one.place == place), None)
    if chosen is not None:
        content = content_of(chosen.intent)
        if isinstance(chosen.intent, Delete):
            content = _last_said([one for one in operations if one.place < place])
        if content is not None:
            return content
    raise BadValue("place", value=place, expected="the place of an operation in its history that set a text or deleted")


def _last_said(operations: Sequence[Operation]) -> Content | None:
    """What stood last; when nothing stands any more, what was said last."""
    standing = [one for one in operations if not one.revoked]
    contents = [content for one in standing or operations if (content := content_of(one.intent)) is not None]
    return contents[-1] if contents else None


def _same(content: Content, memory: Memory, now: Content) -> bool:
    return (content.text, content.key, content.subject) == (now.text, now.key, now.subject) and not memory.archived
