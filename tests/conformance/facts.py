"""Memories and their operations for the conformance suite, written as callers write them: journal, row, index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from souvenance.domain.conversation import Flags
from souvenance.domain.erasure import Erasure
from souvenance.domain.ids import ErasureId, MemoryId, MessageId, OwnerId
from souvenance.domain.journal import Actor, Add, Anchor, Content, Intent, Operation, fold
from souvenance.domain.memory import ACCOUNT_SCOPE, Evidence, Memory, Scope
from souvenance.ports.memories import Kind
from souvenance.ports.store import Store, Unit
from tests.conformance.rows import ALICE, NOW, conversation, later, message

T = TypeVar("T")

BOT_SCOPE = Scope.parse("bot:bot_1")


async def write(store: Store, work: Callable[[Unit], T], owner_id: OwnerId = ALICE) -> T:
    return await store.write(owner_id, work, label="test.written")


async def read(store: Store, work: Callable[[Unit], T], owner_id: OwnerId = ALICE) -> T:
    return await store.read(owner_id, work, label="test.read")


def memory(number: int = 1, text: str = "", **other: Any) -> Memory:
    """Updated `number` seconds after NOW and at place `number`, unless told otherwise."""
    given: dict[str, Any] = {
        "memory_id": MemoryId(f"mem_{number:05}"),
        "scope": ACCOUNT_SCOPE,
        "text": text or f"Likes tea number {number}",
        "created_at": later(number),
        "updated_at": later(number),
        "place": number,
        "updated_place": number,
        **other,
    }
    return Memory(**given)


def keep(unit: Unit, wanted: Memory, *, causes: Sequence[str] = (), evidence: Sequence[Evidence] = ()) -> Memory:
    """Store it as if it had been added, at the owner's next place."""
    unit.scopes.lock(wanted.scope)
    content = Content(
        text=wanted.text,
        key=wanted.key,
        subject=wanted.subject,
        confidence=wanted.confidence,
        origin=wanted.origin,
        evidence=tuple(evidence),
    )
    place = do(unit, wanted.memory_id, Add(content=content), scope=wanted.scope, causes=causes)
    unit.index.put(Kind.MEMORY, wanted.memory_id, wanted.text.lower().split())
    return unit.memories.save(replace(wanted, place=place))


def do(
    unit: Unit,
    memory_id: str,
    intent: Intent,
    *,
    scope: Scope = ACCOUNT_SCOPE,
    causes: Sequence[str] = (),
    actor: Actor = Actor.MODEL,
) -> int:
    """Append one operation at the owner's next place; returns the place."""
    place = unit.owners.next_place()
    unit.journal.append(
        Operation(
            place=place,
            memory_id=MemoryId(memory_id),
            scope=scope,
            actor=actor,
            intent=intent,
            at=later(place),
            causes=tuple(Anchor(message=MessageId(cause)) for cause in causes),
        )
    )
    return place


def folded(unit: Unit, memory_id: str) -> Memory | None:
    return fold(unit.journal.of_memory(MemoryId(memory_id)))


def say(unit: Unit, position: int, *, conversation_id: str = "con_1", **other: Any) -> MessageId:
    """Store one message."""
    said = message(position, conversation_id=conversation_id, **other)
    unit.messages.put(said)
    return said.message_id


def converse(unit: Unit, conversation_id: str = "con_1", **flags: bool) -> None:
    unit.conversations.put(conversation(conversation_id, flags=Flags(**flags)))


def erasure(*memory_ids: str, number: int = 1) -> Erasure:
    ids = tuple(MemoryId(one) for one in memory_ids)
    return Erasure(erasure_id=ErasureId(f"era_{number}"), memory_ids=ids, at=NOW, until=later(10))
