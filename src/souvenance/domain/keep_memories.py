"""What becomes of a bot's memories when the bot goes and they stay: they are the account's (M8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from souvenance.domain.journal import Actor, Delete, Intent, Move, Operation, apply
from souvenance.domain.limits import Limits
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory, MemoryState


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A memory as it becomes, and the operations that make it so."""

    before: Memory
    memory: Memory
    operations: tuple[Operation, ...]


def intents_of_move(memory: Memory) -> tuple[Intent, ...]:
    """An entry that stood behind another of its key has a text of its own from now on: it is deleted, to be brought
    back by whoever misses it, so that no second value comes into sight.
    """
    move = Move(scope=ACCOUNT_SCOPE)
    is_behind = memory.key is not None and memory.state is MemoryState.SHADOWED
    return (Delete(), move) if is_behind else (move,)


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
        kept.append(Kept(before=memory, memory=_out_of_sight(memory, became), operations=tuple(operations)))
    return kept


def _out_of_sight(memory: Memory, became: Memory) -> Memory:
    """As it became; whatever was out of sight stays so, in its own way."""
    return became if became.state is MemoryState.DELETED else replace(became, state=memory.state)


def is_oversized(memory: Memory, limits: Limits) -> bool:
    """Whether a free text is longer than M3 lets one be, as what a notebook's entry became may be."""
    return memory.key is None and len(memory.text) > limits.memory_characters
