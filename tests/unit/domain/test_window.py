"""The window's figures, as the specification gives them (W1–W6)."""

from __future__ import annotations

import pytest

from souvenance.domain.limits import Level, Limits
from souvenance.domain.window import (
    Bounds,
    TurnSize,
    advance,
    batch_bounds,
    begin,
    bounds,
    compaction_due,
    drop,
    next_batch,
)

LIMITS = Limits()
BALANCED = Bounds(tokens=10_000, messages=50)
LARGE = 1_000_000


def turns(count: int, *, tokens: int = 100, first: int = 0, covered: int = 0) -> list[TurnSize]:
    return [
        TurnSize(position=first + index, messages=2, tokens=tokens, covered=index < covered) for index in range(count)
    ]


@pytest.mark.parametrize(
    ("level", "tokens", "messages"),
    [(Level.KEY_EVENTS, 6_000, 30), (Level.BALANCED, 10_000, 50), (Level.DETAILED, 16_000, 80)],
)
def test_each_level_has_its_figures_and_a_bigger_model_never_widens_them(
    level: Level, tokens: int, messages: int
) -> None:
    assert bounds(level, LIMITS, 64_000) == Bounds(tokens=tokens, messages=messages)
    assert bounds(level, LIMITS, 2_000_000) == Bounds(tokens=tokens, messages=messages)


def test_the_window_takes_at_most_a_quarter_of_a_small_models_context() -> None:
    assert bounds(Level.DETAILED, LIMITS, 8_192) == Bounds(tokens=2_048, messages=80)
    assert bounds(Level.BALANCED, LIMITS, 39_999).tokens == 9_999


