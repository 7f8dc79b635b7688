"""The window's start under any series of turns, levels and nodes (W1–W6)."""

from __future__ import annotations

from itertools import accumulate, pairwise

from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.limits import Level, Limits
from souvenance.domain.window import Bounds, TurnSize, advance, batch_bounds, bounds, compaction_due, next_batch

LIMITS = Limits()

sizes = st.tuples(st.integers(1, 6), st.one_of(st.integers(0, 400), st.integers(0, 9_000)), st.booleans())
windows = st.builds(bounds, st.sampled_from(Level), st.just(LIMITS), st.integers(4_000, 200_000))
models = st.integers(500, 40_000)


@st.composite
def lines(draw: st.DrawFn, *, covers: bool = True) -> list[TurnSize]:
    first = draw(st.integers(0, 1_000))
    drawn = draw(st.lists(sizes, min_size=1, max_size=90))
    return [
        TurnSize(position=first + index, messages=messages, tokens=tokens, covered=covers and covered)
        for index, (messages, tokens, covered) in enumerate(drawn)
    ]


def load(turns: list[TurnSize]) -> tuple[int, int]:
    return sum(turn.tokens for turn in turns), sum(turn.messages for turn in turns)


def within(turns: list[TurnSize], most: Bounds) -> bool:
    tokens, messages = load(turns)
    return tokens <= most.tokens and messages <= most.messages


def lagging(window: Bounds, most_tokens: int) -> Bounds:
    return Bounds(tokens=min(window.tokens * 3 // 2, most_tokens), messages=window.messages * 3 // 2)


def kept_for_the_newest(turns: list[TurnSize], most_tokens: int) -> int:
    """The newest start that W5 allows."""
    if len(turns) > 1 and turns[-1].tokens + turns[-2].tokens <= most_tokens:
        return turns[-2].position
    return turns[-1].position


@given(turns=lines(), window=windows, most_tokens=models)
def test_the_start_is_a_turn_of_the_line_and_never_past_what_w5_keeps(
    turns: list[TurnSize], window: Bounds, most_tokens: int
) -> None:
    move = advance(turns, window, LIMITS, most_tokens=most_tokens)
    assert turns[0].position <= move.start <= kept_for_the_newest(turns, most_tokens)
    assert move.moved == (move.start > turns[0].position)
    assert move == advance(list(turns), window, LIMITS, most_tokens=most_tokens)


@given(turns=lines(), window=windows, most_tokens=models)
def test_after_a_move_the_window_is_within_w4_unless_w5_keeps_more(
    turns: list[TurnSize], window: Bounds, most_tokens: int
) -> None:
    move = advance(turns, window, LIMITS, most_tokens=most_tokens)
    left = [turn for turn in turns if turn.position >= move.start]
    assert within(left, lagging(window, most_tokens)) or move.start == kept_for_the_newest(turns, most_tokens)


@given(turns=lines(), window=windows, most_tokens=models)
def test_a_move_is_settled_and_counts_what_left_without_a_node(
    turns: list[TurnSize], window: Bounds, most_tokens: int
) -> None:
    move = advance(turns, window, LIMITS, most_tokens=most_tokens)
    gone = [turn for turn in turns if turn.position < move.start]
    assert move.waiting == sum(turn.messages for turn in gone if not turn.covered)
    again = advance(turns[len(gone) :], window, LIMITS, most_tokens=most_tokens)
    assert (again.start, again.waiting, again.moved) == (move.start, 0, False)


@given(turns=lines(covers=False), window=windows, most_tokens=models)
def test_nothing_waits_while_the_window_is_within_w4(turns: list[TurnSize], window: Bounds, most_tokens: int) -> None:
    move = advance(turns, window, LIMITS, most_tokens=most_tokens)
    assert move.moved == (
        not within(turns, lagging(window, most_tokens)) and turns[0].position < kept_for_the_newest(turns, most_tokens)
    )


@given(turns=lines(covers=False), window=windows, most_tokens=models)
def test_no_more_leaves_than_the_last_batch_makes_necessary(
    turns: list[TurnSize], window: Bounds, most_tokens: int
) -> None:
    move = advance(turns, window, LIMITS, most_tokens=most_tokens)
    if not move.moved:
        return
    gone = move.start - turns[0].position
    batch = batch_bounds(window, LIMITS)
    starts = [index for index in range(gone) if index == gone - 1 or within(turns[index:gone], batch)]
    assert any(not within(turns[index:], lagging(window, most_tokens)) for index in starts)


@given(turns=lines(covers=False), levels=st.lists(st.sampled_from(Level), min_size=1, max_size=90), context=models)
def test_the_start_only_goes_forward_as_turns_come_and_levels_change(
    turns: list[TurnSize], levels: list[Level], context: int
) -> None:
    starts = [turns[0].position]
    for count in range(1, len(turns) + 1):
        window = bounds(levels[count % len(levels)], LIMITS, context * 4)
        line = [turn for turn in turns[:count] if turn.position >= starts[-1]]
        starts.append(advance(line, window, LIMITS, most_tokens=context).start)
    assert starts == list(accumulate(starts, max))


@given(messages=st.integers(1, 2), tokens=st.integers(0, 60), level=st.sampled_from(Level))
def test_with_turns_smaller_than_a_batch_the_start_moves_once_a_batch(messages: int, tokens: int, level: Level) -> None:
    window = bounds(level, LIMITS, 1_000_000)
    starts = [0]
    for newest in range(200):
        line = [TurnSize(position=p, messages=messages, tokens=tokens) for p in range(starts[-1], newest + 1)]
        starts.append(advance(line, window, LIMITS, most_tokens=1_000_000).start)
    steps = [after - before for before, after in pairwise(starts) if after > before]
    assert steps, "200 turns fill every level's window"
    assert set(steps) == {batch_bounds(window, LIMITS).messages // messages}


@given(turns=lines(), window=windows)
def test_a_compaction_ends_within_three_quarters_or_at_the_newest_two_turns(
    turns: list[TurnSize], window: Bounds
) -> None:
    line = list(turns)
    while batch := next_batch(line, window, LIMITS):
        chosen = [turn for turn in line if turn.position in batch]
        assert not any(turn.covered for turn in chosen)
        assert len(chosen) == 1 or within(chosen, batch_bounds(window, LIMITS))
        line = [
            TurnSize(
                position=t.position, messages=t.messages, tokens=t.tokens, covered=t.covered or t.position in batch
            )
            for t in line
        ]
    start = next((index for index, turn in enumerate(line) if not turn.covered), len(line))
    three_quarters = Bounds(tokens=window.tokens * 3 // 4, messages=window.messages * 3 // 4)
    assert start >= len(line) - 2 or within(line[start:], three_quarters)
    assert not compaction_due(line, window, LIMITS)
