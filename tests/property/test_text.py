from __future__ import annotations

import string

from hypothesis import example, given
from hypothesis import strategies as st

from souvenance.domain.text import clean, clean_key, fold
from souvenance.errors import InputError

anything = st.text(st.characters(codec=None))  # lone surrogates too
sayable = st.text(st.characters(codec="utf-8"))


@given(anything)
def test_every_text_is_kept_byte_for_byte_or_refused(text: str) -> None:
    try:
        kept = clean("text", text, limit=20)
    except InputError:
        return
    assert kept == text
    assert len(text) <= 20
    kept.encode("utf-8")


@given(anything)
def test_every_key_taken_is_one_line_and_taken_again_unchanged(key: str) -> None:
    try:
        kept = clean_key(key)
    except InputError:
        return
    assert kept.splitlines() == [kept]
    assert clean_key(kept) == kept


@given(sayable)
@example("ﬀ̈́İ")
@example("ͅα.")
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(sayable)
def test_a_visible_text_never_folds_to_nothing_but_for_unseen_characters(text: str) -> None:
    if any(char.isalnum() for char in text):
        assert fold(text)


@given(sayable)
def test_space_around_a_text_does_not_count(text: str) -> None:
    assert fold(f"  {text}\n") == fold(text)


@given(st.text(string.ascii_letters + " éü中あ"), st.text(string.ascii_letters + " éü中あ"), st.data())
def test_one_digit_or_sign_keeps_two_texts_apart(before: str, after: str, data: st.DataObject) -> None:
    signs = st.sampled_from(string.digits + "+-#%$€=<>²³½−±")
    one, other = data.draw(signs), data.draw(signs)
    assert (fold(before + one + after) == fold(before + other + after)) == (one == other)
