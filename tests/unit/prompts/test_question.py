"""The reading of one JSON object out of whatever a model writes around it (S12, V5)."""

from __future__ import annotations

import pytest

from souvenance.prompts.question import BadAnswer, Question, object_in

OBJECT = '{"text": "he said </think> {so}"}'
READ = {"text": "he said </think> {so}"}


@pytest.mark.parametrize(
    "answer",
    [
        OBJECT,
        f'<think>The schema wants {{"text": 1}}.</think>{OBJECT}',
        f"\n<thinking>\nHm.\n</thinking>\n\n```json\n{OBJECT}\n```",
        f'A template opened the block: {{"text": 2}}\n</think>\n{OBJECT}',
        f"Here:\n{OBJECT}\nDone.",
    ],
    ids=["alone", "thought", "thought and fence", "thought without a beginning", "prose"],
)
def test_s12_what_a_model_thinks_aloud_is_passed_over(answer: str) -> None:
    assert object_in(answer) == READ


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "It is empty."),
        (" \n", "It is empty."),
        ("<think>Let me see {", "It is only reasoning; the JSON object is missing."),
        ("<think>Let me see.</think> ", "It is only reasoning; the JSON object is missing."),
        ("Let me see.\n</think>", "It is only reasoning; the JSON object is missing."),
        ('{"text": "a", "text": "b"}', "One of its objects has a field twice."),
        ('So: {"text": [{"a": 1, "a": 2}]}', "One of its objects has a field twice."),
        ('{"text": "a"} or {"text": "b"}', "It has 2 complete JSON objects; there must be one."),
        (OBJECT[:-1], "It has no complete JSON objects; there must be one."),
        ("\n" * 400_000 + "x", "It has no complete JSON objects; there must be one."),
        ("{" * 100_000, "It has no complete JSON objects; there must be one."),
        ('{"n": ' + "9" * 5_000 + "}", "It has no complete JSON objects; there must be one."),
    ],
)
def test_s12_anything_else_is_refused_with_a_reason_to_mend_it_by(answer: str, reason: str) -> None:
    assert object_in(answer) == BadAnswer(reason=reason)


def test_s1_an_answer_that_says_what_the_task_says_is_told_from_one_that_quotes_the_user() -> None:
    task = "Keep the summary of a conversation. What you leave out is forgotten for ever and ever."
    question = Question(system=task, user='{"text": "hello"}')
    assert question.repeated_in("Sure. What you leave out is forgotten for ever and ever.")
    assert not question.repeated_in("She keeps the summary of a conversation in a drawer.")
    quoted = Question(system=task, user='{"text": "What you leave out is forgotten for ever and ever."}')
    assert not quoted.repeated_in("The user said: What you leave out is forgotten for ever and ever.")
