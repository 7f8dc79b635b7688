"""Which nodes stand for a conversation, derived from all that were ever made of it (S9, S10; decision 0016)."""

from __future__ import annotations

from collections.abc import Sequence

from souvenance.domain.summary import Node, Tier


def standing(nodes: Sequence[Node], *, up_to: int) -> tuple[Node, ...]:
    """The chain of nodes that end at position `up_to` or before: the long-term version that ends last, the merged ones
    that follow it without a gap, then the recent ones that follow those. Nodes of a rebuild are not asked.

    Turns between two nodes are a gap when another node stands for them; a turn that was deleted leaves none.
    """
    there = [node for node in nodes if node.rebuild_id is None and node.last <= up_to]
    chain = newest_version(there)
    for tier in (Tier.MERGED, Tier.RECENT):
        chain += _following(there, tier, after=chain[-1].last if chain else -1)
    return tuple(chain)


def summarised_to(chain: Sequence[Node]) -> int:
    """The position of the last turn that these nodes stand for, -1 for none."""
    return chain[-1].last if chain else -1


def newest_version(nodes: Sequence[Node]) -> list[Node]:
    """The long-term version that ends last; of two that end together the one that was made of the other (S5)."""
    versions = [node for node in nodes if node.tier is Tier.LONG_TERM]
    condensed = {child for node in versions for child in node.children}
    newest = max(versions, key=lambda node: (node.last, node.node_id not in condensed, node.made_at), default=None)
    return [] if newest is None else [newest]


def _following(nodes: Sequence[Node], tier: Tier, *, after: int) -> list[Node]:
    """Those of this tier that follow one upon another; of two that begin together, the one made last."""
    found: list[Node] = []
    of_tier = [node for node in nodes if node.tier is tier]
    for node in sorted(of_tier, key=lambda node: (node.first, -node.made_at.timestamp())):
        if node.first > after:
            if any(after < other.first and other.last < node.first for other in nodes):
                break
            found.append(node)
            after = node.last
    return found
