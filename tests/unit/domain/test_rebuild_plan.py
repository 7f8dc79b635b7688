"""S7: what a rebuild does step by step, and its cost reckoned beforehand, over sizes of all kinds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.ids import ConversationId, NodeId
from souvenance.domain.limits import Level, Limits
from souvenance.domain.rebuild_plan import Cost, Expected, Planned, Questions, answer_tokens, cost_of_rebuild
from souvenance.domain.rebuild_step import Site, next_of_rebuild
from souvenance.domain.summary import Node, Tier
from souvenance.domain.tiers import Condense, Fold, Merge, Rest, Summarise
from souvenance.domain.window import Bounds, TurnSize, batch_bounds, bounds

LIMITS = Limits()
WINDOW = bounds(Level.BALANCED, LIMITS, 128_000)
AT = datetime(2026, 1, 1, tzinfo=UTC)
ASKED = Questions(summarise=1_000, merge=800, condense=700, line=20, rule=8, room=100_000)
EXPECTED = Expected(recent=400, merged=0.5, long_term=0.9, shown=2)


def turns_of(tokens: list[int]) -> list[TurnSize]:
    return [TurnSize(position=at, messages=2, tokens=size) for at, size in enumerate(tokens)]


def planned(turns: list[TurnSize], *, window: Bounds = WINDOW, questions: Questions = ASKED) -> Planned:
    return Planned(
        turns=turns, raw=1, rules=(), level=Level.BALANCED, window=window, questions=questions, expected=EXPECTED
    )


def node(tier: Tier, first: int, last: int, *, number: int = 0, tokens: int = 0, under: tuple[Node, ...] = ()) -> Node:
    return Node(
        node_id=NodeId(f"nod_{tier}{first}x{last}x{number}"),
        conversation_id=ConversationId("cnv_1"),
        tier=tier,
        first=first,
        last=last,
        level=Level.BALANCED,
        model="m",
        prompt_version="1",
        made_at=AT,
        tokens=tokens,
        children=tuple(one.node_id for one in under),
    )


def built(turns: list[TurnSize], made: list[Node]) -> list[Node]:
    """All nodes once every step was done from these on."""
    made = list(made)
    while True:
        site = Site(nodes=made, turns=turns, level=Level.BALANCED, window=WINDOW)
        match next_of_rebuild(site, LIMITS):
            case Rest():
                return made
            case Summarise(first=first, last=last):
                made.append(node(Tier.RECENT, first, last, number=len(made)))
            case Merge(nodes=under):
                made.append(node(Tier.MERGED, under[0].first, under[-1].last, number=len(made), under=under))
            case Fold(nodes=under):
                made.append(node(Tier.LONG_TERM, under[0].first, under[-1].last, number=len(made), under=under))
            case Condense(node=long):
                made.append(node(Tier.LONG_TERM, long.first, long.last, number=len(made), under=(long,)))


SIZES = st.lists(st.integers(min_value=1, max_value=6_000), min_size=1, max_size=200)


@given(SIZES)
def test_s7_as_many_steps_are_reckoned_as_are_then_done(tokens: list[int]) -> None:
    turns = turns_of(tokens)
    assert cost_of_rebuild(planned(turns), LIMITS).steps == len(built(turns, []))


@given(SIZES)
def test_s2_every_turn_stands_in_one_recent_node_and_batches_are_within_w6(tokens: list[int]) -> None:
    turns = turns_of(tokens)
    recent = [one for one in built(turns, []) if one.tier is Tier.RECENT]
    assert [at for one in recent for at in range(one.first, one.last + 1)] == [turn.position for turn in turns]
    most = batch_bounds(WINDOW, LIMITS)
    for one in recent:
        batch = turns[one.first : one.last + 1]
        whole = most.hold(tokens=sum(t.tokens for t in batch), messages=sum(t.messages for t in batch))
        assert whole or len(batch) == 1


@given(SIZES, st.data())
def test_s7_what_a_change_touches_is_made_anew_and_nothing_else(tokens: list[int], data: st.DataObject) -> None:
    turns = turns_of(tokens)
    before = built(turns, [])
    at = data.draw(st.integers(min_value=0, max_value=len(turns) - 1))
    stand = [one for one in before if not one.first <= at <= one.last]
    after = built(turns, stand)
    assert after[: len(stand)] == stand
    assert sorted((one.tier, one.first, one.last) for one in after) == sorted(
        (one.tier, one.first, one.last) for one in before
    )


@given(SIZES, st.data())
def test_t7_turns_that_are_deleted_in_the_midst_leave_a_whole_summary(tokens: list[int], data: st.DataObject) -> None:
    turns = turns_of(tokens)
    gone = data.draw(st.sets(st.integers(min_value=0, max_value=len(turns) - 1)))
    stand = [one for one in built(turns, []) if not any(one.first <= at <= one.last for at in gone)]
    left = [turn for turn in turns if turn.position not in gone]
    recent = [one for one in built(left, stand) if one.tier is Tier.RECENT]
    for turn in left:
        assert sum(one.first <= turn.position <= one.last for one in recent) == 1


def test_s5_the_long_term_text_is_condensed_once_it_is_past_its_bound() -> None:
    turns = turns_of([100] * 40)
    long = node(Tier.LONG_TERM, 0, 39, tokens=10_001)
    site = Site(nodes=[long], turns=turns, level=Level.BALANCED, window=WINDOW)
    assert next_of_rebuild(site, LIMITS) == Condense(node=long)
    shorter = node(Tier.LONG_TERM, 0, 39, number=1, tokens=8_000, under=(long,))
    assert isinstance(next_of_rebuild(replace(site, nodes=[long, shorter]), LIMITS), Rest)


def test_s7_ten_thousand_messages_are_reckoned_in_one_go() -> None:
    cost = cost_of_rebuild(planned(turns_of([150] * 5_000)), LIMITS)
    recent, merged, folds = 1_000, 250, 62
    assert cost.steps >= recent + merged + folds
    words = 5_000 * 150 + 10_000 * ASKED.line
    assert cost.tokens_in > words + recent * ASKED.summarise + (merged + folds) * ASKED.merge


@pytest.mark.parametrize("room", [100_000, 5_000])
def test_s7_a_question_that_the_model_cannot_take_costs_nothing(room: int) -> None:
    cost = cost_of_rebuild(planned(turns_of([50_000]), questions=replace(ASKED, room=room)), LIMITS)
    asked = Cost(steps=1, tokens_in=51_040, tokens_out=answer_tokens(600, LIMITS))
    assert cost == (asked if room > 50_000 else Cost(steps=1))
