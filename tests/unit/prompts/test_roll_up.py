"""The questions by which summaries are merged, condensed and mended, and the reading of the answers (S2, S5, S9)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from souvenance.domain.limits import Level
from souvenance.domain.summary import Item, Part, Spot
from souvenance.prompts import condense, merge, refresh
from souvenance.prompts.numbered import Line, Old, Room, Summary, Told
from souvenance.prompts.question import BadAnswer

ROOM = Room(level=Level.DETAILED, tokens=1_000)
NOTHING: dict[str, Any] = {name: [] for name in ("keep", *Part)}


def old(number: int, part: Part, text: str, *, kept: bool = False, day: str = "", about: str = "") -> Old:
    spot = Spot(number, 0)
    return Old(number=number, item=Item(part=part, text=text, first=spot, last=spot, kept=kept, day=day, about=about))


OLDS = (
    old(1, Part.PROMISES, "he will write"),
    old(2, Part.PROMISES, "she will call", kept=True),
    old(3, Part.STATE, "they live in Oslo", about="home"),
    old(4, Part.TIMELINE, "They met", day="May 1"),
    old(5, Part.TIMELINE, "They moved", day="May 9"),
    old(6, Part.STATE, "they live in Rome", about="home"),
    old(7, Part.REFERENCES, "flat 7b"),
)


def merged(**answer: object) -> Summary | BadAnswer:
    return merge.parse(json.dumps(NOTHING | answer), olds=OLDS)


def texts(summary: Summary | BadAnswer) -> list[str]:
    assert isinstance(summary, Summary)
    return [item.text for item in summary.items]


def test_s2_what_stays_is_carried_over_by_number_as_it_was_and_new_lines_name_what_they_are_drawn_from() -> None:
    line = {"text": "They met and moved", "day": "May", "first": 4, "last": 5}
    assert merged(keep=[6, 1, 1], timeline=[line]) == Summary(
        items=(
            Told(part=Part.PROMISES, text="he will write", first=1, last=1),
            Told(part=Part.STATE, text="they live in Rome", first=6, last=6, about="home"),
            Told(part=Part.TIMELINE, text="They met and moved", first=4, last=5, day="May"),
        )
    )


def test_s2_an_open_promise_stays_or_a_new_one_says_what_became_of_it() -> None:
    lost = merged(keep=[3])
    assert lost == BadAnswer(reason="Item 1 is an open promise; keep it or say what became of it.")
    assert texts(merged(promises=[{"text": "he wrote", "kept": True, "first": 1, "last": 1}])) == ["he wrote"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"keep": [8]}, "keep, item 1: the number must be a whole number from 1 to 7."),
        ({"keep": ["1"]}, "keep, item 1: the number must be a whole number from 1 to 7."),
        ({"keep": 1}, "keep must be an array."),
        ({"rules": []}, "As a whole, it must be an object with exactly the fields keep, promises, "),
        ({}, "It keeps nothing"),
    ],
)
def test_s2_anything_else_is_refused_whole_with_the_reason(answer: dict[str, object], reason: str) -> None:
    bad = merged(**answer)
    assert isinstance(bad, BadAnswer)
    assert bad.reason.startswith(reason)


def test_s5_open_promises_and_what_is_true_now_stay_whatever_the_model_says() -> None:
    period = {"text": "They met and moved", "day": "May", "first": 4, "last": 5}
    found = condense.parse(json.dumps({"keep": [7], "timeline": [period]}), olds=OLDS)
    assert texts(found) == ["They met and moved", "he will write", "they live in Rome", "flat 7b"]
    assert isinstance(condense.parse(json.dumps({"keep": [], "timeline": [], "state": []}), olds=OLDS), BadAnswer)
    data = json.loads(condense.ask(OLDS, ROOM).user)
    assert [one["number"] for one in data["stays"]] == [1, 6]
    assert [one["number"] for one in data["items"]] == [2, 3, 4, 5, 7]


def test_s9_words_that_go_are_not_shown_and_only_their_parts_come_back() -> None:
    gone = (old(1, Part.STATE, "SECRET", about="SECRET"), old(2, Part.TIMELINE, "SECRET", day="SECRET"))
    left = [Line(number=1, who="user", text="I am back")]
    question = refresh.ask(left, gone, ROOM)
    assert "SECRET" not in question.system + question.user
    assert json.loads(question.user)["replaced"] == {"state": 1, "timeline": 1}
    line = {"text": "The user is back", "day": "", "first": 1, "last": 1}
    answer = json.dumps({"state": [], "timeline": [line]})
    assert texts(refresh.parse(answer, left=1, gone=gone)) == ["The user is back"]
    assert texts(refresh.parse('{"state": [], "timeline": []}', left=1, gone=gone)) == []
    for bad in ('{"state": []}', '{"state": [], "timeline": [], "promises": []}'):
        assert isinstance(refresh.parse(bad, left=1, gone=gone), BadAnswer)


@pytest.mark.parametrize("asked", [merge.ask(OLDS, ROOM), condense.ask(OLDS, ROOM), refresh.ask(OLDS, OLDS, ROOM)])
def test_s13_each_question_says_what_its_level_keeps_and_how_much(asked: Any) -> None:
    assert "a longer timeline" in asked.system
    assert "about 1000 tokens" in asked.system
    assert "in the language of the conversation" in asked.system
