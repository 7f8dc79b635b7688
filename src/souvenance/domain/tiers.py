"""What a conversation's summary needs next: one step at a time, told from its nodes and turns (S1, S2, S5, W4, W6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from souvenance.domain.limits import Limits
from souvenance.domain.summary import Node, Tier
from souvenance.domain.window import Bounds, TurnSize, compaction_due, is_lagging, next_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarise:
    """Write a recent node for the turns at positions `first` to `last`."""

    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Make one merged node of these recent ones."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Make the next version of the long-term node of the one there is, if any, and these merged ones."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condense:
    """Bring the long-term node within its bound (S5)."""

    node: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """Replace what is stale in this node (S9)."""

    node: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """Nothing, and why."""

    reason: str


Step = Summarise | Merge | Fold | Condense | Refresh | Rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a conversation stands: its live nodes, oldest turns first, the sizes of the turns that none of them covers,
    and how its window is bounded; what stands before `window_start` waits. `going_on` says that a compaction has begun
    and ends only at rest (W6); `retried` that the last step failed; `rebuilding` that a rebuild runs, during which only
    what W4 forces is summarised (S7).
    """

    live: Sequence[Node]
    turns: Sequence[TurnSize]
    window: Bounds
    window_start: int = 0
    going_on: bool = True
    retried: bool = False
    rebuilding: bool = False


def next_step(now: Standing, limits: Limits) -> Step:
    """Mend first, then make room among the nodes, then summarise the next batch. After a failure the batch comes first,
    so that a node which no model can merge or mend lets no message wait (W4).
    """
    if now.rebuilding:
        return _batch(now, limits) if is_lagging(now.turns, now.window, limits) else Rest(reason="a rebuild runs")
    batch = _batch(now, limits)
    if now.retried and isinstance(batch, Summarise):
        return batch
    return _stale(now.live) or _rolled_up(now.live, limits) or batch


def _stale(live: Sequence[Node]) -> Refresh | None:
    """What a person edited is never overwritten: it waits for a decision (S9)."""
    found = next((node for node in live if node.stale and not node.edited), None)
    return None if found is None else Refresh(node=found)


def _rolled_up(live: Sequence[Node], limits: Limits) -> Condense | Fold | Merge | None:
    tiers = {tier: tuple(node for node in live if node.tier is tier) for tier in Tier}
    for node in tiers[Tier.LONG_TERM]:
        if node.tokens > limits.long_term_tokens(node.level) * limits.condense_share and not node.edited:
            return Condense(node=node)
    four = limits.nodes_merged
    merged, recent = tiers[Tier.MERGED], tiers[Tier.RECENT]
    if len(merged) >= four and _has_time_passed((*tiers[Tier.LONG_TERM], *merged[:four]), merged, limits):
        return Fold(nodes=(*tiers[Tier.LONG_TERM], *merged[:four]))
    if len(recent) >= four and _has_time_passed(recent[:four], recent, limits):
        return Merge(nodes=recent[:four])
    return None


def _has_time_passed(nodes: Sequence[Node], tier: Sequence[Node], limits: Limits) -> bool:
    """A stale node that a person edited waits for that person's decision, but not for ever: once twice as many of its
    tier stand as become one, what still holds of it is carried up, and the decision stays open (S2, S9).
    """
    return len(tier) >= 2 * limits.nodes_merged or not any(node.stale for node in nodes)


def _batch(now: Standing, limits: Limits) -> Summarise | Rest:
    if not now.turns:
        return Rest(reason="every turn is summarised")
    if not now.going_on and not compaction_due(now.turns, now.window, limits):
        return Rest(reason="the window has room")
    batch = next_batch(now.turns, now.window, limits, window_start=now.window_start)
    return Summarise(first=batch[0], last=batch[-1]) if batch else Rest(reason="the window has room")
