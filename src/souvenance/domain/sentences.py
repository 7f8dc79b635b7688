"""Split a message into sentences, in scripts with and without spaces; joined again they are the message."""

from __future__ import annotations

import re
from collections.abc import Iterator

from souvenance.domain.phrases import Phrases

_END = re.compile("[.!?…。！？｡‼⁉⁈]+[\"'”’»›)）\\]」』】》]*|[\n\r\u2028\u2029]+")
_WIDE = frozenset("。！？｡")
_CLOSERS = "\"'”’»›)）]」』】》"
_SPACE = re.compile(r"\s*")
_NEXT_WORD = re.compile(r"[\s(\"'“„«¿¡]{0,8}(\w{0,16})")
_TOKEN = re.compile(r"[^\s(\"'“„«\[]*\Z")
_BEFORE_NUMBER = re.compile(r"(\w{0,12})\s\Z")
_LOOK_BACK = 32
"""Characters before a full stop that tell whether it ends a sentence."""


def sentences(text: str, phrases: Phrases) -> tuple[str, ...]:
    """The sentences of `text`, each with the white space after it: joined they are `text`."""
    return tuple(text[start:end] for start, end in spans(text, phrases))


def spans(text: str, phrases: Phrases) -> Iterator[tuple[int, int]]:
    """Where each sentence begins and ends, without gaps. The time is linear in the length of `text`."""
    start = 0
    for mark in _END.finditer(text):
        if mark.end() > start and _ends(text, mark, phrases):
            space = _SPACE.match(text, mark.end())
            end = space.end() if space else mark.end()
            yield start, end
            start = end
    if start < len(text):
        yield start, len(text)


def _ends(text: str, mark: re.Match[str], phrases: Phrases) -> bool:
    signs = mark.group().rstrip(_CLOSERS)
    after = text[mark.end() : mark.end() + 1]
    if not signs.strip("\n\r\u2028\u2029") or not after:
        return True
    if not _WIDE.isdisjoint(signs):
        return signs == mark.group() or not after.isalnum()
    if not after.isspace():
        return _is_unspaced(after) and not (signs == "." and text[mark.start() - 1 : mark.start()].isalnum())
    if set(signs) <= {".", "…"}:
        following = _word_after(text, mark.end())
        if signs != ".":
            return not following[:1].islower()
        return _stops(text, mark.start(), following, phrases)
    return True


def _stops(text: str, stop: int, following: str, phrases: Phrases) -> bool:
    """Whether the single full stop at `stop` ends a sentence, and no abbreviation, initial, ordinal or list mark."""
    before = text[max(0, stop - _LOOK_BACK) : stop]
    found = _TOKEN.search(before)
    word = found.group() if found else ""
    if word.isdecimal() and len(word) <= 2:
        return not _is_ordinal(before[: len(before) - len(word)], following, phrases)
    if word.casefold() in phrases.abbreviations:
        return False
    if len(word) == 1 and word.isupper() and word != "I":
        return not following[:1].isupper()
    return not ("." in word.strip(".") and following[:1].islower())


def _is_ordinal(before: str, following: str, phrases: Phrases) -> bool:
    """3. Mai, am 3. Tag, and the 3. that begins a line of a list."""
    if following.casefold() in phrases.months or not before.strip(" \t") or before[-1:] == "\n":
        return True
    found = _BEFORE_NUMBER.search(before)
    return found is not None and found[1].casefold() in phrases.before_ordinals


def _word_after(text: str, end: int) -> str:
    found = _NEXT_WORD.match(text, end)
    return found[1] if found else ""


def _is_unspaced(char: str) -> bool:
    """Han, kana and their signs: no blank stands before them."""
    return "\u2e80" <= char <= "\u9fff" or "\uff00" <= char <= "\uffef"
