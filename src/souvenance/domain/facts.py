"""What in a sentence is lost for good when it is left out: exact names, numbers and links (S4)."""

from __future__ import annotations

import re
from collections.abc import Collection

from souvenance.domain.stop_words import STOP_WORDS
from souvenance.domain.text import fold

_LINK = re.compile(
    r"https?://[^\s<>\"'）」]{1,2000}|www\.[^\s<>\"'）」]{1,2000}|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}"
)
_NUMBER = re.compile(r"\d{1,40}(?:[.,:/\-]\d{1,20}){0,6}")
_WORD = re.compile(r"[^\W\d_]{1,60}")
_FOREIGN = re.compile("[\u30a1-\u30fa\u30fc]{3,30}|「[^「」]{1,60}」|《[^《》]{1,60}》|『[^『』]{1,60}』")
_BEGINS = frozenset('.!?…:"“„«(-–—*\n。！？')


def facts(text: str, *, known: Collection[str] = (), determiners: Collection[str] = ()) -> frozenset[str]:
    """The names, numbers and links in `text`, each as it can be compared.

    A word at the beginning of a sentence counts as a name when it is `known` to be one. Where there are `determiners`,
    every noun has a capital (German): those behind a determiner or what may be an adjective are no names.
    """
    starts = (word for word in _WORD.findall(text) if word in known) if known else ()
    return frozenset(map(fold, (*exact_in(text, determiners=determiners), *starts)))


def exact_in(text: str, *, determiners: Collection[str] = ()) -> tuple[str, ...]:
    """The links, numbers and names in `text`, as they stand there."""
    links = _LINK.findall(text)
    if links:
        text = _LINK.sub(" ", text)
    names = names_in(text, determiners=determiners)
    return (*links, *_NUMBER.findall(text), *_FOREIGN.findall(text), *names)


def names_in(text: str, *, determiners: Collection[str] = ()) -> list[str]:
    """The words with a capital that no sentence begins with."""
    found: list[str] = []
    before, end = "", 0
    for word in _WORD.finditer(text):
        name = word.group()
        gap = text[end : word.start()]
        if (
            name[0].isupper()
            and len(name) > 1
            and before
            and _BEGINS.isdisjoint(gap)
            and _is_name(name, before, determiners)
        ):
            found.append(name)
        before, end = name, word.end()
    return found


def _is_name(name: str, before: str, determiners: Collection[str]) -> bool:
    folded = fold(name)
    if folded in STOP_WORDS or (name.isupper() and len(name) > 6):
        return False
    if not determiners:
        return True
    previous = fold(before)
    may_be_adjective = previous.endswith(("e", "en", "er", "es", "em")) and previous not in STOP_WORDS
    return previous not in determiners and not (may_be_adjective and before[0].islower())
