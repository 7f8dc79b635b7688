"""A person corrects a memory; an edit on a version that is no more changes nothing and gets both texts (M10)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from souvenance.app.change_memories import content_now, locked, said_by_person, write_operation
from souvenance.app.kit import Kit
from souvenance.app.remember import checked
from souvenance.domain.ids import MemoryId, OwnerId
from souvenance.domain.journal import Content, Update
from souvenance.domain.memory import Memory, Origin
from souvenance.domain.terms import terms
from souvenance.domain.text import clean
from souvenance.errors import BadValue, Conflict, KeyTaken, NotFound, StaleEdit
from souvenance.ports.store import Unit


async def edit_memory(
    kit: Kit,
    owner_id: OwnerId,
    memory_id: MemoryId,
    *,
    seen: int,
    text: str | None = None,
    key: str | None = None,
    subject: str | None = None,
) -> Memory:
    """The memory with the new text (or key, or subject); what is None stays. `seen` is the version that was read.

    Raises StaleEdit with both texts, KeyTaken, Conflict when another memory of the scope says the same, NotFound.
    """
    if text is None and key is None and subject is None:
        raise BadValue("text", value=None, expected="a new text, key or subject")
    if subject:
        subject = clean("subject", subject, limit=kit.limits.subject_characters)
    words: tuple[str, ...] = tuple(terms(f"{key or ''} {text or ''}"))

    def work(unit: Unit) -> Memory:
        memory = held(unit, memory_id)
        if memory.version != seen:
            raise StaleEdit(
                "memory", memory_id, seen=seen, current=memory.version, theirs=memory.text, yours=text or memory.text
            )
        cause = said_by_person(kit.clock.now())
        content = _content(kit, memory, cause.at, text=text, key=key, subject=subject)
        check_free(unit, memory, content)
        whole = words if text is not None and (key is not None or memory.key is None) else terms_of(content)
        saved = write_operation(unit, memory, Update(content=content), cause, terms=whole)
        unit.scopes.start_epoch(memory.scope)
        return saved

    return await kit.store.write(owner_id, work, label="memory.edited")


def held(unit: Unit, memory_id: MemoryId) -> Memory:
    """The live memory with its scope held; NotFound when there is none."""
    memory = locked(unit, memory_id)
    if memory is None:
        raise NotFound("memory", memory_id)
    return memory


def terms_of(content: Content) -> tuple[str, ...]:
    return tuple(terms(f"{content.key or content.subject} {content.text}"))


def _content(
    kit: Kit, memory: Memory, at: datetime, *, text: str | None, key: str | None, subject: str | None
) -> Content:
    """What the person says it should say; what a person saves has confidence 1 (M4)."""
    if key is not None and memory.key is None:
        raise BadValue("key", value=key, expected="no key, since this memory is a free text")
    new_key, new_text = checked(kit.limits, memory.key if key is None else key, memory.text if text is None else text)
    return replace(
        content_now(memory, at),
        text=new_text,
        key=new_key,
        subject=memory.subject if subject is None else subject,
        confidence=1.0,
        origin=Origin.MANUAL,
    )


def check_free(unit: Unit, memory: Memory, content: Content) -> None:
    """KeyTaken, or Conflict naming the other one, when another memory of the scope says that already (M10)."""
    twin = unit.memories.equal_to(memory.scope, text=content.text, key=content.key, subject=content.subject)
    if twin is None or twin.memory_id == memory.memory_id:
        return
    if content.key is not None:
        raise KeyTaken(content.key)
    raise Conflict(f"Memory {twin.memory_id} says the same already.", id=twin.memory_id, text=twin.text)
