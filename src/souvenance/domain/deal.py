"""Which memories a turn gets when there are more than it takes (M2, M6, M7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from souvenance.domain.ids import MemoryId
from souvenance.domain.limits import Limits
from souvenance.domain.memory import Memory, MemoryState, Scope


def newest_first(memories: Iterable[Memory]) -> list[Memory]:
    """By last update, the newest first, as the store reads them."""
    return sorted(memories, key=lambda memory: memory.updated_place, reverse=True)


def deal(scopes: Sequence[tuple[Scope, Sequence[Memory]]], *, most: int) -> tuple[Memory, ...]:
    """At most `most` memories, dealt in turn from `scopes` in the order given, each giving its newest; none twice.

    The scopes stand as M6 names them: the speaker's, the account's, the other members'; their memories are those that
    may be dealt, in any order. The result is in the order of dealing, so a smaller `most` gives its beginning.
    """
    hands = [iter(newest_first(memories)) for _, memories in scopes]
    dealt: dict[MemoryId, Memory] = {}
    while hands:
        hands = [hand for hand in hands if _gives(hand, dealt, most)]
    return tuple(dealt.values())


def is_recent(memory: Memory, now: datetime, limits: Limits) -> bool:
    """M6: whether a memory was updated within the last seven days, to the second."""
    return now - memory.updated_at <= timedelta(days=limits.recent_days)


def archived_for_room(memories: Iterable[Memory], *, room: int) -> tuple[Memory, ...]:
    """M2: of the memories of one scope the unpinned ones beyond `room`, those updated longest ago; newest first.

    Whether one is archived for room is only its rank: what was archived by hand or is not live takes no room. A
    notebook's scope has no such room, so nobody asks this about it.
    """
    ranked = newest_first(
        memory for memory in memories if memory.state is MemoryState.LIVE and not memory.pinned and not memory.archived
    )
    return tuple(ranked[room:])


def _gives(hand: Iterator[Memory], dealt: dict[MemoryId, Memory], most: int) -> bool:
    """Deal the next of this scope that was not dealt before; False when it has no more or `most` is reached."""
    given = next((memory for memory in hand if memory.memory_id not in dealt), None)
    if given is None or len(dealt) >= most:
        return False
    dealt[given.memory_id] = given
    return True
