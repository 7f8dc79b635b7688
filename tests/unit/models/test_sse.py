from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.models import sse
from souvenance.models.sse import Event, EventReader, EventTooLong

STREAM = (
    b"\xef\xbb\xbf: a comment\r\n"
    b"event: greeting\r\ndata: caf\xc3\xa9\r\n\r\n"
    b"id: 7\ndata:first\ndata: second\n\n"
    b": ping\n\n"
    b"data: one\rdata: two\r\r"
    b"data: [DONE]"
)
EVENTS = [
    Event("greeting", "café".encode()),
    Event("", b"first\nsecond"),
    Event("", b"one\ntwo"),
    Event("", b"[DONE]"),
]


def read(pieces: list[bytes]) -> list[Event]:
    reader = EventReader()
    return [event for piece in pieces for event in reader.feed(piece)] + reader.close()


@given(st.lists(st.integers(0, len(STREAM)), max_size=12).map(sorted))
def test_events_are_the_same_wherever_the_network_cuts(cuts: list[int]) -> None:
    bounds = [0, *cuts, len(STREAM)]
    assert read([STREAM[start:end] for start, end in pairwise(bounds)]) == EVENTS


def test_events_are_the_same_byte_by_byte() -> None:
    assert read([bytes([byte]) for byte in STREAM]) == EVENTS


def test_an_event_leaves_with_the_bytes_that_complete_it() -> None:
    assert EventReader().feed(b"data: 1\n\ndata: 2") == [Event("", b"1")]


def test_a_carriage_return_at_the_end_waits_for_its_line_feed() -> None:
    reader = EventReader()
    assert reader.feed(b"data: 1\r") == []
    assert reader.feed(b"\n\r\n") == [Event("", b"1")]


def test_only_one_space_after_the_colon_is_taken_off() -> None:
    assert read([b"data:  x\n\n"]) == [Event("", b" x")]


def test_a_stream_of_comments_has_no_events() -> None:
    assert read([b": ping\n\n: ping\n\n"]) == []


def test_an_event_without_end_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 100)
    reader = EventReader()
    reader.feed(b"data: " + b"x" * 60 + b"\n")
    with pytest.raises(EventTooLong, match="100 bytes"):
        reader.feed(b"data: " + b"x" * 60)
