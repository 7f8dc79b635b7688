"""What stands for messages that changed stands for them no more: its nodes are stale until they are mended (S9)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from souvenance.app.due_work import Work, make_due
from souvenance.domain.conversation import Message
from souvenance.domain.ids import ConversationId
from souvenance.domain.node_text import without
from souvenance.domain.summary import Node, Spot, Tier
from souvenance.ports.store import Unit


def mark_stale(unit: Unit, changed: Sequence[Message], now: datetime) -> list[Node]:
    """Mark every node over these messages of one conversation, at least one, and let the mending be due; returns the
    nodes. The conversation is held. A rebuild's nodes are marked too.
    """
    here = changed[0].conversation_id
    spots = {Spot(message.position, message.part) for message in changed}
    nodes = [_stale(node, spots) for node in unit.summaries.covering(here, {spot.position for spot in spots})]
    for node in nodes:
        unit.summaries.save(node)
    if nodes:
        make_due(unit, Work.REFRESH, here, unit.owner_id, now)
    return nodes


def _stale(node: Node, spots: Collection[Spot]) -> Node:
    under = {spot for spot in spots if node.first <= spot.position <= node.last}
    return replace(node, stale=node.stale | under, version=node.version + 1)


def blank_nodes_over(unit: Unit, conversation_id: ConversationId, stale: Sequence[Node]) -> None:
    """Let the texts of these nodes, which may hold deleted words, stand in no prompt that was sent (T7); and those of
    nodes that are gone by now, since nobody can tell any more what they stood for.
    """
    sent = unit.prompts.nodes_sent(conversation_id)
    there = {node.node_id for node in unit.summaries.many(conversation_id, sent)}
    unit.prompts.blank_nodes((sent - there) | (sent & {node.node_id for node in stale}))


def forget_in_old_versions(unit: Unit, stale: Sequence[Node]) -> None:
    """Take what was drawn from deleted words out of the long-term node's older versions, which nobody mends (T7)."""
    for node in stale:
        if node.tier is Tier.LONG_TERM and not node.live:
            unit.summaries.save(replace(node, items=without(node.items, node.stale)))
