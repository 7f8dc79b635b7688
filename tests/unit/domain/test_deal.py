"""Dealing memories to a turn (M2, M6, M7)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from souvenance.domain.deal import archived_for_room, deal, is_recent, newest_first
from souvenance.domain.ids import BotId, MemoryId
from souvenance.domain.limits import Limits
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory, MemoryState, Scope

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIMITS = Limits()
SPEAKER, OTHER = Scope.of_bot(BotId("bot_1")), Scope.of_bot(BotId("bot_2"))


def memory(name: str, *, scope: Scope = ACCOUNT_SCOPE, days: float = 0) -> Memory:
    """Updated so many days ago, in the owner's order too."""
    at = NOW - timedelta(days=days)
    place = 1_000_000 - int(days * 100)
    return Memory(
        memory_id=MemoryId(f"mem_{name}"),
        scope=scope,
        text=name,
        created_at=at,
        updated_at=at,
        place=1,
        updated_place=place,
    )


def line(prefix: str, count: int, scope: Scope) -> list[Memory]:
    return [memory(f"{prefix}{index}", scope=scope, days=index) for index in range(count)]


def names(memories: tuple[Memory, ...] | list[Memory]) -> list[str]:
    return [each.text for each in memories]


def test_scopes_give_in_turn_each_its_newest() -> None:
    dealt = deal(
        [
            (SPEAKER, line("s", 3, SPEAKER)),
            (ACCOUNT_SCOPE, list(reversed(line("a", 2, ACCOUNT_SCOPE)))),
            (OTHER, line("o", 1, OTHER)),
        ],
        most=100,
    )
    assert names(dealt) == ["s0", "a0", "o0", "s1", "a1", "s2"]


def test_a_companion_gets_at_most_a_hundred_half_from_each_of_two_full_scopes() -> None:
    scopes = [(SPEAKER, line("s", 100, SPEAKER)), (ACCOUNT_SCOPE, line("a", 100, ACCOUNT_SCOPE))]
    dealt = deal(scopes, most=LIMITS.unpinned_in_prompt)
    assert len(dealt) == 100
    assert sum(each.scope == SPEAKER for each in dealt) == 50


def test_what_a_small_scope_leaves_goes_to_the_others() -> None:
    scopes = [(SPEAKER, line("s", 3, SPEAKER)), (ACCOUNT_SCOPE, line("a", 100, ACCOUNT_SCOPE))]
    assert sum(each.scope == ACCOUNT_SCOPE for each in deal(scopes, most=100)) == 97


def test_a_clock_turned_back_makes_nothing_older() -> None:
    first = memory("first")
    second = replace(first, text="second", updated_at=NOW - timedelta(days=1), updated_place=first.updated_place + 1)
    assert names(newest_first([first, second])) == ["second", "first"]


def test_a_scope_named_twice_gives_no_memory_twice() -> None:
    mine = line("s", 3, SPEAKER)
    assert names(deal([(SPEAKER, mine), (SPEAKER, mine)], most=100)) == ["s0", "s1", "s2"]


def test_nothing_is_dealt_from_nothing_or_for_no_room() -> None:
    assert deal([], most=100) == ()
    assert deal([(SPEAKER, []), (OTHER, line("o", 1, OTHER))], most=0) == ()


def test_a_memory_is_recent_for_seven_days() -> None:
    assert is_recent(memory("a", days=7), NOW, LIMITS)
    assert not is_recent(memory("a", days=7.001), NOW, LIMITS)
    assert is_recent(memory("a", days=-1), NOW, LIMITS), "another machine's clock may be ahead"


def test_the_hundred_and_first_memory_is_archived_for_room() -> None:
    memories = line("a", 102, ACCOUNT_SCOPE)
    assert names(archived_for_room(memories, room=LIMITS.room_unpinned)) == ["a100", "a101"]
    assert archived_for_room(memories[:100], room=LIMITS.room_unpinned) == ()


def test_pinned_archived_and_deleted_memories_take_no_room_but_keyed_ones_do() -> None:
    memories = [
        replace(memory("keyed"), key="drink"),
        replace(memory("pinned"), pinned=True),
        replace(memory("by_hand"), archived=True),
        replace(memory("gone"), state=MemoryState.DELETED),
        memory("newer", days=1),
        memory("older", days=2),
    ]
    assert names(archived_for_room(memories, room=2)) == ["older"]


def test_an_update_brings_a_memory_back_into_room_and_moves_the_oldest_out() -> None:
    memories = line("a", 3, ACCOUNT_SCOPE)
    updated = [*memories[:2], replace(memories[2], updated_place=memories[0].updated_place + 1)]
    assert names(archived_for_room(memories, room=2)) == ["a2"]
    assert names(archived_for_room(updated, room=2)) == ["a1"]
