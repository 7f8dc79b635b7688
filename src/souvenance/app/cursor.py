"""Cursors of pages: opaque words that only the page which gave them can read."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime

from souvenance.errors import BadValue

_MOST_DIGITS = 18


def encode(kind: str, mark: str) -> str:
    return base64.urlsafe_b64encode(f"{kind} {mark}".encode()).decode().rstrip("=")


def decode(cursor: str, kind: str) -> str:
    """The mark in a cursor of this kind; BadValue for anything else."""
    try:
        found, _, mark = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii").partition(" ")
    except (binascii.Error, ValueError) as e:
        raise _not_ours(cursor) from e
    if found != kind or not mark or not mark.isprintable():
        raise _not_ours(cursor)
    return mark


def number(word: str, *, most: int = 2**63 - 1) -> int:
    """The number in a mark, 0 to `most`; BadValue for anything else."""
    if not (word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS and int(word) <= most):
        raise _not_ours(word)
    return int(word)


def moment(word: str) -> datetime:
    """The moment in a mark, with its offset; BadValue for anything else."""
    try:
        read = datetime.fromisoformat(word)
    except ValueError as e:
        raise _not_ours(word) from e
    if read.tzinfo is None:
        raise _not_ours(word)
    return read


def _not_ours(word: str) -> BadValue:
    return BadValue("cursor", value=word, expected="a cursor that a page gave as `next`")
