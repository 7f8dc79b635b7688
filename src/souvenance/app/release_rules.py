"""Rules go with the words that gave them: a source that is gone gives none, a message that is gone closes none (S4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from souvenance.domain.conversation import Message
from souvenance.domain.find_rules import occurs
from souvenance.domain.ids import ConversationId
from souvenance.domain.summary import FoundBy, Rule, Source, Spot
from souvenance.ports.store import Unit


def release_after(unit: Unit, conversation_id: ConversationId, position: int) -> None:
    """The turns after this position are gone (T2): so is what was said, added or taken back there."""
    _change(unit, conversation_id, lambda rule: _without(rule, lambda source: source.spot.position > position))


def release_deleted(unit: Unit, message: Message) -> None:
    """This message is gone (T7). A rule in a person's own words stays, on no message."""

    def said_here(source: Source) -> bool:
        return source.message_id is not None and source.spot == Spot(message.position, message.part)

    def left(rule: Rule) -> Rule:
        if rule.found_by is not FoundBy.PERSON:
            return _without(rule, said_here)
        own = tuple(_on_no_message(source) if said_here(source) else source for source in rule.sources)
        return _without(replace(rule, sources=own), said_here)

    _change(unit, message.conversation_id, left)


def check_rules(unit: Unit, message: Message) -> None:
    """This message says something else now (T7): rules that still stand in it stay, and so do a person's own. Whether
    it still takes one back is heard when its nodes are mended.
    """
    spot = Spot(message.position, message.part)

    def left(rule: Rule) -> Rule:
        stays = rule.found_by is FoundBy.PERSON or occurs(rule.text, message.text)
        kept = tuple(source for source in rule.sources if stays or source.message_id is None or source.spot != spot)
        closed_here = rule.closed_by is not None and rule.closed_by.spot == spot
        return replace(rule, sources=kept, closed_by=None if closed_here else rule.closed_by)

    _change(unit, message.conversation_id, left)


def _on_no_message(source: Source) -> Source:
    """The same place, on no message."""
    return Source(message_id=None, spot=source.spot)


def _without(rule: Rule, gone: Callable[[Source], bool]) -> Rule:
    closed = rule.closed_by is not None and not gone(rule.closed_by)
    sources = tuple(source for source in rule.sources if not gone(source))
    return replace(rule, sources=sources, closed_by=rule.closed_by if closed else None)


def _change(unit: Unit, conversation_id: ConversationId, change: Callable[[Rule], Rule]) -> None:
    """Write the rules that this changes, and remove those that nothing says any more."""
    rules = unit.summaries.rules(conversation_id)
    changed = [after for rule in rules if (after := change(rule)) != rule]
    for rule in changed:
        if rule.sources:
            unit.summaries.save_rule(rule)
    unit.summaries.remove_rules(conversation_id, [rule.rule_id for rule in changed if not rule.sources])
