"""The chain of nodes that stand for a conversation, over random summaries, cuts and deleted turns (S9, S10)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.ids import NodeId, RebuildId
from souvenance.domain.standing import standing, summarised_to
from souvenance.domain.summary import Node, Tier
from tests.conformance.summary_rows import node

_TIERS = [Tier.LONG_TERM, Tier.MERGED, Tier.RECENT]


def rolled_up(sizes: list[int], gaps: list[int]) -> list[Node]:
    """All the nodes of a conversation that is summarised in batches of these many turns, each behind so many deleted
    ones: four of a tier become one of the next, each fold a version, every third version condensed.
    """
    made: list[Node] = []
    recent: list[Node] = []
    merged: list[Node] = []
    version: list[Node] = []
    start = 0

    def make(tier: Tier, first: int, last: int, children: list[Node]) -> Node:
        ids = tuple(child.node_id for child in children)
        made.append(node(len(made), first, last, tier=tier, children=ids))
        return made[-1]

    for size, gap in zip(sizes, gaps, strict=True):
        first = start + gap
        start = first + size
        recent.append(make(Tier.RECENT, first, start - 1, []))
        if len(recent) == 4:
            merged.append(make(Tier.MERGED, recent[0].first, recent[-1].last, recent))
            recent = []
        if len(merged) == 4:
            of = [*version, *merged]
            version, merged = [make(Tier.LONG_TERM, of[0].first, of[-1].last, of)], []
            if len(made) % 3 == 0:
                version = [make(Tier.LONG_TERM, version[0].first, version[0].last, version)]
    return made


_SUMMARIES = st.integers(0, 40).flatmap(
    lambda count: st.builds(
        rolled_up,
        st.lists(st.integers(1, 4), min_size=count, max_size=count),
        st.lists(st.sampled_from([0, 0, 0, 1, 3]), min_size=count, max_size=count),
    )
)


@given(nodes=_SUMMARIES, up_to=st.integers(-1, 200))
def test_s10_each_turn_is_stood_for_once_by_the_highest_node_that_ends_in_time(nodes: list[Node], up_to: int) -> None:
    chain = standing(nodes, up_to=up_to)
    assert all(before.last < after.first for before, after in pairwise(chain))
    assert [_TIERS.index(one.tier) for one in chain] == sorted(_TIERS.index(one.tier) for one in chain)
    batches = [one for one in nodes if one.tier is Tier.RECENT and one.last <= up_to]
    assert all(any(one.first <= batch.first and batch.last <= one.last for one in chain) for batch in batches)
    assert summarised_to(chain) == max((batch.last for batch in batches), default=-1)
    in_time = [one for one in nodes if one.last <= up_to]
    over = [other for one in chain for other in in_time if one.node_id in other.children]
    assert over == []


@given(nodes=_SUMMARIES, up_to=st.integers(-1, 200))
def test_the_order_of_the_nodes_and_those_of_a_rebuild_make_no_difference(nodes: list[Node], up_to: int) -> None:
    chain = standing(nodes, up_to=up_to)
    theirs = [replace(one, node_id=NodeId(f"{one.node_id}r"), rebuild_id=RebuildId("reb_1")) for one in nodes[::2]]
    assert standing([*reversed(nodes), *theirs], up_to=up_to) == chain


@given(nodes=_SUMMARIES, up_to=st.integers(-1, 200), data=st.data())
def test_s10_below_a_node_that_is_missing_its_children_stand(
    nodes: list[Node], up_to: int, data: st.DataObject
) -> None:
    left = [one for one in nodes if one.tier is Tier.RECENT or data.draw(st.booleans())]
    chain = standing(left, up_to=up_to)
    assert all(before.last < after.first for before, after in pairwise(chain))
    for batch in (one for one in left if one.tier is Tier.RECENT and one.last <= up_to):
        assert sum(one.first <= batch.first and batch.last <= one.last for one in chain) == 1
