"""What a turn reads of its conversation's summary: a handful of rows, only rules before anything is summarised (Z3)."""

from __future__ import annotations

from collections.abc import Sequence

from souvenance.app.summary_block import Section, sections
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation
from souvenance.domain.fit import Layer
from souvenance.domain.ids import ConversationId, NodeId
from souvenance.domain.sent_summary import NOTHING_BELOW, Below, stale_recent, stands
from souvenance.domain.summary import Node, Tier
from souvenance.domain.window import Bounds
from souvenance.ports.store import Unit


def live_nodes(unit: Unit, conversation: Conversation) -> list[Node]:
    """As they are now: a compaction may have ended since the turn was opened."""
    return unit.summaries.live(conversation.conversation_id) if conversation.summarised_to >= 0 else []


def gather_summary(
    unit: Unit, here: ConversationId, live: Sequence[Node], members: Sequence[Bot], room: Bounds
) -> tuple[Section, ...]:
    """The sections that are sent; `room` is what may stand word for word instead of a stale node (S9). Rules are sent
    whether anything is summarised or not: a person may have added one (S6).
    """
    below = _below(unit, live) if any(node.stale for node in live) else NOTHING_BELOW
    names = {bot.bot_id: bot.name for bot in members}
    return sections(unit.summaries.rules(here), stands(live, below, room), names)


def words_of(summary: Sequence[Section]) -> str:
    """What an epoch is based on of it: which nodes, or messages, stand for which turns (C6)."""
    return " ".join(one.item for one in summary if one.layer is not Layer.RULES)


def _below(unit: Unit, live: Sequence[Node]) -> Below:
    """The nodes and messages that may be sent instead of stale nodes. Below an older long-term version nothing is
    looked for: it stands without what changed, or one early edit would send every merged node there ever was (Z3).
    """
    here = live[0].conversation_id
    nodes: dict[NodeId, Node] = {}
    wanted = [child for node in live if node.stale for child in node.children]
    while wanted:
        found = unit.summaries.many(here, wanted)
        nodes |= {node.node_id: node for node in found}
        merged = [node for node in found if node.stale and node.tier is Tier.MERGED]
        wanted = [child for node in merged for child in node.children]
    stale = stale_recent(live, nodes)
    return Below(
        nodes=nodes, messages={node.node_id: unit.messages.span(here, node.first, node.last) for node in stale}
    )
