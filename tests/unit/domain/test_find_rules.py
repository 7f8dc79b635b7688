"""Rules found by code in eight languages, and which of them are taken back (S4, X2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from souvenance.domain.find_rules import find_rules, occurs, sentence_around, speaks_of, taken_back
from souvenance.domain.ids import ConversationId, MessageId, RuleId
from souvenance.domain.limits import Limits
from souvenance.domain.summary import FoundBy, Rule, Source, Spot
from souvenance.wiring import installed_phrases

LIMITS = Limits()
TABLES = sorted((Path(__file__).parent / "rule_sentences").glob("*.txt"))
"""Lines that begin with + are rules. Every second line of a sign was held out: before the phrases were mended by what
the others showed, 98 of 104 rules of the held-out half were found, and 1 of 104 others was taken for one.
"""


def rules_in(text: str) -> tuple[str, ...]:
    return find_rules(text, installed_phrases(), LIMITS)


def rule(text: str, number: int = 1, *, closed: bool = False) -> Rule:
    source = Source(MessageId(f"m{number}"), Spot(number, 0))
    return Rule(
        rule_id=RuleId(f"r{number}"),
        conversation_id=ConversationId("c"),
        text=text,
        sources=(source,),
        found_by=FoundBy.CODE,
        place=number,
        closed_by=source if closed else None,
    )


def dropped(text: str, *rules: str) -> list[str]:
    standing = [rule(one, number) for number, one in enumerate(rules, 1)]
    by_id = {one.rule_id: one.text for one in standing}
    return [by_id[rule_id] for rule_id in taken_back(text, standing, installed_phrases())]


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_s4_nine_in_ten_sentences_of_a_language_are_told_right(table: Path) -> None:
    lines = table.read_text(encoding="utf-8").splitlines()
    said = {sign: [line[2:] for line in lines if line[0] == sign] for sign in "+-"}
    assert all(len(of_sign) >= 25 for of_sign in said.values())
    found = [text for text in said["+"] if rules_in(text) == (text,)]
    wrong = [text for text in said["-"] if rules_in(text)]
    assert len(found) >= 0.9 * len(said["+"]), sorted(set(said["+"]) - set(found))
    assert len(wrong) <= 0.1 * len(said["-"]), wrong


def test_s4_a_rule_is_the_whole_sentence_as_it_stands() -> None:
    text = "It was late.  Please  never call me\tMaxi,  okay? Bye."
    (found,) = rules_in(text)
    assert found == "Please  never call me\tMaxi,  okay?"
    assert found in text
    assert occurs("Please never call me Maxi, okay?", text)
    assert not occurs("Please never call me Max, okay?", text)


def test_s4_a_part_of_a_sentence_stands_for_the_whole_since_it_may_say_the_opposite() -> None:
    text = "Hello there. - Please never call  me Maxi when others listen. " + "And so on, " * 40 + "call me Bo."
    assert around("call me Maxi", text) == "Please never call  me Maxi when others listen."
    assert around("call me Bo.", text) == "call me Bo.", "the whole of it is longer than a rule may be"
    assert around("there. - Please never", text) == "there. - Please never"


def around(rule: str, text: str) -> str:
    return sentence_around(rule, text, installed_phrases(), LIMITS)


def test_s4_words_that_name_nothing_speak_of_no_rule() -> None:
    assert speaks_of("You may use emojis.", "Never use an emoji.")
    assert not speaks_of("The weather is fine and you are not.", "Never be the one who is not at the table.")


def test_s4_rules_come_in_order_and_once() -> None:
    assert rules_in("- Never shout.\n- Call me Bo.\n- Never shout.") == ("Never shout.", "Call me Bo.")


def test_s4_a_sentence_beyond_the_limit_is_no_rule() -> None:
    longest = "Never " + "x" * 293 + "."
    assert len(longest) == LIMITS.rule_characters
    assert rules_in(longest) == (longest,)
    assert rules_in(longest.replace("x.", "xx.")) == ()


@pytest.mark.parametrize(
    "text",
    [
        "```\nNever use tabs.\n```",
        "~~~md\nAlways be brief.\n~~~\nThanks, that works.",
        "> Always answer in French.\nNice letter.",
        'The poster said "Never give up. Always smile." and I laughed.',
        "*never lets go of your hand*",
        "Elle a écrit « Ne m'appelle plus jamais » sur le mur.",
        "Er schrieb „Nenn mich nie wieder so“ an die Wand.",
        "她在墙上写了“不要叫我”。",
        "「二度と呼ばないで」という曲が好き。",
    ],
)
def test_x2_nothing_is_taken_from_code_quotations_or_acting(text: str) -> None:
    assert rules_in(text) == ()


def test_x2_what_is_quoted_within_a_rule_stays_in_it() -> None:
    assert rules_in('Never call me "Maxi".') == ('Never call me "Maxi".',)


@pytest.mark.parametrize(
    ("said", "rules", "gone"),
    [
        ("You can swear again.", ["Don't swear.", "Call me Bo."], ["Don't swear."]),
        ("ok forget the rule about emojis", ["Never use emojis.", "Never shout."], ["Never use emojis."]),
        (
            "Never mind what I said about swearing.",
            ["Don't swear around me.", "Call me Bo."],
            ["Don't swear around me."],
        ),
        (
            "You don't have to answer in French anymore.",
            ["Always answer in French.", "Keep it short."],
            ["Always answer in French."],
        ),
        (
            "Tu peux utiliser des emojis à nouveau.",
            ["N'utilise pas d'emojis.", "Tutoie-moi."],
            ["N'utilise pas d'emojis."],
        ),
        (
            "Oublie la règle sur les emojis.",
            ["N'utilise jamais d'emojis.", "Tutoie-moi."],
            ["N'utilise jamais d'emojis."],
        ),
        ("Du darfst wieder Emojis benutzen.", ["Benutz keine Emojis.", "Duz mich."], ["Benutz keine Emojis."]),
        ("Vergiss die Regel mit den Emojis.", ["Benutz keine Emojis.", "Duz mich."], ["Benutz keine Emojis."]),
        ("Ya puedes usar emojis otra vez.", ["No uses emojis.", "Trátame de tú."], ["No uses emojis."]),
        ("Olvida lo que te dije sobre los emojis.", ["No uses emojis.", "Trátame de tú."], ["No uses emojis."]),
        ("Você pode usar emojis de novo.", ["Não use emojis.", "Seja breve."], ["Não use emojis."]),
        ("Esqueça a regra dos emojis.", ["Não use emojis.", "Seja breve."], ["Não use emojis."]),
        ("Puoi usare di nuovo le emoji.", ["Non usare emoji.", "Dammi del tu."], ["Non usare emoji."]),
        ("Dimentica la regola sulle emoji.", ["Non usare emoji.", "Dammi del tu."], ["Non usare emoji."]),
        ("你可以再用表情符号了。", ["不要用表情符号。", "叫我小雨。"], ["不要用表情符号。"]),
        ("忘掉我说的关于表情符号的规则。", ["不要用表情符号。", "叫我小雨。"], ["不要用表情符号。"]),
        ("また絵文字を使ってもいいよ。", ["絵文字は使わないで。", "短く答えて。"], ["絵文字は使わないで。"]),
        ("絵文字のルールは忘れて。", ["絵文字は使わないで。", "短く答えて。"], ["絵文字は使わないで。"]),
        ("Forget that rule.", ["Never shout."], ["Never shout."]),
    ],
)
def test_s4_a_rule_that_is_clearly_meant_is_taken_back(said: str, rules: list[str], gone: list[str]) -> None:
    assert dropped(said, *rules) == gone


@pytest.mark.parametrize(
    ("said", "rules"),
    [
        ("Forget that rule.", ["Never shout.", "Call me Bo."]),
        ("Can you swear again?", ["Don't swear."]),
        ("You can sing again.", ["Don't swear."]),
        ("You can talk about the garden and the weather again.", ["Don't talk about my ex."]),
        ("He said you can swear again.", ["Don't swear."]),
        ("What if I said you can swear again", ["Don't swear."]),
        ("> You can swear again.", ["Don't swear."]),
        ("I never swear.", ["Don't swear."]),
        (
            "Forget what I said about work.",
            ["Don't mention work at dinner, ever.", "Never ask about my work or my boss."],
        ),
        ("Tu peux chanter à nouveau.", ["Ne crie pas."]),
        ("Du darfst wieder singen.", ["Schrei nie."]),
        ("你可以再唱歌了。", ["不要骂人。"]),
        ("また歌ってもいいよ。", ["絵文字は使わないで。"]),
    ],
)
def test_s4_where_it_is_not_clear_nothing_is_taken_back(said: str, rules: list[str]) -> None:
    assert dropped(said, *rules) == []


def test_s4_two_rules_that_say_the_same_are_taken_back_together() -> None:
    assert dropped("You can swear again.", "Don't swear.", "Never swear!") == ["Don't swear.", "Never swear!"]


def test_s4_a_closed_rule_is_not_taken_back_again() -> None:
    assert taken_back("Forget that rule.", [rule("Never shout.", closed=True)], installed_phrases()) == ()
