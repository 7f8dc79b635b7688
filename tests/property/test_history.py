"""Chained history hashes over any history (I3)."""

from __future__ import annotations

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.conversation import Role
from souvenance.domain.history import chain, history_hash, normalised

History = list[tuple[Role, str]]

# Few characters, among them those of the encoding itself, so that equal and near-equal histories are met.
texts = st.one_of(st.text("ab1:4\n", max_size=6), st.text(max_size=20))
histories = st.lists(st.tuples(st.sampled_from(Role), texts), max_size=6)


def keyed_hash(text: str) -> bytes:
    return sha256(text.encode(errors="surrogatepass")).digest()


def compared(history: History) -> History:
    return [(role, normalised(text)) for role, text in history]


@given(one=histories, other=histories)
def test_two_histories_have_one_hash_exactly_when_they_are_the_same(one: History, other: History) -> None:
    same = compared(one) == compared(other)
    assert (history_hash(one, keyed_hash) == history_hash(other, keyed_hash)) == same


@given(history=histories, at=st.integers(0, 6))
def test_a_history_can_be_hashed_in_any_steps(history: History, at: int) -> None:
    before = history_hash(history[:at], keyed_hash)
    assert history_hash(history[at:], keyed_hash, after=before) == history_hash(history, keyed_hash)


@given(
    one=st.tuples(texts, st.sampled_from(Role), texts.map(normalised)),
    other=st.tuples(texts, st.sampled_from(Role), texts.map(normalised)),
)
def test_no_two_steps_are_hashed_from_the_same_text(one: tuple[str, Role, str], other: tuple[str, Role, str]) -> None:
    assert (chain(*one) == chain(*other)) == (one == other)


@given(text=texts)
def test_a_normalised_text_stays_as_it_is(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


@given(history=histories, at=st.integers(0, 6), text=texts)
def test_joining_two_messages_makes_another_history(history: History, at: int, text: str) -> None:
    joined = [*history[:at], (Role.USER, text + text), *history[at:]]
    apart = [*history[:at], (Role.USER, text), (Role.USER, text), *history[at:]]
    assert history_hash(joined, keyed_hash) != history_hash(apart, keyed_hash)
