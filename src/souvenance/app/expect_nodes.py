"""How large the questions of a rebuild and the nodes that it writes will be, learnt from those there are (S7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from souvenance.app.kit import Kit
from souvenance.app.pen import olds_of
from souvenance.domain.budget import MESSAGE_OVERHEAD, reply_room
from souvenance.domain.ids import NodeId
from souvenance.domain.limits import Level, Limits
from souvenance.domain.rebuild_plan import Expected, Questions
from souvenance.domain.summary import Node, Tier
from souvenance.prompts import condense as condensing
from souvenance.prompts import merge as merging
from souvenance.prompts import summarise as summarising
from souvenance.prompts.numbered import Line, Room
from souvenance.prompts.parts import shown
from souvenance.prompts.question import Question, as_json

_SAMPLE = 24
"""The newest nodes of a tier that are looked at."""

# What is expected where there is no node to learn from.
_OF_BUDGET = 0.7
_MERGED = 0.7
_LONG_TERM = 0.9
_SHOWN = 2.0

_DAY = "2026-01-31"


def question_sizes(kit: Kit, level: Level, name: str, *, context: int, factor: float) -> Questions:
    """Counted on questions without data. `name` speaks every second message; the model that writes has `context`
    tokens and counts `factor` of the tokenizer's.
    """
    limits = kit.limits

    def size(question: Question) -> int:
        return 2 * MESSAGE_OVERHEAD + kit.tokenizer.count(question.system + question.user)

    recent = Room(level=level, tokens=limits.recent_tokens(level))
    merged = Room(level=level, tokens=limits.merged_tokens(level))
    bound = Room(level=level, tokens=limits.long_term_tokens(level))
    empty = size(summarising.ask([], recent, rules=[]))
    pair = [Line(number=10, who="user", text=".", day=_DAY), Line(number=11, who=name, text=".", day=_DAY)]
    room = context - reply_room({"max_tokens": limits.reply_tokens}, context=context, limits=limits)
    return Questions(
        summarise=empty,
        merge=size(merging.ask([], merged)),
        condense=size(condensing.ask([], bound)),
        line=(size(summarising.ask(pair * 4, recent, rules=[])) - empty) / 8 - 1,
        rule=float(size(summarising.ask([], recent, rules=["."] * 4)) - empty) / 4 - 1,
        room=int(room / factor),
    )


def expected_nodes(nodes: Sequence[Node], level: Level, limits: Limits, count: Callable[[str], int]) -> Expected:
    """From the nodes that a model wrote; where a tier has none, from the level's budgets."""
    by_id = {node.node_id: node for node in nodes}
    written = [node for node in nodes if not node.is_extracted]
    tiers = {tier: [node for node in written if node.tier is tier][-_SAMPLE:] for tier in Tier}
    budget = limits.recent_tokens(level)
    recent = [node.tokens * budget / limits.recent_tokens(node.level) for node in tiers[Tier.RECENT]]
    sample = [node for node in (*tiers[Tier.RECENT], *tiers[Tier.MERGED]) if node.tokens]
    told = sum(count(as_json({"items": [shown(old) for old in olds_of(node.items)]})) for node in sample)
    return Expected(
        recent=sum(recent) / len(recent) if recent else budget * _OF_BUDGET,
        merged=_share_left(tiers[Tier.MERGED], by_id) or _MERGED,
        long_term=_share_left(tiers[Tier.LONG_TERM], by_id) or _LONG_TERM,
        shown=told / sum(node.tokens for node in sample) if sample else _SHOWN,
    )


def _share_left(above: Sequence[Node], by_id: dict[NodeId, Node]) -> float | None:
    """How much of the texts below is left in the nodes made of them; a condensation's shortening is not asked."""
    left = below = 0
    for node in above:
        children = [by_id[child] for child in node.children if child in by_id]
        if len(children) > 1 or (children and children[0].tier is not node.tier):
            left += node.tokens
            below += sum(child.tokens for child in children)
    return left / below if below else None
