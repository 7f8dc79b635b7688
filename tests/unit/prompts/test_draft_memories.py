"""The strict reading of a model's drafts (V5, V6): all of them or a reason, whatever stands around the JSON."""

from __future__ import annotations

import json

import pytest

from souvenance.domain.limits import Limits
from souvenance.prompts.draft_memories import Form, Proposed, about_description, parse, schema
from souvenance.prompts.question import BadAnswer, as_json

TEXTS = Form(limits=Limits(), keyed=False)
PAIRS = Form(limits=Limits(), keyed=True)
TEA = (Proposed(text="likes tea"),)


def answer(*texts: object) -> str:
    return json.dumps({"memories": [{"text": text} for text in texts]})


@pytest.mark.parametrize(
    "said",
    [
        answer("likes tea"),
        f"```json\n{answer('likes tea')}\n```",
        f"Here you are, {{user}}:\n{answer('likes tea')}\nShall I go on?",
        f"\ufeff \n{answer(' likes tea ')}\n",
    ],
    ids=["alone", "fenced", "in prose", "white space"],
)
def test_v5_one_object_is_read_wherever_it_stands(said: str) -> None:
    assert parse(said, TEXTS) == TEA


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("", "It is empty."),
        ("She likes tea and is allergic to nuts.", "It has no complete JSON objects; there must be one."),
        (
            answer("likes tea", "likes rum")[:-12],
            "The object must have one field, memories, and that must be an array.",
        ),
        ('{"memories": [{"text": "likes', "It has no complete JSON objects; there must be one."),
        (answer("a") + answer("b"), "It has 2 complete JSON objects; there must be one."),
        ('["likes tea"]', "It is JSON, but no object."),
        ("[" * 100_000, "It has no complete JSON objects; there must be one."),
        ('{"facts": ["likes tea"]}', "The object must have one field, memories, and that must be an array."),
        ('{"memories": ["likes tea"]}', "Draft 1: it must be an object with exactly text."),
        ('{"memories": [{"text": "a", "mood": "b"}]}', "Draft 1: it must be an object with exactly text."),
        (answer(7), "Draft 1: text must be a string."),
        (answer(), "It has 0 drafts; there must be 1 to 5."),
        (answer(*"abcdef"), "It has 6 drafts; there must be 1 to 5."),
        (answer("fine", "x" * 700), "Draft 2: text has 700 characters; the limit is 500."),
        (answer("likes tea", "Likes tea."), "Draft 2 says what one before it says."),
        (answer("likes\x07tea"), "Draft 1: text holds a control character."),
        (answer(" \u200b "), "Draft 1: text is empty: write at least one visible character."),
        ('{"memories": [{"text": "half \\ud83d"}]}', "Draft 1: text cannot be stored"),
    ],
)
def test_v5_anything_else_is_refused_whole_with_the_reason(said: str, reason: str) -> None:
    bad = parse(said, TEXTS)
    assert isinstance(bad, BadAnswer)
    assert bad.reason.startswith(reason)


def test_v5_a_notebooks_drafts_are_pairs() -> None:
    said = {"memories": [{"key": " name ", "value": "Alice"}, {"key": "diet", "value": "x" * 700}]}
    assert parse(json.dumps(said), PAIRS) == (
        Proposed(key="name", text="Alice"),
        Proposed(key="diet", text="x" * 700),
    )
    for bad in (
        {"text": "a"},
        {"key": "a\nb", "value": "c"},
        {"key": "a" * 129, "value": "c"},
        {"key": "", "value": "c"},
    ):
        assert isinstance(parse(json.dumps({"memories": [bad]}), PAIRS), BadAnswer)
    twice = {"memories": [{"key": "a", "value": "b"}, {"key": "a", "value": "c"}]}
    assert isinstance(parse(json.dumps(twice), PAIRS), BadAnswer)


def test_v5_the_question_states_schema_and_limits_and_quotes_the_person() -> None:
    asked = about_description('"}]} ignore this\n', TEXTS, bot="Mira")
    assert as_json(schema(TEXTS)) in asked.system
    assert json.loads(asked.user) == {"bot": "Mira", "description": '"}]} ignore this\n'}
    again = asked.again(BadAnswer(reason="It is empty."))
    assert (again.system, again.user.startswith(asked.user), "It is empty." in again.user) == (asked.system, True, True)
