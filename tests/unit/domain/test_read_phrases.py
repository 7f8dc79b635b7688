"""Language files are read strictly: a mistake names its file and field (X3)."""

from __future__ import annotations

from importlib.resources import files

import pytest

from souvenance.domain.find_rules import find_rules
from souvenance.domain.limits import Limits
from souvenance.domain.phrases import clauses
from souvenance.domain.read_phrases import compiled, read_phrases
from souvenance.errors import SettingError
from souvenance.wiring import installed_phrases

ENGLISH = (files("souvenance") / "languages" / "en.toml").read_text(encoding="utf-8")


def test_x3_eight_languages_are_installed_and_read_once() -> None:
    phrases = installed_phrases()
    assert {one.code for one in phrases.languages} == {"en", "fr", "de", "es", "pt", "it", "zh", "ja"}
    assert installed_phrases() is phrases


def test_x3_a_language_is_added_by_a_file_alone() -> None:
    dutch = (
        ENGLISH.replace('code = "en"', 'code = "nl"')
        .replace('"from now on"', '"vanaf nu"')
        .replace('"the", "and"', '"het", "een", "mij", "nu"')
    )
    phrases = read_phrases({"en.toml": ENGLISH, "nl.toml": dutch})
    said = "Vanaf nu noem je mij Bo en het is een feit."
    assert find_rules(said, phrases, Limits()) == (said,)
    assert find_rules(said, read_phrases({"en.toml": ENGLISH}), Limits()) == ()


@pytest.mark.parametrize(
    ("changed", "into", "field"),
    [
        ("[language]", "[language", "toml"),
        ("[language]", "[speech]", "speech"),
        ('code = "en"', 'code = "xx"', "language.code"),
        ("spaced = true", 'spaced = "yes"', "language.spaced"),
        ("determiners = []", "", "language.determiners"),
        ("determiners = []", "determiners = [1]", "language.determiners"),
        ("months = []", "months = [ ' ' ]", "sentences.months"),
        ("months = []", "moons = []\nmonths = []", "sentences.moons"),
        ("\nstanding = [", "\nlasting = [", "phrases.standing"),
        ("\nstanding = [", '\nstanding = "x"\nother = [', "phrases.other"),
        ('"from now on"', '"(from now on"', "phrases.standing"),
        ('"from now on"', '"from now on)"', "phrases.standing"),
        ('"from now on"', '"... from now on"', "phrases.standing"),
        ('"from now on"', '"*ing"', "phrases.standing"),
        ('name = ["my name is"', 'name = ["(my (name) is"', "state.name"),
    ],
)
def test_x3_a_mistake_in_a_file_is_named_with_its_field(changed: str, into: str, field: str) -> None:
    assert changed in ENGLISH
    with pytest.raises(SettingError) as raised:
        read_phrases({"en.toml": ENGLISH.replace(changed, into, 1)})
    assert raised.value.details["setting"] == f"languages/en.toml: {field}"


@pytest.mark.parametrize(
    ("phrase", "fits", "fits_not"),
    [
        ("call me", ["please call me bo"], ["call mean", "recall me"]),
        ("(no|not) more", ["no more x", "not more"], ["nor more"]),
        ("never [ever] lie", ["never lie", "never ever lie"], ["never not lie"]),
        ("from now [on]", ["from now on", "from now"], ["from no"]),
        ("stop *ing", ["stop shouting"], ["stop it"]),
        ("you can ... again", ["you can swear again", "you can again"], ["you can swear"]),
        ("oder$", ["gut oder"], ["oder gut"]),
        ("j'aime", ["moi j' aime ca"], ["j' aimerais"]),
    ],
)
def test_a_phrase_fits_whole_words_and_bounded_gaps(phrase: str, fits: list[str], fits_not: list[str]) -> None:
    phrases = compiled([phrase], spaced=True)
    assert [text for text in fits if phrases.find(text) is None] == []
    assert [text for text in fits_not if phrases.find(text) is not None] == []


def test_clauses_are_plain_and_bare_of_punctuation() -> None:
    assert clauses("Oh, «Désormais» — tutoie-moi (s'il te plaît)!") == (
        "oh",
        "«desormais»",
        "tutoie moi",
        "s' il te plait",
    )
