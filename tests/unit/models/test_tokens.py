from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.models.tokens import LONGEST_COUNTED, O200k

tokens = O200k()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("hello world", 2), ("我出生在里昂，非常喜欢徒步旅行。", 11), ("\x00", 1)],
)
def test_counts_are_those_of_the_vocabulary(text: str, expected: int) -> None:
    assert tokens.count(text) == expected


def test_a_special_token_in_a_text_counts_as_text() -> None:
    assert tokens.count("<|endoftext|>") == 7


@given(st.text(max_size=200))
def test_any_text_has_between_one_token_and_one_per_byte(text: str) -> None:
    assert bool(text) <= tokens.count(text) <= len(text.encode())


def test_past_the_longest_counted_text_the_count_grows_in_proportion() -> None:
    half = tokens.count("ab " * (LONGEST_COUNTED // 3 + 1))
    assert tokens.count("ab " * 2 * (LONGEST_COUNTED // 3 + 1)) == pytest.approx(2 * half, rel=0.001)
