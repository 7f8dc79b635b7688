"""Of a summary, what stands for the turns of a fork goes along with it: nothing is summarised twice (S10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from souvenance.app.cut_summary import may_be_summed_up
from souvenance.app.due_work import Work, make_due
from souvenance.app.kit import Kit
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import ConversationId, MessageId, NodeId, RuleId
from souvenance.domain.standing import standing, summarised_to
from souvenance.domain.summary import Node, Rule, Source
from souvenance.ports.store import Unit


def copy_summary(
    unit: Unit, kit: Kit, parent: Conversation, fork: Conversation, copies: Mapping[MessageId, MessageId]
) -> Conversation:
    """The fork, its turns and messages copied already (`copies`: theirs by the parent's), with a copy of each whole
    node and of each rule that its messages gave.
    """
    _copy_rules(unit, kit, parent, fork, copies)
    chain = _copy_nodes(unit, kit, parent, fork) if parent.summarised_to >= 0 else ()
    if any(node.stale for node in chain):
        make_due(unit, Work.REFRESH, fork.conversation_id, unit.owner_id, fork.created_at)
    return replace(fork, summarised_to=summarised_to(chain))


def _copy_nodes(unit: Unit, kit: Kit, parent: Conversation, fork: Conversation) -> tuple[Node, ...]:
    """Returns those of the parent that stand for the fork."""
    up_to = may_be_summed_up(unit, fork.conversation_id)
    whole = [node for node in unit.summaries.all(parent.conversation_id) if node.last <= up_to]
    chain = standing(whole, up_to=up_to)
    ids = {node.node_id: NodeId(kit.ids.new("nod")) for node in whole}
    live = {node.node_id for node in chain}
    unit.summaries.put_all(
        [
            replace(
                node,
                node_id=ids[node.node_id],
                conversation_id=fork.conversation_id,
                children=tuple(ids[child] for child in node.children if child in ids),
                live=node.node_id in live,
            )
            for node in whole
        ]
    )
    return chain


def _copy_rules(
    unit: Unit, kit: Kit, parent: Conversation, fork: Conversation, copies: Mapping[MessageId, MessageId]
) -> None:
    for rule in unit.summaries.rules(parent.conversation_id):
        copy = _copied(rule, fork.conversation_id, fork.last_position, copies)
        if copy.sources:
            unit.summaries.put_rule(replace(copy, rule_id=RuleId(kit.ids.new("rul"))))


def _copied(rule: Rule, fork_id: ConversationId, end: int, copies: Mapping[MessageId, MessageId]) -> Rule:
    """The rule on the fork's messages, as far as these gave it or took it back; what a person added by the fork's end
    goes along.
    """

    def copied(source: Source) -> Source | None:
        if source.message_id is None:
            return source if source.spot.position <= end else None
        there = copies.get(source.message_id)
        return None if there is None else Source(message_id=there, spot=source.spot)

    sources = tuple(there for source in rule.sources if (there := copied(source)) is not None)
    closed_by = None if rule.closed_by is None else copied(rule.closed_by)
    return replace(rule, conversation_id=fork_id, sources=sources, closed_by=closed_by)
