"""Memories of one scope that say the same: one stands for all of them, the others are out of sight behind it (M10).

An undo can bring one back beside another. Which one stands is derived from what there is, never from the way that led
there, so that undo stays exact (T5).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from souvenance.domain.memory import Memory, MemoryState, Scope
from souvenance.domain.text import fold

Identity: TypeAlias = tuple[Scope, str]
"""Scope, and what makes two of its memories the same one."""


def words_of(*, text: str, key: str | None, subject: str = "") -> str:
    """What two memories of a scope share when they are the same one: the exact key, else the folded text and whom it is
    about, folded too ("" is the user, M4).
    """
    if key is not None:
        return f"k:{key}"
    # No folded text has a line break, so that no words pose as a subject.
    return f"s:{fold(subject)}\n{fold(text)}" if subject else f"t:{fold(text)}"


def identity(memory: Memory) -> Identity:
    return memory.scope, words_of(text=memory.text, key=memory.key, subject=memory.subject)


def settled(memories: Iterable[Memory]) -> list[Memory]:
    """Those of these live and shadowed memories whose state must change, as they must become; LIVE ones come last.

    Of each identity the pinned one, else the one stored first, is live; the others are shadowed.
    """
    groups: defaultdict[Identity, list[Memory]] = defaultdict(list)
    for memory in memories:
        groups[identity(memory)].append(memory)
    changed: list[Memory] = []
    for group in groups.values():
        first, *others = sorted(group, key=lambda memory: (not memory.pinned, memory.place, memory.memory_id))
        wanted = [*(replace(other, state=MemoryState.SHADOWED) for other in others), _live(first)]
        changed += [memory for memory in wanted if memory not in group]
    return sorted(changed, key=lambda memory: memory.state is MemoryState.LIVE)


def leaves(before: Memory, after: Memory) -> bool:
    """Whether another one may have to stand for its equals now: it is no longer live, says something else, is
    elsewhere, or lost the pin that put it first.
    """
    return after.state is not MemoryState.LIVE or identity(after) != identity(before) or before.pinned > after.pinned


def _live(memory: Memory) -> Memory:
    return replace(memory, state=MemoryState.LIVE)
