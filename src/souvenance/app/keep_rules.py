"""Keep the rules that a user gave: each once, with every source, closed when it was taken back (S4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from souvenance.app.hear_rules import Closing, FoundRule
from souvenance.app.kit import Kit
from souvenance.domain.ids import ConversationId, NotificationId, RuleId
from souvenance.domain.notification import Notification
from souvenance.domain.summary import Rule
from souvenance.ports.store import Unit

RULES_FULL = "rules_full"

_MARK = 2
"""Tokens of what stands around a rule in its list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What some messages say of rules, with the tokens of each rule that may be in force then, counted beforehand."""

    found: tuple[FoundRule, ...]
    closings: tuple[Closing, ...]
    tokens: Mapping[str, int]


def said_of_rules(kit: Kit, rules: Sequence[Rule], *, found: Sequence[FoundRule], closings: Sequence[Closing]) -> Said:
    """Ready to be kept; `rules` are those that stand."""
    texts = [*(rule.text for rule in rules), *(rule.text for rule in found)]
    return Said(found=tuple(found), closings=tuple(closings), tokens=tokens_of_rules(kit, texts))


def tokens_of_rules(kit: Kit, texts: Iterable[str]) -> dict[str, int]:
    """What each of these takes of a prompt as a rule."""
    return {text: kit.tokenizer.count(text) + _MARK for text in set(texts)}


def in_force_tokens(rules: Sequence[Rule], tokens: Mapping[str, int]) -> int:
    """What the rules in force take of a prompt; one that came meanwhile is not counted yet."""
    return sum(tokens.get(rule.text, 0) for rule in rules if rule.in_force)


def keep_rules(unit: Unit, kit: Kit, conversation_id: ConversationId, said: Said, at: datetime) -> None:
    """Store them in the present transaction, in the order in which they were said; the conversation is held.

    A person is told once when their budget is passed.
    """
    if not said.found and not said.closings:
        return
    before = in_force_tokens(unit.summaries.rules(conversation_id), said.tokens)
    in_order: list[FoundRule | Closing] = sorted((*said.found, *said.closings), key=lambda one: one.source.spot)
    for one in in_order:
        if isinstance(one, FoundRule):
            _keep(unit, kit, conversation_id, one)
        else:
            _close(unit, conversation_id, one)
    tell_when_full(unit, kit, conversation_id, said.tokens, before=before, at=at)


def tell_when_full(
    unit: Unit, kit: Kit, conversation_id: ConversationId, tokens: Mapping[str, int], *, before: int, at: datetime
) -> None:
    """Ask a person which rules to retire, now that those in force take more than their budget and took `before`."""
    after = in_force_tokens(unit.summaries.rules(conversation_id), tokens)
    if before <= kit.limits.rules_tokens < after:
        unit.notifications.put(
            Notification(
                notification_id=NotificationId(kit.ids.new("ntf")),
                kind=RULES_FULL,
                about={"conversation_id": conversation_id, "tokens": after, "limit": kit.limits.rules_tokens},
                created_at=at,
            )
        )


def _keep(unit: Unit, kit: Kit, conversation_id: ConversationId, found: FoundRule) -> None:
    """The same rule again adds a source; said after it was taken back it is in force again."""
    there = unit.summaries.rule_of_text(conversation_id, found.text)
    if there is None:
        rules = unit.summaries.rules(conversation_id)
        unit.summaries.put_rule(
            Rule(
                rule_id=RuleId(kit.ids.new("rul")),
                conversation_id=conversation_id,
                text=found.text,
                sources=(found.source,),
                found_by=found.found_by,
                place=max((rule.place for rule in rules), default=0) + 1,
            )
        )
        return
    again = there.closed_by is not None and found.source.spot > there.closed_by.spot
    sources = there.sources if found.source in there.sources else (*there.sources, found.source)
    changed = replace(there, sources=sources, closed_by=None if again else there.closed_by)
    if changed != there:
        unit.summaries.save_rule(changed)


def _close(unit: Unit, conversation_id: ConversationId, closing: Closing) -> None:
    """Unless it was said again after it was taken back, which is heard late where an older message was edited."""
    there = unit.summaries.rule_of_text(conversation_id, closing.text)
    if there is None or there.closed_by is not None:
        return
    if all(source.spot <= closing.source.spot for source in there.sources):
        unit.summaries.save_rule(replace(there, closed_by=closing.source))
