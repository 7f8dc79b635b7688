"""Dealing any memories from any scopes (M2, M6)."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.deal import archived_for_room, deal, newest_first
from souvenance.domain.ids import BotId, MemoryId
from souvenance.domain.memory import Memory, Scope

START = datetime(2026, 1, 1, tzinfo=UTC)

Hands = list[tuple[Scope, list[Memory]]]


def memory(scope: Scope, number: int, hour: int, *, pinned: bool = False) -> Memory:
    """Its place in the owner's order has nothing to do with its hour: clocks may go backwards."""
    at = START + timedelta(hours=hour)
    return Memory(
        memory_id=MemoryId(f"mem_{scope.ref[4:]}x{number}"),
        scope=scope,
        text="",
        pinned=pinned,
        created_at=START,
        updated_at=at,
        place=number,
        updated_place=number * 7 % 101,
    )


@st.composite
def hands(draw: st.DrawFn) -> Hands:
    drawn = draw(st.lists(st.lists(st.integers(0, 5), max_size=12), max_size=5))
    scopes = [Scope.of_bot(BotId(f"bot_{number}")) for number in range(len(drawn))]
    return [
        (scope, [memory(scope, number, hour) for number, hour in enumerate(hours)])
        for scope, hours in zip(scopes, drawn, strict=True)
    ]


@given(scopes=hands(), most=st.integers(0, 70))
def test_as_many_as_may_be_are_dealt_and_none_twice(scopes: Hands, most: int) -> None:
    dealt = deal(scopes, most=most)
    assert len(dealt) == min(most, sum(len(memories) for _, memories in scopes))
    assert len({each.memory_id for each in dealt}) == len(dealt)


@given(scopes=hands(), most=st.integers(0, 70))
def test_every_scope_gives_its_newest(scopes: Hands, most: int) -> None:
    dealt = deal(scopes, most=most)
    for scope, memories in scopes:
        given_here = [each for each in dealt if each.scope == scope]
        assert given_here == newest_first(memories)[: len(given_here)]


@given(scopes=hands(), most=st.integers(0, 70))
def test_no_scope_gets_two_more_than_another_that_has_some_left(scopes: Hands, most: int) -> None:
    dealt = Counter(each.scope for each in deal(scopes, most=most))
    for scope, memories in scopes:
        if dealt[scope] < len(memories):
            assert all(count <= dealt[scope] + 1 for count in dealt.values())


@given(scopes=hands(), most=st.integers(0, 70), data=st.data())
def test_the_order_in_which_memories_were_read_does_not_matter(scopes: Hands, most: int, data: st.DataObject) -> None:
    shuffled = [(scope, data.draw(st.permutations(memories))) for scope, memories in scopes]
    assert deal(shuffled, most=most) == deal(scopes, most=most)


@given(scopes=hands(), most=st.integers(0, 70))
def test_a_smaller_number_gives_the_beginning(scopes: Hands, most: int) -> None:
    assert deal(scopes, most=most) == deal(scopes, most=1_000)[:most]


@given(hours=st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=30), room=st.integers(0, 20))
def test_room_holds_exactly_the_newest(hours: list[tuple[int, bool]], room: int) -> None:
    scope = Scope.of_bot(BotId("bot_1"))
    memories = [memory(scope, number, hour, pinned=pinned) for number, (hour, pinned) in enumerate(hours)]
    archived = archived_for_room(memories, room=room)
    unpinned = [each for each in memories if not each.pinned]
    assert len(archived) == max(0, len(unpinned) - room)
    inside = [each for each in unpinned if each not in archived]
    assert all(kept.updated_place > out.updated_place for kept in inside for out in archived)
