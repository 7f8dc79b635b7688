"""V8: what a batch read again may change, by number, and nothing that was pinned."""

from __future__ import annotations

import json
from typing import Any

import pytest

from souvenance.domain.limits import Limits
from souvenance.prompts.deepen import Add, Change, Forget, Known, Update, ask, parse, schema
from souvenance.prompts.memory_tools import WORTH
from souvenance.prompts.numbered import Line
from souvenance.prompts.question import BadAnswer, as_json

LINES = [Line(number=1, who="user", text="I moved to Oslo."), Line(number=2, who="Mira", text="Lovely.")]
KNOWN = (
    Known(text="Is called Al", number=None),
    Known(text="Lives in Rome", number=1),
    Known(text="Has a dog", number=2, subject="Eve"),
)


def read(**answer: Any) -> tuple[Change, ...] | BadAnswer:
    whole = {"add": [], "update": [], "forget": []} | answer
    return parse(json.dumps(whole), lines=2, memories=KNOWN, limits=Limits())


def add(text: str = "Sails", **more: object) -> dict[str, object]:
    return {"text": text, "subject": "", "lines": [1]} | more


def test_v8_changes_come_back_by_number_with_the_messages_they_were_drawn_from() -> None:
    assert read(
        add=[add(subject="Eve", lines=[2, 1, 2])],
        update=[{"number": 1, "text": "Lives in Oslo", "lines": [1]}],
        forget=[{"number": 2, "lines": [2]}],
    ) == (
        Add(text="Sails", lines=(1, 2), subject="Eve"),
        Update(number=1, text="Lives in Oslo", lines=(1,)),
        Forget(number=2, lines=(2,)),
    )
    assert read() == ()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"add": [add(str(n)) for n in range(4)]}, "It has 4 changes; there may be 3 at most."),
        ({"add": [add("Sails"), add("sails.")]}, "It changes one memory twice, or adds one twice."),
        ({"update": [{"number": 1, "text": "a", "lines": [1]}] * 2}, "It changes one memory twice"),
        ({"forget": [{"number": 3, "lines": [1]}]}, "forget, item 1: number must be that of a memory"),
        ({"forget": [{"number": None, "lines": [1]}]}, "forget, item 1: number must be that of a memory"),
        ({"forget": [{"number": True, "lines": [1]}]}, "forget, item 1: number must be that of a memory"),
        ({"add": [add(lines=[])]}, "add, item 1: lines must name at least one message."),
        ({"add": [add(lines=[3])]}, "add, item 1: lines, item 1: the number must be a whole number from 1 to 2."),
        ({"add": [add("x" * 501)]}, "add, item 1: text has 501 characters; the limit is 500."),
        ({"add": [add(subject=7)]}, "add, item 1: subject must be a string."),
        ({"add": [add(pinned=True)]}, "add, item 1: it must be an object with exactly the fields text, "),
        ({"pin": []}, "As a whole, it must be an object with exactly the fields add, update, forget."),
    ],
)
def test_v8_anything_else_is_refused_whole_with_the_reason(answer: dict[str, object], reason: str) -> None:
    bad = read(**answer)
    assert isinstance(bad, BadAnswer)
    assert bad.reason.startswith(reason)


def test_m13_the_question_says_what_is_worth_keeping_and_shows_pinned_memories_without_a_number() -> None:
    question = ask(LINES, KNOWN, Limits())
    assert WORTH in question.system
    assert as_json(schema(Limits())) in question.system
    assert json.loads(question.user)["memories"] == [
        {"text": "Is called Al"},
        {"number": 1, "text": "Lives in Rome"},
        {"number": 2, "subject": "Eve", "text": "Has a dog"},
    ]
