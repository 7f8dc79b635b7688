"""Find a user's corrections and standing instructions, and tell which of them a later message takes back (S4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from souvenance.domain.ids import RuleId
from souvenance.domain.limits import Limits
from souvenance.domain.own_words import own_words
from souvenance.domain.phrases import Kinds, Language, Phrases, PhraseSet, clauses
from souvenance.domain.sentences import spans
from souvenance.domain.stop_words import STOP_WORDS
from souvenance.domain.summary import Rule
from souvenance.domain.terms import terms

Word: TypeAlias = frozenset[str]
"""The index terms of a word."""

_ASKED = re.compile(r"[?？][^\w?？]{0,20}\Z")
_LIST_MARK = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s+")
_ENDING = re.compile("[\u3041-\u309f]")
_MEANT = 0.6
"""The share of the words of a request to drop a rule that the rule must have."""


def find_rules(text: str, phrases: Phrases, limits: Limits) -> tuple[str, ...]:
    """The rules in a user's message, in order, as they stand in it: whole sentences of at most `rule_characters`.

    Nothing is taken from code, quotations, questions, hypotheticals or what others are said to have said.
    """
    own = own_words(text)
    languages = phrases.of(own)
    found: dict[str, None] = {}
    for start, end in spans(own, phrases):
        said = _as_it_stands(text[start:end])
        if not said or len(said) > limits.rule_characters:
            continue
        parts = clauses(own[start:end])
        if any(_is_rule(own[start:end], parts, language) for language in languages):
            found[said] = None
    return tuple(found)


def sentence_around(rule: str, text: str, phrases: Phrases, limits: Limits) -> str:
    """The sentence of `text` in which `rule` stands, since a part of it may say the opposite; `rule` as it is where it
    is in no single one, or that one is longer than a rule may be.
    """
    said = (_as_it_stands(text[start:end]) for start, end in spans(own_words(text), phrases))
    return next((one for one in said if len(one) <= limits.rule_characters and occurs(rule, one)), rule)


def occurs(rule: str, text: str) -> bool:
    """Whether `rule` stands in `text`, white space apart."""
    return " ".join(rule.split()) in " ".join(text.split())


def speaks_of(text: str, rule: str) -> bool:
    """Whether a word that names something stands in both."""
    said = frozenset(terms(text))
    return any(not word.isdisjoint(said) for word in _words(rule))


def taken_back(text: str, rules: Sequence[Rule], phrases: Phrases) -> tuple[RuleId, ...]:
    """The rules in force that a user's message takes back; none where it is not clear which one is meant."""
    standing = [rule for rule in rules if rule.in_force]
    if not standing:
        return ()
    own = own_words(text)
    meant: dict[RuleId, None] = {}
    for language in phrases.of(own):
        for start, end in spans(own, phrases):
            parts = clauses(own[start:end])
            if parts and not is_question(own[start:end], parts, language.say) and not _is_distant(parts, language.say):
                meant.update(dict.fromkeys(rule.rule_id for rule in _dropped(parts, standing, language.say)))
    return tuple(meant)


def _as_it_stands(sentence: str) -> str:
    """Without the white space around it and the mark of a list before it."""
    said = sentence.strip()
    mark = _LIST_MARK.match(said)
    return said[mark.end() :] if mark else said


def is_question(sentence: str, parts: Sequence[str], say: Kinds) -> bool:
    """Whether a sentence with these clauses asks; a tag such as "okay?" after it makes no question of it."""
    if not parts:
        return False
    if _ASKED.search(sentence.rstrip()):
        return len(parts) < 2 or not _is_all(say.tags, parts[-1].rstrip("? "))
    asks = any(say.questions.at(parts[0], start) for start in _starts(parts[0], say))
    return asks or say.question_ends.find(parts[-1]) is not None


def _is_rule(sentence: str, parts: Sequence[str], language: Language) -> bool:
    say = language.say
    if not parts or is_question(sentence, parts, say) or _is_distant(parts, say):
        return False
    if any(say.standing.find(part) or say.corrections.find(part) for part in (*parts, " ".join(parts))):
        return True
    return any(_commands(part, say) for part in parts) and not any(say.passing.find(part) for part in parts)


def _is_distant(parts: Sequence[str], say: Kinds) -> bool:
    """Whether the sentence only supposes something, or tells what others say."""
    return any(say.hypothetical.find(part) or say.reported.find(part) for part in parts)


def _commands(part: str, say: Kinds) -> bool:
    if say.requests.find(part) and not say.no_commands.find(part):
        return True
    return any(say.commands.at(part, start) and not say.no_commands.at(part, start) for start in _starts(part, say))


def _starts(part: str, say: Kinds) -> Iterator[int]:
    """Where in a clause a command may begin: at its start, behind words such as "please", and after an "and"."""
    yield from _past_openers(part, 0, say)
    at = part.find(" ") + 1
    while say.joins.spaced and at:
        if join := say.joins.at(part, at):
            yield from _past_openers(part, join.end() + 1, say)
        at = part.find(" ", at) + 1


def _past_openers(part: str, start: int, say: Kinds) -> Iterator[int]:
    yield start
    while opener := say.openers.at(part, start):
        start = opener.end() + (part[opener.end() : opener.end() + 1] == " ")
        yield start


def _is_all(phrases: PhraseSet, part: str) -> bool:
    found = phrases.at(part)
    return found is not None and found.end() == len(part)


def _dropped(parts: Sequence[str], rules: Sequence[Rule], say: Kinds) -> Sequence[Rule]:
    for position, part in enumerate(parts):
        found = say.dropping.find(part)
        may_be_the_only = found is not None
        found = found or say.allowing.find(part)
        if found is None:
            continue
        gaps = " ".join(filter(None, found.groups()))
        named = (f"{gaps} {part[found.end() :]}", part[: found.start()], " ".join(parts[position + 1 :]))
        words = next(filter(None, map(_words, named)), ())
        if words:
            return _those_meant(words, rules)
        return rules if may_be_the_only and len(rules) == 1 else ()
    return ()


def _words(text: str) -> tuple[Word, ...]:
    """What names something in `text`. Pairs with hiragana are mostly endings, and count when there are no others."""
    found: dict[Word, None] = {}
    for written in text.split():
        forms = frozenset(term for term in terms(written, query=True) if term.lstrip("~") not in STOP_WORDS)
        is_word = any(term.startswith("~") for term in forms)
        found.update(dict.fromkeys((forms,) if is_word else [frozenset((form,)) for form in sorted(forms)]))
    without_endings = tuple(word for word in found if not any(map(_ENDING.search, word)))
    return without_endings or tuple(found)


def _those_meant(words: Sequence[Word], rules: Sequence[Rule]) -> Sequence[Rule]:
    """The one rule that has most of these words, or all that have every one and little else."""
    shared = {rule.rule_id: _shared(words, rule) for rule in rules}
    most = max(shared.values())
    best = [rule for rule in rules if shared[rule.rule_id] == most]
    if most < len(words) * _MEANT:
        return ()
    if len(best) == 1:
        return best
    all_alike = most == len(words) and all(len(_words(rule.text)) <= 2 * most for rule in best)
    return best if all_alike else ()


def _shared(words: Sequence[Word], rule: Rule) -> int:
    said = frozenset(terms(rule.text))
    return sum(not word.isdisjoint(said) for word in words)
