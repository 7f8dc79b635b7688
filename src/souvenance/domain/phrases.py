"""The words by which sentences are told apart and understood without a model, of every language that there is data for.

A phrase is a row of words as they are said: `(a|b)` is one of these, `[a|b]` one of these or nothing, `*` the rest of a
word, `...` a few words of any kind, and a `$` at the end says that the clause ends here. Phrases and texts are compared
after `plain`. What a phrase compiles to has bounded gaps only, and is tried only where its first word stands, so that
the time stays linear in the length of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from souvenance.domain.text import fold

_PIECE = re.compile(r"\.\.\.|[()\[\]|*$ ]|[^()\[\]|*$ .]+|\.")
_ELISION = re.compile(r"(?<!\w)(\w{1,2}')(?=\w)")
_CLAUSE_BREAK = re.compile(r"[,;:()\[\]\n—–、·•。.!?…]+| - |--+")
_AT_BORDERS = " \"'*_~<>-"
_MOST_WORDS = 60_000
"""Characters of a message that its language is told from."""


def plain(text: str) -> str:
    """`text` as it is compared: folded, and with a blank after an elided word (j'aime → j' aime)."""
    return _ELISION.sub(r"\1 ", fold(text))


def clauses(sentence: str) -> tuple[str, ...]:
    """The clauses of a sentence, `plain` and without the punctuation around them."""
    split = (clause.strip(_AT_BORDERS) for clause in _CLAUSE_BREAK.split(plain(sentence)))
    return tuple(clause for clause in split if clause)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseSet:
    """Phrases of one kind and language, by the word (of an unspaced language: the character) that each begins with."""

    spaced: bool
    by_first: Mapping[str, tuple[re.Pattern[str], ...]]

    def find(self, clause: str) -> re.Match[str] | None:
        """The first phrase that stands anywhere in a clause."""
        for start, first in self._firsts(clause):
            for pattern in self.by_first.get(first, ()):
                if found := pattern.match(clause, start):
                    return found
        return None

    def at(self, clause: str, start: int) -> re.Match[str] | None:
        """The phrase that stands at this place of a clause."""
        end = clause.find(" ", start) if self.spaced else start + 1
        for pattern in self.by_first.get(clause[start : end if end >= 0 else len(clause)], ()):
            if found := pattern.match(clause, start):
                return found
        return None

    def _firsts(self, clause: str) -> Iterator[tuple[int, str]]:
        if not self.spaced:
            yield from enumerate(clause)
            return
        start = 0
        for word in clause.split(" "):
            yield start, word
            start += len(word) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What is known of one language; each field is a field of its data file."""

    code: str
    spaced: bool
    common: frozenset[str]
    phrases: Mapping[str, PhraseSet]
    state: Mapping[str, PhraseSet]

    def score(self, words: Iterable[str], characters: str) -> int:
        """How many words (of an unspaced language: characters) of a text are common ones of this language."""
        if self.spaced:
            return sum(word in self.common for word in words)
        return sum(characters.count(character) for character in self.common)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """The data of all languages. `abbreviations` and `before_ordinals` are told apart by no language: splitting is
    done before it is known.
    """

    languages: tuple[Language, ...] = ()
    abbreviations: frozenset[str] = frozenset()
    before_ordinals: frozenset[str] = frozenset()
    months: frozenset[str] = frozenset()

    def of(self, text: str) -> tuple[Language, ...]:
        """The languages that `text` is likely in, likeliest first; all of them when nothing tells."""
        folded = plain(text[:_MOST_WORDS])
        words = [word.strip(".,;:!?…\"'()") for word in folded.split()]
        scored = [(language.score(words, folded), language) for language in self.languages]
        best = max((score for score, _ in scored), default=0)
        likely = [(score, language) for score, language in scored if score >= best * 0.6]
        return tuple(language for _, language in sorted(likely, key=lambda pair: -pair[0]))
