"""Forget what was drawn only from words that are gone: nothing can let it stand again (T2, T7, D1, M14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from souvenance.domain.ids import MessageId
from souvenance.domain.journal import Operation, fold, says_nothing, texts_of
from souvenance.domain.memory import Memory
from souvenance.ports.store import Unit


def forget_dead(unit: Unit, origins: Sequence[MessageId]) -> None:
    """Remove the operations of messages that are gone, once they are settled; a memory of which nothing is left that
    says something goes too, without a tombstone: nobody erased it, and told again it is stored again.
    """
    thinned = unit.journal.forget_dead(origins)
    left = unit.journal.of_memories(thinned)
    unit.erasures.forget([memory_id for memory_id in thinned if says_nothing(left.get(memory_id, ()))])
    for memory in unit.memories.many(thinned):
        _let_say(unit, memory, left[memory.memory_id])


def _let_say(unit: Unit, memory: Memory, operations: Sequence[Operation]) -> None:
    """A memory of which nothing stands keeps the words it had last; when these are forgotten, those that may return."""
    if memory.text in texts_of(operations):
        return
    returns = fold(replace(one, revoked=False) for one in operations)
    if returns is not None:
        unit.memories.save(replace(returns, state=memory.state))
