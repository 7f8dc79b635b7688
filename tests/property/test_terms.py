from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.stop_words import STOP_WORDS
from souvenance.domain.terms import terms

sayable = st.text(st.characters(codec="utf-8"))


@given(sayable)
def test_a_text_is_found_by_its_own_words(text: str) -> None:
    assert set(terms(text, query=True)) <= set(terms(text))
    assert bool(terms(text, query=True)) == bool(terms(text))


@given(sayable)
def test_every_letter_digit_leads_to_a_term(text: str) -> None:
    if any(char.isascii() and char.isalnum() for char in text):
        assert terms(text)


@given(
    st.lists(st.sampled_from(["horse", "Häuser", "l'eau", "中文", "👍", "1981", "C++", "don't", "лошади"]), min_size=1)
)
def test_words_do_not_change_one_another(words: list[str]) -> None:
    assert terms(" ".join(words)) == [term for word in words for term in terms(word)]


@given(sayable)
def test_case_does_not_count(text: str) -> None:
    assert terms(text.casefold()) == terms(text)


@given(st.text("abcdefghijklmnopqrstuvwxyzéüñ", min_size=1, max_size=80))
def test_a_word_has_at_most_two_terms(word: str) -> None:
    assert 1 <= len(terms(word)) <= 2


@given(st.lists(st.sampled_from(sorted(STOP_WORDS)), max_size=5))
def test_stop_words_vanish_beside_a_word_that_says_something(words: list[str]) -> None:
    assert terms(" ".join([*words, "accordion"]), query=True) == terms("accordion")
