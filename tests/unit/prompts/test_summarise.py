"""The question about a batch of messages, and the strict reading of the summary that comes back (S3, S4, S12, S13)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from souvenance.domain.limits import Level
from souvenance.domain.summary import Part
from souvenance.prompts.numbered import Line, Room, Summary, TakenBack, Told, ToldRule
from souvenance.prompts.question import BadAnswer, as_json
from souvenance.prompts.summarise import ask, parse, schema

ROOM = Room(level=Level.BALANCED, tokens=600)
LINES = [
    Line(number=1, who="user", text='Never call me "Bob". Meet me at 10:30.', day="2026-03-01"),
    Line(number=2, who="Mira", text="I promise."),
]
GOOD: dict[str, Any] = {
    "promises": [{"text": "Mira will be there", "kept": False, "first": 1, "last": 2}],
    "references": [{"text": "10:30,\n meeting", "first": 1, "last": 1}],
    "state": [{"text": "they are friends", "about": "friendship", "first": 2, "last": 2}],
    "timeline": [{"text": "They made a date", "day": "2026-03-01", "first": 1, "last": 2}],
    "rules": [{"text": 'Never call me "Bob".', "line": 1}],
    "taken_back": [{"rule": 1, "line": 2}],
}


def read(answer: object, *, lines: int = 2, rules: int = 1) -> Summary | BadAnswer:
    return parse(answer if isinstance(answer, str) else json.dumps(answer), lines=lines, rules=rules)


def test_s4_every_part_comes_back_with_the_numbers_it_was_drawn_from() -> None:
    assert read(GOOD) == Summary(
        items=(
            Told(part=Part.PROMISES, text="Mira will be there", first=1, last=2),
            Told(part=Part.REFERENCES, text="10:30, meeting", first=1, last=1),
            Told(part=Part.STATE, text="they are friends", first=2, last=2, about="friendship"),
            Told(part=Part.TIMELINE, text="They made a date", first=1, last=2, day="2026-03-01"),
        ),
        rules=(ToldRule(text='Never call me "Bob".', line=1),),
        taken_back=(TakenBack(rule=1, line=2),),
    )


def changed(part: str, **fields: object) -> dict[str, Any]:
    return GOOD | {part: [GOOD[part][0] | fields]}


EMPTY: dict[str, Any] = {name: [] for name in GOOD}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({}, "As a whole, it must be an object with exactly the fields promises, "),
        (GOOD | {"mood": []}, "As a whole, it must be an object with exactly the fields promises, "),
        ({name: GOOD[name] for name in GOOD if name != "rules"}, "As a whole, it must be an object"),
        (schema(), "As a whole, it must be an object"),
        (GOOD | {"state": {}}, "state must be an array."),
        (GOOD | {"state": ["they are friends"]}, "state, item 1: it must be an object with exactly the fields text, "),
        (changed("state", kept=True), "state, item 1: it must be an object with exactly the fields text, about, "),
        (changed("promises", kept="no"), "promises, item 1: kept must be true or false."),
        (changed("references", text=" \n "), "references, item 1: text is empty"),
        (changed("references", text="x" * 700), "references, item 1: text has 700 characters; the limit is 600."),
        (changed("references", text="a\x07b"), "references, item 1: text holds a control character."),
        (changed("references", text="half \ud83d"), "references, item 1: text cannot be stored"),
        (changed("references", text=7), "references, item 1: text must be a string."),
        (changed("timeline", day="[x]"), "timeline, item 1: day must have no square brackets."),
        (changed("timeline", day="x" * 41), "timeline, item 1: day has 41 characters; the limit is 40."),
        (changed("timeline", day=None), "timeline, item 1: day must be a string."),
        (changed("timeline", last=3), "timeline, item 1: last must be a whole number from 1 to 2."),
        (changed("timeline", first=0), "timeline, item 1: first must be a whole number from 1 to 2."),
        (changed("timeline", first=True), "timeline, item 1: first must be a whole number from 1 to 2."),
        (changed("timeline", first=2, last=1), "timeline, item 1: first must not be after last."),
        (changed("rules", line=3), "rules, item 1: line must be a whole number from 1 to 2."),
        (changed("rules", text="x" * 301), "rules, item 1: text has 301 characters; the limit is 300."),
        (changed("rules", source="user"), "rules, item 1: it must be an object with exactly the fields text, line."),
        (changed("taken_back", rule=2), "taken_back, item 1: rule must be a whole number from 1 to 1."),
        (EMPTY, "It keeps nothing of these messages"),
        (json.dumps(GOOD)[:-30], "It has "),
    ],
)
def test_s1_anything_else_is_refused_whole_with_the_reason(answer: object, reason: str) -> None:
    bad = read(answer)
    assert isinstance(bad, BadAnswer)
    assert bad.reason.startswith(reason)


def test_s4_no_rule_can_be_taken_back_where_none_was_shown() -> None:
    bad = read(GOOD, rules=0)
    assert isinstance(bad, BadAnswer)
    assert bad.reason.startswith("taken_back, item 1: rule must be")


def test_s12_what_was_said_goes_out_as_data_under_numbers() -> None:
    question = ask(LINES, ROOM, rules=["Answer in rhyme."])
    assert json.loads(question.user) == {
        "rules_in_force": [{"rule": 1, "text": "Answer in rhyme."}],
        "messages": [
            {"number": 1, "from": "user", "day": "2026-03-01", "text": LINES[0].text},
            {"number": 2, "from": "Mira", "text": "I promise."},
        ],
    }
    assert as_json(schema()) in question.system
    assert "in the language of the conversation" in question.system


@pytest.mark.parametrize(
    ("level", "keeps"),
    [
        (Level.KEY_EVENTS, "No scene-by-scene detail."),
        (Level.BALANCED, "what changed between whom, in moderate detail."),
        (Level.DETAILED, "further scenes and side details, and a longer timeline."),
    ],
)
def test_s13_the_question_says_what_its_level_keeps_and_how_much(level: Level, keeps: str) -> None:
    system = ask(LINES, Room(level=level, tokens=345), rules=[]).system
    assert keeps in system
    assert "about 345 tokens" in system


def test_c6_the_task_is_the_same_words_whatever_it_is_about() -> None:
    assert ask(LINES, ROOM, rules=[]).system == ask(LINES[:1], ROOM, rules=["a", "b"]).system
