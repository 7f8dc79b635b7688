"""What a rebuild writes next: the same tiers as the summary's, made anew from the oldest turn on (S2, S5, S7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from souvenance.domain.limits import Level, Limits
from souvenance.domain.standing import newest_version
from souvenance.domain.summary import Node, Tier
from souvenance.domain.tiers import Condense, Fold, Merge, Rest, Summarise
from souvenance.domain.window import Bounds, TurnSize, first_batch

Next = Summarise | Merge | Fold | Condense | Rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What a rebuild at `level` has made so far and still holds, in no order that counts, and all `turns` that it is
    about, oldest first; `window` says how large a batch is.
    """

    nodes: Sequence[Node]
    turns: Sequence[TurnSize]
    level: Level
    window: Bounds


def next_of_rebuild(site: Site, limits: Limits) -> Next:
    """From left to right: what can be rolled up is, then the first turns that nothing stands for are summarised.

    Where a node was thrown away since its messages changed, what is made in its place is rolled up as soon as it meets
    what is there. Rest: everything stands, and the rebuild can be swapped in.
    """
    version = newest_version(site.nodes)
    if version and version[0].tokens > limits.long_term_tokens(site.level) * limits.condense_share:
        return Condense(node=version[0])
    after = version[0].last if version else -1
    merged = [node for node in site.nodes if node.tier is Tier.MERGED and node.first > after]
    recent = [node for node in site.nodes if node.tier is Tier.RECENT and node.first > after]
    tops = [*merged, *(node for node in recent if not any(one.first <= node.first <= one.last for one in merged))]
    left = [turn for turn in site.turns if turn.position > after]
    return _Walk(site, limits, version).along(sorted(tops, key=lambda node: node.first), left)


class _Walk:
    """One look along the nodes that follow the long-term version."""

    def __init__(self, site: Site, limits: Limits, version: Sequence[Node]) -> None:
        self._site = site
        self._limits = limits
        self._version = version
        self._recent: list[Node] = []
        self._merged: list[Node] = []

    def along(self, tops: Sequence[Node], turns: Sequence[TurnSize]) -> Next:
        at = 0
        for node in tops:
            gap = at
            while gap < len(turns) and turns[gap].position < node.first:
                gap += 1
            if gap > at:
                return self._batch(turns[at:gap])
            if found := self._past(node):
                return found
            while at < len(turns) and turns[at].position <= node.last:
                at += 1
        return self._batch(turns[at:]) if at < len(turns) else Rest(reason="everything stands")

    def _past(self, node: Node) -> Merge | Fold | None:
        if node.tier is Tier.RECENT:
            self._recent.append(node)
            return Merge(nodes=tuple(self._recent)) if len(self._recent) == self._limits.nodes_merged else None
        if self._recent:
            return Merge(nodes=tuple(self._recent))
        self._merged.append(node)
        is_full = len(self._merged) == self._limits.nodes_merged
        return Fold(nodes=(*self._version, *self._merged)) if is_full else None

    def _batch(self, turns: Sequence[TurnSize]) -> Summarise:
        batch = first_batch(turns, self._site.window, self._limits)
        return Summarise(first=batch[0].position, last=batch[-1].position)