@pytest.mark.parametrize(("level", "messages"), [(Level.KEY_EVENTS, 6), (Level.BALANCED, 10), (Level.DETAILED, 10)])
def test_a_batch_is_a_fifth_of_the_messages_and_at_most_ten(level: Level, messages: int) -> None:
    window = bounds(level, LIMITS, LARGE)
    assert batch_bounds(window, LIMITS) == Bounds(tokens=window.tokens // 5, messages=messages)


def test_an_uncovered_window_fills_to_half_as_much_again() -> None:
    assert not advance(turns(37), BALANCED, LIMITS, most_tokens=LARGE).moved
    assert not advance(turns(10, tokens=1_500), BALANCED, LIMITS, most_tokens=LARGE).moved


def test_o4_where_nothing_is_summarised_the_window_holds_w1_exactly_and_its_start_moves_in_batches() -> None:
    starts = [drop(turns(count), BALANCED, LIMITS, most_tokens=LARGE) for count in (25, 26, 30, 31, 36)]
    assert starts == [0, 5, 5, 10, 15]
    starts = [drop(turns(count, tokens=1_000), BALANCED, LIMITS, most_tokens=LARGE) for count in (10, 11, 13)]
    assert starts == [0, 2, 4]


def test_o4_w5_the_newest_two_turns_are_never_dropped_while_they_fit() -> None:
    assert drop(turns(9, tokens=20_000), BALANCED, LIMITS, most_tokens=LARGE) == 7
    assert drop(turns(9, tokens=20_000), BALANCED, LIMITS, most_tokens=30_000) == 8


def test_past_half_as_much_again_one_batch_of_whole_turns_waits() -> None:
    move = advance(turns(38, first=12), BALANCED, LIMITS, most_tokens=LARGE)
    assert (move.start, move.waiting, move.moved) == (17, 10, True)


def test_a_batch_ends_where_its_tokens_would_pass_a_fifth() -> None:
    move = advance(turns(21, tokens=800), BALANCED, LIMITS, most_tokens=LARGE)
    assert (move.start, move.waiting) == (4, 8), "16,800 tokens need two batches of two turns (1,600 ≤ 2,000 < 2,400)"


def test_a_single_turn_larger_than_a_batch_leaves_whole() -> None:
    move = advance(turns(6, tokens=3_000), BALANCED, LIMITS, most_tokens=LARGE)
    assert (move.start, move.waiting) == (1, 2)


def test_the_window_never_fills_past_what_the_model_takes() -> None:
    assert advance(turns(12, tokens=1_000), BALANCED, LIMITS, most_tokens=LARGE).start == 0
    assert advance(turns(12, tokens=1_000), BALANCED, LIMITS, most_tokens=11_000).start == 2


def test_covered_turns_leave_at_once_and_do_not_wait() -> None:
    move = advance(turns(20, covered=5), BALANCED, LIMITS, most_tokens=LARGE)
    assert (move.start, move.waiting, move.moved) == (5, 0, True)


def test_covered_turns_after_a_batch_that_waits_leave_with_it() -> None:
    line = [TurnSize(position=t.position, messages=2, tokens=100, covered=3 <= t.position < 8) for t in turns(38)]
    move = advance(line, BALANCED, LIMITS, most_tokens=LARGE)
    assert (move.start, move.waiting) == (8, 6)


def test_the_newest_two_turns_stay_whatever_the_level_says() -> None:
    line = turns(3, tokens=20_000)
    assert advance(line, BALANCED, LIMITS, most_tokens=40_000).start == 1


def test_the_turn_before_the_newest_goes_when_the_model_cannot_take_both() -> None:
    line = turns(3, tokens=20_000)
    assert advance(line, BALANCED, LIMITS, most_tokens=39_999).start == 2
    assert advance(line, BALANCED, LIMITS, most_tokens=1).start == 2


def test_the_newest_two_turns_stay_even_when_covered() -> None:
    assert advance(turns(4, covered=4), BALANCED, LIMITS, most_tokens=LARGE).start == 2


def test_a_smaller_level_moves_the_start_forward_and_a_larger_one_never_back() -> None:
    line = turns(37)
    smaller = advance(line, bounds(Level.KEY_EVENTS, LIMITS, LARGE), LIMITS, most_tokens=LARGE)
    assert (smaller.start, smaller.waiting) == (15, 30), "74 messages to at most 45 by batches of 6"
    larger = advance(line[15:], bounds(Level.DETAILED, LIMITS, LARGE), LIMITS, most_tokens=LARGE)
    assert (larger.start, larger.moved) == (15, False)


def test_compaction_is_due_when_less_than_one_batch_of_room_is_left() -> None:
    assert not compaction_due(turns(20), BALANCED, LIMITS), "40 of 50 messages leave a batch of 10"
    assert compaction_due(turns(21), BALANCED, LIMITS)
    assert not compaction_due(turns(8, tokens=1_000), BALANCED, LIMITS)
    assert compaction_due([*turns(8, tokens=1_000), *turns(1, tokens=1, first=8)], BALANCED, LIMITS)


def test_what_a_node_covers_makes_no_compaction_due() -> None:
    assert not compaction_due(turns(25, covered=5), BALANCED, LIMITS)


def test_two_large_turns_are_never_compacted() -> None:
    assert not compaction_due(turns(2, tokens=20_000), BALANCED, LIMITS)
    assert next_batch(turns(2, tokens=20_000), BALANCED, LIMITS) == range(0)


def test_a_batch_never_reaches_the_newest_two_turns() -> None:
    line = [TurnSize(position=p, messages=2, tokens=tokens) for p, tokens in enumerate([1_900, 100, 9_000])]
    assert next_batch(line, BALANCED, LIMITS) == range(1)


def test_a_compaction_takes_the_oldest_batch_and_stops_at_three_quarters() -> None:
    assert next_batch(turns(21, first=4), BALANCED, LIMITS) == range(4, 9)
    assert next_batch(turns(21, covered=2), BALANCED, LIMITS) == range(2, 7), "38 of 50 messages are over 37"
    assert not next_batch(turns(21, covered=3), BALANCED, LIMITS)


def test_w6_a_window_that_begins_anew_is_filled_to_three_quarters_with_the_newest_turns() -> None:
    assert begin(turns(40), BALANCED, LIMITS) == 40 - 18
    assert begin(turns(40, tokens=1_000), BALANCED, LIMITS) == 40 - 7
    assert begin(turns(3, first=9), BALANCED, LIMITS) == 9
    assert begin(turns(3, tokens=20_000), BALANCED, LIMITS) == 2
