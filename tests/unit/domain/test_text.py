from __future__ import annotations

import time
import unicodedata
from typing import Literal

import pytest

from souvenance.domain.terms import terms
from souvenance.domain.text import LINE_BREAKS, clean, clean_key, fold, normalized
from souvenance.errors import EmptyText, TextTooLong, UnusableText


@pytest.mark.parametrize("text", ["  I like tea \n", "\tx", "é", "e\u0301", "👍", "\u202eabc", "ok\u200b"])
def test_a_text_comes_back_exactly_as_given(text: str) -> None:
    assert clean("text", text, limit=500) == text


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t\r", "\u200b\u200d", "\u00a0\u3000", "\x07\x1b", "\ufeff", "\u3164", "\u2800", "\ufe0f"]
)
def test_a_text_that_nobody_can_see_is_empty(text: str) -> None:
    with pytest.raises(EmptyText) as caught:
        clean("text", text, limit=500)
    assert caught.value.details["field"] == "text"


def test_a_text_too_long_is_refused_with_both_figures() -> None:
    assert clean("text", "😀" * 500, limit=500) == "😀" * 500
    with pytest.raises(TextTooLong) as caught:
        clean("text", "😀" * 501, limit=500)
    assert (caught.value.details["size"], caught.value.details["limit"]) == (501, 500)


@pytest.mark.parametrize(("text", "name"), [("ab\0c", "NUL"), ("ab\ud800c", "U+D800"), ("ab\udfff", "U+DFFF")])
def test_what_no_database_takes_is_named_with_its_position(text: str, name: str) -> None:
    with pytest.raises(UnusableText) as caught:
        clean("text", text, limit=500)
    assert name in caught.value.message
    assert "position 2" in caught.value.message


@pytest.mark.parametrize("line_break", list(LINE_BREAKS))
def test_a_key_holds_no_line_break_of_any_kind(line_break: str) -> None:
    with pytest.raises(UnusableText, match="line break"):
        clean_key(f"a{line_break}b")


def test_a_key_is_trimmed_and_keeps_its_case() -> None:
    assert clean_key(" \tUser Name\u3000\n") == "User Name"


def test_a_key_has_128_characters_at_most_after_trimming() -> None:
    assert clean_key(" " + "k" * 128 + " ") == "k" * 128
    with pytest.raises(TextTooLong):
        clean_key("k" * 129)
    with pytest.raises(EmptyText):
        clean_key(" \n ")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I like tea", "i like  TEA."),
        ("I like tea", " I like tea!\n"),
        ("J'habite à Orléans", "j’habite a orleans"),
        ("Straße", "STRASSE"),
        ("ＡＢＣ　１２", "abc 12"),
        ("カフェ", "ｶﾌｪ"),
        ("がっこう", "か\u3099っこう"),
        ("ёлка", "елка"),
        ("Ελλάδα", "ΕΛΛΑΔΑ"),
        ("İstanbul", "istanbul"),
        ("我喜欢茶。", "我喜欢茶"),
        ("I like ❤️", "I like ❤"),
        ("Schöne Grüße", "scho\u0308ne gru\u0308ße"),
    ],
)
def test_texts_that_differ_only_in_typing_fold_alike(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    "texts",
    [
        ("I like C", "I like C++", "I like C#", "I like C+"),
        ("born 1981", "born 1982", "born -1981", "born +1981"),
        ("x = 2", "x = ²", "x ≠ 2"),
        ("10² m", "102 m"),
        ("1½ cups", "11⁄2 cups"),
        ("I like 🍎", "I like 🍏", "I like", "👍", "👍🏽"),
        ("はし", "ばし", "ぱし"),
        ("मल", "मेल", "मिल"),
        ("мой", "мои"),
        ("їжак", "іжак"),
        ("سلام", "سلم"),
        ("Tôi thích bơ", "Tôi thích bò"),
        ("He is vegan?", "He is vegan."),
        ("...", "!!!"),
    ],
)
def test_texts_that_say_different_things_stay_apart(texts: tuple[str, ...]) -> None:
    assert len({fold(text) for text in texts}) == len(texts)


@pytest.mark.parametrize(
    "text", ["." * 400_000 + "a", "。 " * 200_000 + "字", "a" + "\u0323\u0301" * 200_000, "\u200b" * 400_000 + "x"]
)
def test_the_longest_message_is_folded_in_linear_time(text: str) -> None:
    started = time.process_time()
    fold(text)
    terms(text)
    assert time.process_time() - started < 10, "in quadratic time these take minutes"


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC"])
def test_very_many_marks_in_a_row_are_put_in_the_same_order_as_ever(form: Literal["NFC", "NFD", "NFKC"]) -> None:
    text = "a" + "\u0301\u0323\u0327\u20dd\u0344\u0f73" * 10 + "\u200d\u200b" * 20 + "ấ" + "\u0323\u0301" * 30 + "z"
    assert normalized(form, text) == unicodedata.normalize(form, text)
