"""The words by which sentences are told apart and understood without a model, of every language that there is data for.

A phrase is a row of words as they are said: `(a|b)` is one of these, `[a|b]` one of these or nothing, `*` the rest of a
word, `...` a few words of any kind, and a `$` at the end says that the clause ends there. Phrases and texts are
compared after `plain`. What a phrase compiles to has bounded gaps only, and is tried only where its first word stands,
so that the time stays linear in the length of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from souvenance.domain.text import fold

_ELISION = re.compile(r"(?<!\w)(\w{1,2}')(?=\w)")
_HYPHEN = re.compile(r"(?<=[^\W\d)])-(?=[^\W\d(])")
_CLAUSE_BREAK = re.compile(r"[,;:()\[\]\n—–、·•。.!?…~]+| - |--+")
_AROUND = " \"'*_<>-\ufffc"
_TOLD_FROM = 4_000
"""Characters of a message that its language is told from."""
_FEW = 2
"""So few common words tell no language."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def plain(text: str) -> str:
    """`text` as it is compared: folded, with a blank for a hyphen and after an elided word (j'aime → j' aime)."""
    return _ELISION.sub(r"\1 ", _HYPHEN.sub(" ", fold(text)))


def clauses(sentence: str) -> tuple[str, ...]:
    """The clauses of a sentence, `plain` and without the punctuation around them."""
    split = (" ".join(clause.strip(_AROUND).split()) for clause in _CLAUSE_BREAK.split(plain(sentence)))
    return tuple(clause for clause in split if clause)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseSet:
    """Phrases of one kind and language as regular expressions, by the word that each begins with (of an unspaced
    language: the character). Each is compiled when it is first tried: most are never.
    """

    spaced: bool
    by_first: Mapping[str, tuple[str, ...]]

    def find(self, clause: str) -> re.Match[str] | None:
        """The first phrase that stands anywhere in a clause."""
        words = clause.split(" ") if self.spaced else clause
        if self.by_first.keys().isdisjoint(words):
            return None
        for start, first in self._firsts(clause):
            for pattern in self.by_first.get(first, ()):
                if found := _compiled(pattern).match(clause, start):
                    return found
        return None

    def at(self, clause: str, start: int = 0) -> re.Match[str] | None:
        """The longest phrase that stands at this place of a clause."""
        end = clause.find(" ", start) if self.spaced else start + 1
        first = clause[start : end if end >= 0 else len(clause)]
        matches = [
            found for pattern in self.by_first.get(first, ()) if (found := _compiled(pattern).match(clause, start))
        ]
        return max(matches, key=lambda found: found.end(), default=None)

    def _firsts(self, clause: str) -> Iterator[tuple[int, str]]:
        if not self.spaced:
            yield from enumerate(clause)
            return
        start = 0
        for word in clause.split(" "):
            yield start, word
            start += len(word) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """The phrases of a language by what they say; each is a field of [phrases] in its file.

    Anywhere in a sentence: `standing` (what makes it a standing instruction), `corrections`, `promises`, `dates`,
    `names` (a name stands beside it), and what makes it none: `hypothetical`, `reported`. At the beginning of a
    clause: `commands`, and `no_commands` where the same words are none; `openers` may stand before them. `requests`
    are commands by how a clause ends, unless one of `no_commands` stands in it. `joins` part
    clauses. `passing` says that a command is for now only. `questions` begin one, `question_ends` end one without a
    mark, a clause of `tags` after a sentence makes it none. `allowing` and `dropping` take a rule back: what they leave
    open, or what follows, names it.
    """

    standing: PhraseSet
    commands: PhraseSet
    no_commands: PhraseSet
    requests: PhraseSet
    corrections: PhraseSet
    passing: PhraseSet
    openers: PhraseSet
    joins: PhraseSet
    tags: PhraseSet
    questions: PhraseSet
    question_ends: PhraseSet
    hypothetical: PhraseSet
    reported: PhraseSet
    allowing: PhraseSet
    dropping: PhraseSet
    promises: PhraseSet
    dates: PhraseSet
    names: PhraseSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What is known of one language. `common` words tell it from others; `state` is by what a sentence is about.

    `determiners` are given where every noun has a capital, and are what tells it from a name.
    """

    code: str
    spaced: bool
    common: frozenset[str]
    determiners: frozenset[str]
    say: Kinds
    state: Mapping[str, PhraseSet]

    def score(self, words: Iterable[str], characters: str) -> int:
        """How many words (of an unspaced language: characters) of a text are common ones of this language."""
        if self.spaced:
            return sum(map(self.common.__contains__, words))
        return sum(characters.count(character) for character in self.common)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """The data of all languages. What sentences are split by is told apart by no language."""

    languages: tuple[Language, ...] = ()
    abbreviations: frozenset[str] = frozenset()
    before_ordinals: frozenset[str] = frozenset()
    months: frozenset[str] = frozenset()

    def of(self, text: str) -> tuple[Language, ...]:
        """The languages that `text` is likely in, likeliest first; all of them when too little tells."""
        folded = plain(text[:_TOLD_FROM])
        words = [word.strip('.,;:!?…"()') for word in folded.split()]
        scored = [(language.score(words, folded), language) for language in self.languages]
        best = max((score for score, _ in scored), default=0)
        likely = [pair for pair in scored if best <= _FEW or pair[0] >= best * 0.6]
        return tuple(language for _, language in sorted(likely, key=lambda pair: -pair[0]))
