"""A summary's nodes and rules as JSON objects, with the names that `/api/v1` gives them too."""

from __future__ import annotations

from souvenance.app.find_in_summaries import SummaryLine
from souvenance.app.read_summary import NodeView, SummaryView
from souvenance.cli.json_forms import JsonForm
from souvenance.domain.summary import Rule


def node_form(view: NodeView) -> JsonForm:
    node = view.node
    return {
        "id": node.node_id,
        "tier": node.tier.value,
        "first": node.first,
        "last": node.last,
        "first_message_id": view.first_message,
        "last_message_id": view.last_message,
        "level": node.level.value,
        "model": node.model or "extracted",
        "prompt_version": node.prompt_version,
        "made_at": node.made_at.isoformat(),
        "tokens": node.tokens,
        "text": view.text,
        "edited": node.edited,
        "stale": bool(node.stale),
        "not_sent": list(view.not_sent),
        "awaits_decision": view.awaits_decision,
        "children": list(node.children),
        "version": node.version,
    }


def rule_form(rule: Rule) -> JsonForm:
    return {
        "id": rule.rule_id,
        "text": rule.text,
        "in_force": rule.in_force,
        "retired": rule.retired,
        "taken_back": rule.closed_by is not None,
        "taken_back_in": None if rule.closed_by is None else rule.closed_by.message_id,
        "found_by": rule.found_by.value,
        "by_hand": any(source.message_id is None for source in rule.sources),
        "message_ids": [source.message_id for source in rule.sources if source.message_id is not None],
    }


def summary_form(view: SummaryView) -> JsonForm:
    return {
        "conversation_id": view.conversation.conversation_id,
        "level": view.level.value,
        "at_other_levels": view.at_other_levels,
        "counts": {
            "messages": view.conversation.messages,
            "summarised": view.summarised,
            "waiting": view.waiting,
            "in_window": view.in_window,
        },
        "summarised_to": view.conversation.summarised_to,
        "nodes": [node_form(one) for one in view.nodes],
        "tokens": {tier.value: tokens for tier, tokens in view.tokens.items()},
        "rules": [rule_form(rule) for rule in view.rules],
        "rules_tokens": view.rules_tokens,
        "rebuilding": view.rebuilding,
        "deeper": {
            "active": view.deeper.active,
            "reasons": [{"rule": reason.rule, "words": reason.words} for reason in view.deeper.reasons],
        },
    }


def summary_line_form(found: SummaryLine) -> JsonForm:
    """A line of a summary that already says a text (V4)."""
    return {
        "conversation_id": found.conversation_id,
        "node_id": found.node_id,
        "part": found.item.part.value,
        "text": found.item.text,
        "matched": found.matched,
        "asked": found.asked,
    }
