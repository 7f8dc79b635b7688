"""Find a user's corrections and standing instructions, and tell which of them a later message takes back (S4)."""

from __future__ import annotations

from collections.abc import Sequence

from souvenance.domain.ids import RuleId
from souvenance.domain.limits import Limits
from souvenance.domain.phrases import Phrases
from souvenance.domain.summary import Rule


def find_rules(text: str, phrases: Phrases, limits: Limits) -> tuple[str, ...]:
    """The rules in a user's message, in order, as they stand in it: whole sentences of at most `rule_characters`.

    Nothing is taken from code, quotations, questions, hypotheticals or what others are said to have said.
    """
    return ()


def occurs(rule: str, text: str) -> bool:
    """Whether `rule` stands in `text`, white space apart."""
    return " ".join(rule.split()) in " ".join(text.split())


def taken_back(text: str, rules: Sequence[Rule], phrases: Phrases) -> tuple[RuleId, ...]:
    """The rules in force that a user's message takes back; none where it is not clear which one is meant."""
    return ()
