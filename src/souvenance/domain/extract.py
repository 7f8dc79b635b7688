"""A summary without a model: the sentences of the messages that carry what must not be lost (S11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from souvenance.domain.choose import Candidate, choose
from souvenance.domain.conversation import Role
from souvenance.domain.facts import facts, names_in
from souvenance.domain.find_rules import find_rules, is_question
from souvenance.domain.limits import Limits
from souvenance.domain.node_text import one_line
from souvenance.domain.own_words import own_words
from souvenance.domain.phrases import Language, Phrases, clauses
from souvenance.domain.sentences import spans
from souvenance.domain.summary import Item, Part, Spot

_LONGEST = 280
"""Characters of a line; a longer sentence becomes several."""
_SHORTEST = 12
"""A sentence of fewer characters that names nothing is small talk (half of it in unspaced scripts)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message as a person saw it. `who` is how its author is named in the summary; `time_zone` an IANA name."""

    spot: Spot
    role: Role
    who: str
    text: str
    at: datetime
    time_zone: str

    @property
    def day(self) -> str:
        return self.at.astimezone(ZoneInfo(self.time_zone)).date().isoformat()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """A sentence or part of one: as it stands, and with its quotations out of sight."""

    text: str
    own: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signs:
    """What a sentence shows of itself."""

    facts: frozenset[str]
    is_promise: bool
    is_dated: bool
    is_named: bool
    about: str | None
    asks: bool


def extract(
    heard: Sequence[Heard], phrases: Phrases, *, most_tokens: int, count: Callable[[str], int]
) -> tuple[Item, ...]:
    """The items of a `recent` node, within `most_tokens` as it is written; the same input gives the same items.

    What is a rule of the user's is left out: rules stand apart, and are not of the bound (S4).
    """
    candidates: list[Candidate] = []
    for message in heard:
        languages = phrases.of(message.text)[:2]
        names = frozenset(names_in(message.text)) if not any(one.determiners for one in languages) else frozenset()
        rules = frozenset(find_rules(message.text, phrases, Limits())) if message.role is Role.USER else frozenset()
        of_message = [
            candidate
            for said in _sentences(message.text, phrases)
            if said.text not in rules and (candidate := _candidate(message, said, languages, names)) is not None
        ]
        candidates += _first_ones_more(of_message)
    return choose(candidates, most_tokens=most_tokens, count=count)


def _sentences(text: str, phrases: Phrases) -> Iterator[_Said]:
    own = own_words(text)
    for start, end in spans(own, phrases):
        for first, last in _pieces(text, start, end):
            said = text[first:last].strip()
            if said:
                yield _Said(text=said, own=own[first:last].strip())


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence in lines that are not too long, cut at blanks where there are any."""
    while end - start > _LONGEST:
        cut = text.rfind(" ", start + _LONGEST // 2, start + _LONGEST) + 1 or start + _LONGEST
        yield start, cut
        start = cut
    yield start, end


def _candidate(message: Heard, said: _Said, languages: Sequence[Language], names: frozenset[str]) -> Candidate | None:
    signs = _signs(said, languages, names)
    parts = said.own if len(said.own.strip("\n")) else ""
    says_something = parts and (signs.facts or signs.is_promise or signs.about or signs.is_named)
    wide = not said.text.isascii() and any("\u3040" <= char <= "\u9fff" for char in said.text)
    if not says_something and len(said.text) < (_SHORTEST // 2 if wide else _SHORTEST):
        return None
    part = _part(signs)
    needs_day = signs.is_dated and part is not Part.TIMELINE
    who = f"{message.who}, {message.day}" if needs_day else message.who
    item = Item(
        part=part,
        text=one_line(f"{who}: {said.text}"),
        first=message.spot,
        last=message.spot,
        day=message.day if part is Part.TIMELINE else "",
        about=f"{message.who}: {signs.about}" if part is Part.STATE and signs.about else "",
    )
    return Candidate(item=item, worth=_worth(signs, part, message.role), facts=signs.facts, a_fact=1.5)


def _signs(said: _Said, languages: Sequence[Language], names: frozenset[str]) -> _Signs:
    parts = clauses(said.own)
    determiners = next((one.determiners for one in languages[:1]), frozenset())
    asks = any(is_question(said.own, parts, one.say) for one in languages)
    found = facts(said.text, known=names, determiners=determiners)
    return _Signs(
        facts=found,
        is_promise=not asks and any(one.say.promises.find(part) for one in languages for part in parts),
        is_dated=any(one.say.dates.find(part) for one in languages for part in parts),
        is_named=any(one.say.names.find(part) for one in languages for part in parts),
        about=None if asks else _about(parts, languages),
        asks=asks,
    )


def _about(parts: Sequence[str], languages: Sequence[Language]) -> str | None:
    for language in languages:
        for about, phrases in language.state.items():
            if any(phrases.find(part) for part in parts):
                return about
    return None


def _part(signs: _Signs) -> Part:
    if signs.is_promise:
        return Part.PROMISES
    if signs.about:
        return Part.STATE
    return Part.REFERENCES if signs.facts or signs.is_named or signs.is_dated else Part.TIMELINE


def _worth(signs: _Signs, part: Part, role: Role) -> float:
    own = {Part.PROMISES: 4.0, Part.STATE: 2.5, Part.REFERENCES: 0.5, Part.TIMELINE: 0.4}[part]
    asked = 0.3 if signs.asks else 1.0
    user = 0.3 if role is Role.USER else 0.0
    return (own + 1.5 * signs.is_named + 1.0 * signs.is_dated + user) * asked


def _first_ones_more(candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """The best of a message is worth a little more, so that the lines are spread over the messages."""
    best = max(candidates, key=lambda one: one.worth + len(one.facts), default=None)
    for one in candidates:
        if one is best:
            yield Candidate(item=one.item, worth=one.worth + 0.4, facts=one.facts, a_fact=one.a_fact)
        else:
            yield one
