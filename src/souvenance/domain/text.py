"""Check free text and keys at the door, and fold texts to tell whether two say the same (M3, M10, M12)."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby
from typing import Literal

from souvenance.errors import EmptyText, TextTooLong, UnusableText

LINE_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_LINE_BREAK = re.compile(f"[{LINE_BREAKS}]")
# Letters, marks and symbols by their category that nevertheless draw nothing: fillers, joiners, variation selectors.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})

# What NFKC would turn into another number or sign (x² → x2, ½ after 1 → 11/2, ① → 1) or out of an emoji's shape.
_KEPT_DECOMPOSITIONS = ("<super>", "<sub>", "<fraction>", "<circle>")
_KEPT_SYMBOLS = re.compile("[‼⁉ℹ\U0001f100-\U0001f2ff]")
_UNSEEN = re.compile("[\u00ad\u200b\u2060\ufe0e\ufe0f\ufeff]")
_TYPING_VARIANTS = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"'})

_LATIN = "a-zA-Zªºß-öø-ɏɐ-ʯḀ-ỿ"
_GREEK = "Ͱ-Ͽἀ-῿"
_ACCENTS = re.compile(f"[\u0300-\u036f](?<=[{_LATIN}{_GREEK}].)[\u0300-\u036f]*")
# Stress marks and ё fold; й, ї, ў are letters of their own (мой is not мои).
_CYRILLIC_ACCENT = re.compile("[\u0300\u0301](?<=[\u0400-\u052f].)|\u0308(?<=[еЕ].)")
# Horn, hook above, dot below: Vietnamese, where the marks make the word.
_VIETNAMESE = re.compile(f"[{_LATIN}][\u0300-\u036f]*[\u031b\u0309\u0323]")
_SENTENCE_END = " .!。．！…।۔"
# Only among these can there be many combining marks in a row.
_LONG_RUN = re.compile(r"[^\w\s\x00-\x7f]{32,}")


def clean(field: str, text: str, *, limit: int, keep_breaks: bool = True) -> str:
    """Return `text` exactly as given once it can be stored.

    Raises UnusableText (NUL, half of a surrogate pair, or a line break where none may stand), EmptyText (nothing in it
    can be seen) or TextTooLong (more than `limit` code points), each naming `field`.
    """
    _refuse_unstorable(field, text, keep_breaks=keep_breaks)
    if not is_visible(text):
        raise EmptyText(field)
    if len(text) > limit:
        raise TextTooLong(field, size=len(text), limit=limit)
    return text


def clean_key(key: str, limit: int = 128) -> str:
    """Return `key` without the white space around it; same errors as `clean`, field "key"."""
    return clean("key", key.strip(), limit=limit, keep_breaks=False)


def is_visible(text: str) -> bool:
    """Whether any character of `text` leaves a mark on a screen."""
    return any(unicodedata.category(char) not in _INVISIBLE_CATEGORIES and not _BLANK.match(char) for char in text)


def fold(text: str) -> str:
    """Return what two texts have in common when they are equal but for typing (M10).

    Case, compatibility forms, typographic quotes, accents, runs of white space and a closing full stop or exclamation
    mark do not count; digits, signs, emoji, a closing question mark, and the marks of scripts that spell with them do.
    Folding twice changes nothing more.
    """
    if not text.isascii():
        text = _UNSEEN.sub("", text).translate(_TYPING_VARIANTS)
        text = _compatible(_compatible(text).casefold())
        decomposed = normalized("NFD", text)
        text = text if _VIETNAMESE.search(decomposed) else without_accents(text)
    spaced = " ".join(text.casefold().split())
    return spaced.rstrip(_SENTENCE_END) or spaced


def without_accents(text: str) -> str:
    """Return `text` composed (NFC), with Latin, Greek and Cyrillic letters bare of their accents.

    Marks of other scripts (dakuten, vowel signs, nikud, harakat) stay, as do й, ї and ў.
    """
    decomposed = normalized("NFD", text)
    bare = _CYRILLIC_ACCENT.sub("", _ACCENTS.sub("", decomposed))
    return normalized("NFC", bare)


def normalized(form: Literal["NFC", "NFD", "NFKC"], text: str) -> str:
    """As `unicodedata.normalize`, which takes quadratic time for long runs of marks that are not in order."""
    return unicodedata.normalize(form, text if text.isascii() else _LONG_RUN.sub(_with_marks_in_order, text))


def _with_marks_in_order(run: re.Match[str]) -> str:
    if not any(map(unicodedata.combining, run.group())):
        return run.group()
    pieces = groupby(run.group(), key=lambda char: unicodedata.combining(char) > 0)
    return "".join("".join(sorted(chars, key=unicodedata.combining) if marks else chars) for marks, chars in pieces)


def _refuse_unstorable(field: str, text: str, *, keep_breaks: bool) -> None:
    if found := _UNSTORABLE.search(text):
        name = "a NUL character" if found.group() == "\0" else f"half of a surrogate pair (U+{ord(found.group()):04X})"
        raise UnusableText(field, problem=f"{name} at position {found.start()}")
    if not keep_breaks and (found := _LINE_BREAK.search(text)):
        raise UnusableText(field, problem=f"a line break (U+{ord(found.group()):04X}) at position {found.start()}")


def _compatible(text: str) -> str:
    meant = {char: _compatible_character(char) for char in set(text)}
    return normalized("NFC", "".join(map(meant.__getitem__, text)))


def _compatible_character(char: str) -> str:
    if char.isascii() or _KEPT_SYMBOLS.match(char):
        return char
    if unicodedata.decomposition(char).startswith(_KEPT_DECOMPOSITIONS):
        return char
    return unicodedata.normalize("NFKC", char)
