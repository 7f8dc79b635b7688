"""Cursors are opaque, and whatever else is sent as one is refused by name."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest

from souvenance.app.cursor import decode, encode, moment, number
from souvenance.errors import BadValue


def _crafted(inside: bytes) -> str:
    return base64.urlsafe_b64encode(inside).decode().rstrip("=")


def test_a_cursor_gives_back_its_mark_to_its_own_kind_of_page() -> None:
    assert decode(encode("bots", "bot_1 2"), "bots") == "bot_1 2"


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "=",
        "é",
        "no cursor at all",
        encode("bots", ""),
        encode("personas", "per_1"),
        _crafted(b"bots bot_\x00"),
        _crafted(b"bots bot_\n"),
        _crafted("bots bot_²".encode()),
        _crafted(b"bots \xff"),
        _crafted(b"bots"),
    ],
)
def test_anything_else_is_refused(cursor: str) -> None:
    with pytest.raises(BadValue, match="cursor"):
        decode(cursor, "bots")


@pytest.mark.parametrize("word", ["", "-1", "+1", "1_0", " 1", "²", "٣", "１", "1.0", "9" * 30, "9" * 5_000, "8"])
def test_a_mark_that_is_no_number_of_ours_is_refused(word: str) -> None:
    with pytest.raises(BadValue):
        number(word, most=7)
    assert number("7", most=7) == 7


@pytest.mark.parametrize("word", ["", "2026-01-01", "2026-01-01T00:00:00", "yesterday", "٢٠٢٦-01-01T00:00:00+00:00"])
def test_a_mark_that_is_no_moment_of_ours_is_refused(word: str) -> None:
    with pytest.raises(BadValue):
        moment(word)
    assert moment("2026-01-01T00:00:00+00:00") == datetime(2026, 1, 1, tzinfo=UTC)
