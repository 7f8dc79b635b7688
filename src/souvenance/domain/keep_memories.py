"""What becomes of a bot's memories when the bot goes and they stay: they are the account's (M8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from souvenance.domain.journal import Actor, Archive, Content, Intent, Move, Operation, Update, apply
from souvenance.domain.limits import Limits
from souvenance.domain.memory import ACCOUNT_SCOPE, Evidence, Memory, MemoryState


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A memory as it becomes, and the operations that make it so."""

    before: Memory
    memory: Memory
    operations: tuple[Operation, ...]


def intents_of_move(memory: Memory, at: datetime) -> tuple[Intent, ...]:
    """A notebook's live entry becomes a free text before it moves, and stays archived if it was; what is out of sight
    moves as it is.
    """
    move = Move(scope=ACCOUNT_SCOPE)
    if memory.key is None or memory.state is not MemoryState.LIVE:
        return (move,)
    content = Content(
        text=f"{memory.key}: {memory.text}",
        subject=memory.subject,
        confidence=memory.confidence,
        origin=memory.origin,
        language=memory.language,
        sensitive=memory.sensitive,
        evidence=(Evidence(at=at),),
    )
    return (Update(content=content), *((Archive(),) if memory.archived else ()), move)


def moved(memories: Iterable[tuple[Memory, Sequence[Intent]]], *, first_place: int, at: datetime) -> list[Kept]:
    """Every memory as its intents make it, a person's, in this order from `first_place` on; same ids, pins, journal."""
    kept: list[Kept] = []
    place = first_place
    for memory, intents in memories:
        became, operations = memory, []
        for intent in intents:
            operation = Operation(
                place=place, memory_id=memory.memory_id, scope=became.scope, actor=Actor.PERSON, intent=intent, at=at
            )
            after = apply(became, operation)
            assert after is not None, "it is done to one that is there"
            became, place = after, place + 1
            operations.append(operation)
        kept.append(Kept(before=memory, memory=replace(became, state=memory.state), operations=tuple(operations)))
    return kept


def is_oversized(memory: Memory, limits: Limits) -> bool:
    """Whether a free text is longer than M3 lets one be, as what a notebook's entry became may be."""
    return memory.key is None and len(memory.text) > limits.memory_characters
