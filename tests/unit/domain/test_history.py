"""What makes two histories the same (I3)."""

from __future__ import annotations

from hashlib import sha256

import pytest

from souvenance.domain.conversation import Role
from souvenance.domain.history import NO_HISTORY, chain, history_hash, normalised


def keyed_hash(text: str) -> bytes:
    return sha256(text.encode()).digest()


def test_the_chained_text_names_every_length() -> None:
    assert chain("ab", Role.USER, "Bonjour !\r\n") == "2:ab4:user9:Bonjour !"


@pytest.mark.parametrize("sent_again", ["Hello\nworld", "Hello\r\nworld", "Hello\rworld", "  Hello\nworld\n\n"])
def test_line_ends_and_white_space_around_a_message_make_no_difference(sent_again: str) -> None:
    assert normalised(sent_again) == "Hello\nworld"


@pytest.mark.parametrize("other", ["Hello  world", "hello world", "Hello\nworld", "Hello world!", "Hello wörld"])
def test_everything_else_in_a_message_makes_another_history(other: str) -> None:
    first = history_hash([(Role.USER, "Hello world")], keyed_hash)
    assert history_hash([(Role.USER, other)], keyed_hash) != first


def test_no_messages_leave_the_hash_as_it_was() -> None:
    assert history_hash([], keyed_hash) == NO_HISTORY
    assert history_hash([], keyed_hash, after="ab") == "ab"


def test_who_said_it_makes_a_difference() -> None:
    assert history_hash([(Role.USER, "a")], keyed_hash) != history_hash([(Role.BOT, "a")], keyed_hash)
