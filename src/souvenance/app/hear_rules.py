"""Rules that a user gave or took back in some messages: found by code, or told by a model and verified (S4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from souvenance.app.kit import Kit
from souvenance.domain.conversation import Message, Role
from souvenance.domain.find_rules import find_rules, occurs, sentence_around, speaks_of, taken_back
from souvenance.domain.ids import RuleId
from souvenance.domain.summary import FoundBy, Rule, Source, Spot
from souvenance.prompts.numbered import Summary, TakenBack, ToldRule


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRule:
    """A sentence of a user's message that is a rule."""

    text: str
    source: Source
    found_by: FoundBy


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """That a message takes this rule back."""

    text: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    found: tuple[FoundRule, ...] = ()
    closings: tuple[Closing, ...] = ()

    @classmethod
    def of_model(cls, kit: Kit, told: Summary, said: Sequence[Message], shown: Sequence[Rule]) -> Self:
        """What of a model's answer is true: a rule is a sentence of the user message it names, and one is taken back
        only by a user's message that speaks of it. `shown` are the rules in force in the order in which it saw them.
        """
        found = [_verified(kit, one, said[one.line - 1]) for one in told.rules]
        closings = [_closed(one, said[one.line - 1], shown) for one in told.taken_back]
        return cls(
            found=tuple(one for one in found if one is not None),
            closings=tuple(one for one in closings if one is not None),
        )


def hear_rules(kit: Kit, said: Sequence[Message], rules: Sequence[Rule]) -> Heard:
    """By code, message by message: one may take back what an earlier one of these said."""
    known = {rule.text: rule for rule in rules if rule.in_force}
    found: list[FoundRule] = []
    closings: list[Closing] = []
    for message in said:
        if message.role is not Role.USER:
            continue
        source = source_of(message)
        closed = set(taken_back(message.text, list(known.values()), kit.phrases))
        closings += [Closing(text=rule.text, source=source) for rule in known.values() if rule.rule_id in closed]
        known = {text: rule for text, rule in known.items() if rule.rule_id not in closed}
        for text in find_rules(message.text, kit.phrases, kit.limits):
            found.append(FoundRule(text=text, source=source, found_by=FoundBy.CODE))
            known[text] = _for_now(message, text, source, len(found))
    return Heard(found=tuple(found), closings=tuple(closings))


def source_of(message: Message) -> Source:
    return Source(message.message_id, Spot(message.position, message.part))


def _for_now(message: Message, text: str, source: Source, number: int) -> Rule:
    """A rule that was just found, so that a later message can take it back."""
    return Rule(
        rule_id=RuleId(f"found {number}"),
        conversation_id=message.conversation_id,
        text=text,
        sources=(source,),
        found_by=FoundBy.CODE,
        place=number,
    )


def _verified(kit: Kit, told: ToldRule, message: Message) -> FoundRule | None:
    text = told.text.strip()
    is_short = 0 < len(text) <= kit.limits.rule_characters
    if message.role is not Role.USER or not is_short or not occurs(text, message.text):
        return None
    text = sentence_around(text, message.text, kit.phrases, kit.limits)
    return FoundRule(text=text, source=source_of(message), found_by=FoundBy.MODEL)


def _closed(told: TakenBack, message: Message, shown: Sequence[Rule]) -> Closing | None:
    rule = shown[told.rule - 1]
    if message.role is not Role.USER or not speaks_of(message.text, rule.text):
        return None
    return Closing(text=rule.text, source=source_of(message))
