from __future__ import annotations

import time

import pytest

from souvenance.domain.stop_words import STOP_WORDS
from souvenance.domain.terms import terms


def meet(one: str, other: str) -> bool:
    return bool(set(terms(one)) & set(terms(other, query=True)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("horses", "horse"),
        ("running", "runs"),
        ("ALLERGIES", "allergy"),
        ("mangé", "mangeait"),
        ("chevaux", "cheval"),
        ("préférer", "PREFERE"),
        ("Häuser", "Haus"),
        ("Kinder", "Kind"),
        ("gatos", "gato"),
        ("falando", "falar"),
        ("libri", "libro"),
        ("лошади", "лошадь"),
        ("ёлка", "елка"),
        ("straße", "STRASSE"),
        ("Tromsø", "tromsø"),
        ("naïve cafés", "cafe"),
        ("ＡＢＣ", "abc"),
        ("مُحَمَّد", "محمد"),
        ("l’eau", "eau"),
        ("Alice's", "alice"),
        ("you needn’t worry", "needn't"),
        ("O'Connor", "o’connor"),
        ("jusqu'aujourd'hui", "aujourd'hui"),
        ("a well-known one", "known"),
        ("user_name", "name"),
        ("born 1981", "1981"),
        ("上海的夜景", "夜景"),
        ("私はコーヒーが好き", "コーヒー"),
        ("ｺｰﾋｰ", "コーヒー"),
        ("사과를 좋아해", "사과"),
        ("ฉันชอบแมว", "แมว"),
        ("I love 👍🏽 it", "👍"),
        ("❤️", "❤"),
        ("from 🇫🇷 with love", "🇫🇷"),
    ],
)
def test_what_a_person_would_call_the_same_word_meets(one: str, other: str) -> None:
    assert meet(one, other)
    assert meet(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C++", "C#"),
        ("C++", "C"),
        ("1981", "1982"),
        ("🍎", "🍏"),
        ("👩‍💻", "👩"),
        ("上海", "海上"),
        ("university", "universe"),
        ("मेल", "मूल"),
    ],
)
def test_other_words_do_not_meet(one: str, other: str) -> None:
    assert not meet(one, other)


def test_a_foreign_stemmer_cannot_make_two_words_equal() -> None:
    assert set(terms("car")) != set(terms("care"))


def test_the_index_counts_and_the_query_does_not() -> None:
    assert terms("tea tea") == ["tea", "~tea", "tea", "~tea"]
    assert terms("tea tea", query=True) == ["tea", "~tea"]


def test_stop_words_are_left_out_of_the_query_only() -> None:
    assert "the" in terms("the horse")
    assert terms("where is the horse", query=True) == terms("horse")
    assert terms("où est le cheval de Zoé ?", query=True) == terms("cheval Zoé")


def test_a_query_of_stop_words_only_keeps_them() -> None:
    assert terms("who are you", query=True) == list(dict.fromkeys(terms("who are you")))


@pytest.mark.parametrize("word", ["hat", "man", "sea", "son", "war", "hay", "die", "sick", "may", "ai"])
def test_a_word_that_names_something_is_no_stop_word(word: str) -> None:
    assert word not in STOP_WORDS


def test_stop_words_are_written_as_words_are_folded() -> None:
    assert all(word.isascii() and word.isalpha() and word.islower() for word in STOP_WORDS)


def test_runs_without_spaces_become_pairs_and_a_lone_character_stays() -> None:
    assert terms("我爱猫, 狗") == ["我爱", "爱猫", "狗"]


@pytest.mark.parametrize("text", ["", " \n", "?!… --- '", "\u200b"])
def test_what_has_no_words_has_no_terms(text: str) -> None:
    assert terms(text) == []
    assert terms(text, query=True) == []


@pytest.mark.parametrize(
    "unit", ["horse ", "a", "我", "l'", "'", "👩\u200d", "e\u0301", "c+", "\u0301", "~~~~", "1.", "\U0001f1eb"]
)
def test_two_hundred_thousand_characters_take_linear_time(unit: str) -> None:
    def seconds(size: int) -> float:
        text = (unit * size)[:size]
        start = time.process_time()
        terms(text)
        return time.process_time() - start

    assert seconds(200_000) < 40 * max(seconds(20_000), 0.002)
