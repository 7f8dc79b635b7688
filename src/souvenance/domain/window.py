"""The live window: which turns are sent word for word, and in what steps the oldest leave (W1–W6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from souvenance.domain.limits import Level, Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSize:
    """A turn's chosen messages and their corrected tokens; `covered` says that a stored summary node stands for it."""

    position: int
    messages: int
    tokens: int
    covered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much may stand in a window, or leave it in one batch: neither figure may be passed."""

    tokens: int
    messages: int

    def hold(self, *, tokens: int, messages: int) -> bool:
        return tokens <= self.tokens and messages <= self.messages


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowMove:
    """Where the window starts now; `waiting` are the messages that left it in this move without a node (W4, S6)."""

    start: int
    waiting: int
    moved: bool


def bounds(level: Level, limits: Limits, context: int) -> Bounds:
    """W1: the level's figures, its tokens also at most a quarter of the model's `context` (tokens)."""
    return Bounds(
        tokens=min(limits.window_tokens(level), int(context * limits.window_share)),
        messages=limits.window_messages(level),
    )


def batch_bounds(window: Bounds, limits: Limits) -> Bounds:
    """W6: the largest batch. Where messages and tokens differ the smaller batch holds, so a step is never more than a
    fifth of the window by either measure; only a single turn may be larger than a batch.
    """
    return Bounds(
        tokens=int(window.tokens * limits.batch_share),
        messages=min(int(window.messages * limits.batch_share), limits.batch_messages),
    )


def advance(turns: Sequence[TurnSize], window: Bounds, limits: Limits, *, most_tokens: int) -> WindowMove:
    """Where the window starts once its oldest turns have left.

    `turns` are all from the present start on, at least one, the newest last; an open newest turn counts. `most_tokens`
    is what the model takes of the window. Turns that a node covers leave at once. The others may fill the window to
    half as much again (W4); past that they leave in batches, until the window is within it or down to W5.
    """
    batch = batch_bounds(window, limits)
    kept = _first_kept(turns, most_tokens)
    enough = min(kept, _first_within(turns, _lagging(window, limits, most_tokens)))
    first = _past_covered(turns, 0, kept)
    while first < enough:
        first = _past_covered(turns, _past_batch(turns, first, kept, batch), kept)
    return WindowMove(
        start=turns[first].position,
        waiting=sum(turn.messages for turn in turns[:first] if not turn.covered),
        moved=first > 0,
    )


def drop(turns: Sequence[TurnSize], window: Bounds, limits: Limits, *, most_tokens: int) -> int:
    """The position of the first turn that is sent where nothing is summarised and so nothing waits (O4): W1 holds
    exactly. `turns` are all that was ever said; while they only grow, the start stays until a batch leaves (W6).
    """
    return advance(turns, window, replace(limits, lag_share=0.0), most_tokens=most_tokens).start


def compaction_due(turns: Sequence[TurnSize], window: Bounds, limits: Limits) -> bool:
    """W6: whether less than one batch of room is left and there is a turn to summarise. `turns` as for `advance`."""
    batch = batch_bounds(window, limits)
    lasting = turns[_past_covered(turns, 0, len(turns)) :]
    room = Bounds(tokens=window.tokens - batch.tokens, messages=window.messages - batch.messages)
    return not _within(lasting, room) and len(next_batch(turns, window, limits)) > 0


def room_beside(turns: Sequence[TurnSize], window: Bounds, limits: Limits) -> Bounds:
    """What may stand word for word beside these turns of the window, up to W4's half as much again."""
    most = _lagging(window, limits, window.tokens * 2)
    return Bounds(
        tokens=most.tokens - sum(turn.tokens for turn in turns),
        messages=most.messages - sum(turn.messages for turn in turns),
    )


def is_lagging(turns: Sequence[TurnSize], window: Bounds, limits: Limits) -> bool:
    """W4: whether turns wait, or will with the next batch. `turns` are all that no node covers, waiting ones too."""
    batch, most = batch_bounds(window, limits), _lagging(window, limits, window.tokens * 2)
    return not _within(turns, Bounds(tokens=most.tokens - batch.tokens, messages=most.messages - batch.messages))


def next_batch(turns: Sequence[TurnSize], window: Bounds, limits: Limits, *, window_start: int = 0) -> range:
    """The positions to summarise next, empty once the window is at three quarters of W1 (W6) and no turn waits before
    `window_start` (W4). `turns` as for `advance`.

    A compaction begins when it is due and goes on until this is empty. The newest two turns stay for W5.
    """
    last = max(0, len(turns) - 2)
    first = _past_covered(turns, 0, last)
    if first == last:
        return range(0)
    if turns[first].position >= window_start and _within(turns[first:], _at_rest(window, limits)):
        return range(0)
    after = _past_batch(turns, first, last, batch_bounds(window, limits))
    return range(turns[first].position, turns[after - 1].position + 1)


def first_batch(turns: Sequence[TurnSize], window: Bounds, limits: Limits) -> Sequence[TurnSize]:
    """The oldest of these turns, at least one, that one batch takes."""
    return turns[: _past_batch(turns, 0, len(turns), batch_bounds(window, limits))]


def begin(turns: Sequence[TurnSize], window: Bounds, limits: Limits) -> int:
    """The position at which a window begins that is filled anew, to three quarters of W1 (W6); at least the newest turn
    is in it. `turns` are the newest ones, at least one, in order.
    """
    return turns[min(_first_within(turns, _at_rest(window, limits)), len(turns) - 1)].position


def _at_rest(window: Bounds, limits: Limits) -> Bounds:
    """What a compaction leaves, and a window that begins anew takes (W6)."""
    return Bounds(tokens=int(window.tokens * limits.rest_share), messages=int(window.messages * limits.rest_share))


def _lagging(window: Bounds, limits: Limits, most_tokens: int) -> Bounds:
    share = 1 + limits.lag_share
    return Bounds(tokens=min(int(window.tokens * share), most_tokens), messages=int(window.messages * share))


def _first_kept(turns: Sequence[TurnSize], most_tokens: int) -> int:
    """W5: the index past which the start never goes: the newest turn's, or the one's before it when both fit."""
    newest = len(turns) - 1
    fits = sum(turn.tokens for turn in turns[-2:]) <= most_tokens
    return newest - 1 if newest > 0 and fits else newest


def _first_within(turns: Sequence[TurnSize], most: Bounds) -> int:
    """The index from which on all turns together are within `most`."""
    tokens = messages = 0
    for index in range(len(turns) - 1, -1, -1):
        tokens += turns[index].tokens
        messages += turns[index].messages
        if not most.hold(tokens=tokens, messages=messages):
            return index + 1
    return 0


def _past_covered(turns: Sequence[TurnSize], first: int, last: int) -> int:
    """The index of the first turn from `first` on that no node covers, at most `last`."""
    return next((index for index in range(first, last) if not turns[index].covered), last)


def _past_batch(turns: Sequence[TurnSize], first: int, last: int, batch: Bounds) -> int:
    """The index after one batch that begins at `first` < `last`: whole turns that no node covers, at least one."""
    after = first + 1
    while after < last and not turns[after].covered and _within(turns[first : after + 1], batch):
        after += 1
    return after


def _within(turns: Sequence[TurnSize], most: Bounds) -> bool:
    return most.hold(tokens=sum(turn.tokens for turn in turns), messages=sum(turn.messages for turn in turns))
