"""Cursors of pages: opaque words that only the page which gave them can read."""

from __future__ import annotations

import base64
import binascii

from souvenance.errors import BadValue


def encode(kind: str, mark: str) -> str:
    return base64.urlsafe_b64encode(f"{kind} {mark}".encode()).decode().rstrip("=")


def decode(cursor: str, kind: str) -> str:
    """The mark in a cursor of this kind; BadValue for anything else."""
    try:
        found, _, mark = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().partition(" ")
    except (binascii.Error, UnicodeDecodeError, ValueError) as e:
        raise BadValue("cursor", value=cursor, expected="a cursor that a page gave as `next`") from e
    if found != kind or not mark:
        raise BadValue("cursor", value=cursor, expected="a cursor that a page gave as `next`")
    return mark
