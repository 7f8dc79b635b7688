"""Of memories that say the same exactly one stands, whatever led there (M10, T5)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.equals import identity, leaves, settled
from souvenance.domain.ids import BotId, MemoryId
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory, MemoryState, Scope

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_SCOPES = st.sampled_from([ACCOUNT_SCOPE, Scope.of_bot(BotId("bot_1"))])
_STATES = st.sampled_from([MemoryState.LIVE, MemoryState.SHADOWED])
_SAID = st.sampled_from(
    [
        ("Likes tea", None, ""),
        ("likes TEA.", None, ""),
        ("likes tea", None, "Ann"),
        ("Likes tea", None, "ann"),
        ("Likes rum", None, ""),
        ("x", "Tea", ""),
        ("y", "Tea", "Ann"),
    ]
)


@st.composite
def memories(draw: st.DrawFn) -> list[Memory]:
    drawn = draw(st.lists(st.tuples(_SAID, _SCOPES, _STATES, st.booleans()), max_size=10))
    return [
        Memory(
            memory_id=MemoryId(f"mem_{place}"),
            scope=scope,
            text=text,
            key=key,
            subject=subject,
            pinned=pinned,
            created_at=_NOW,
            updated_at=_NOW,
            place=place,
            state=state,
        )
        for place, ((text, key, subject), scope, state, pinned) in enumerate(drawn, start=1)
    ]


def after(found: list[Memory]) -> dict[MemoryId, Memory]:
    return {one.memory_id: one for one in [*found, *settled(found)]}


@given(memories())
def test_one_of_each_identity_is_live_the_pinned_or_else_the_first(found: list[Memory]) -> None:
    now = after(found).values()
    live = Counter(identity(one) for one in now if one.state is MemoryState.LIVE)
    assert live == Counter({identity(one) for one in found})
    for one in now:
        rivals = [other for other in now if identity(other) == identity(one)]
        first = min(rivals, key=lambda other: (not other.pinned, other.place))
        assert (one.state is MemoryState.LIVE) == (one == first)


@given(memories(), st.randoms(use_true_random=False))
def test_neither_their_order_nor_their_states_before_matter(found: list[Memory], random: Random) -> None:
    others = [replace(one, state=random.choice([MemoryState.LIVE, MemoryState.SHADOWED])) for one in found]
    random.shuffle(others)
    assert after(found) == after(others)


@given(memories())
def test_what_is_settled_needs_no_change_and_is_hidden_before_another_is_shown(found: list[Memory]) -> None:
    assert settled(after(found).values()) == []
    states = [one.state for one in settled(found)]
    assert states == sorted(states, key=lambda state: state is MemoryState.LIVE)


@given(memories())
def test_a_memory_leaves_its_equals_by_any_change_of_what_it_says_or_whether_it_stands(found: list[Memory]) -> None:
    for one in found:
        live = replace(one, state=MemoryState.LIVE)
        assert not leaves(live, replace(live, archived=True, confidence=0.1, pinned=True))
        assert leaves(live, replace(live, state=MemoryState.DELETED))
        assert leaves(live, replace(live, text="Hates tea", key=None))
        assert leaves(replace(live, pinned=True), replace(live, pinned=False))
