from __future__ import annotations

import json
from typing import Any

import pytest

from souvenance.domain.conversation import Role
from souvenance.errors import BadValue, InputError, UnusableText
from souvenance.server.openai_request import NOT_REMEMBERED, ChatBody, is_utility, parse_chat


def parse(**fields: Any) -> ChatBody:
    return parse_chat(json.dumps({"model": "Mira", **fields}).encode())


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def test_a_request_is_split_at_its_newest_user_message() -> None:
    system = [{"role": "system", "content": "Main"}, {"role": "developer", "content": "Rules"}]
    note = {"role": "system", "content": "A note inside the history"}
    calls = {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1"}]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "7"}
    history = [user("one"), {"role": "assistant", "content": "two"}, note, calls, result]
    prefill = {"role": "assistant", "content": "Sure, "}
    body = parse(messages=[*system, *history, user("three"), prefill])
    assert body.system == tuple(system)
    assert body.history == ((Role.USER, "one"), (Role.BOT, "two"))
    assert body.user_message == user("three")
    assert body.text == "three"
    assert body.tail == (prefill,)


def test_a_system_message_after_the_newest_user_message_goes_on_with_it() -> None:
    note = {"role": "system", "content": "Write as the user"}
    assert parse(messages=[user("hi"), note]).tail == (note,)


def test_text_parts_are_joined_by_newlines_and_the_message_stays_as_it_came() -> None:
    parts = [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": "data:,"}},
        {"type": "text", "text": "Nice?"},
    ]
    body = parse(messages=[user(parts)])
    assert body.text == "Look:\nNice?"
    assert body.user_message == user(parts)


def test_a_message_of_an_image_alone_is_recorded_as_one() -> None:
    assert parse(messages=[user([{"type": "image_url", "image_url": {"url": "data:,"}}])]).text == "[image_url]"


def test_unknown_fields_go_on_untouched() -> None:
    tools = [{"type": "function", "function": {"name": "weather"}}]
    body = parse(messages=[user("hi")], top_k=4, provider={"order": ["x"]}, tools=tools, stream=True)
    assert body.fields == {"top_k": 4, "provider": {"order": ["x"]}}
    assert body.tools == tuple(tools)
    assert body.stream is True


def test_a_request_without_stream_does_not_stream() -> None:
    assert parse(messages=[user("hi")]).stream is False


def test_the_notice_that_memory_was_unavailable_is_no_part_of_what_was_said() -> None:
    again = {"role": "assistant", "content": "Hi" + NOT_REMEMBERED}
    assert parse(messages=[user("a"), again, user("b")]).history == ((Role.USER, "a"), (Role.BOT, "Hi"))


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [(None, False), ({"include_usage": True}, True), ({"include_usage": False}, False), ({}, False)],
)
def test_usage_is_sent_to_a_client_that_asks_for_it(asked: Any, wanted: bool) -> None:
    assert parse(messages=[user("hi")], stream_options=asked).wants_usage is wanted


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"messages": []}, "messages"),
        ({}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": ["hi"]}, "messages.0"),
        ({"messages": [{"role": "narrator", "content": "hi"}]}, "messages.0.role"),
        ({"messages": [{"content": "hi"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": 7}]}, "messages.0.content"),
        ({"messages": [{"role": "user", "content": ["hi"]}]}, "messages.0.content.0"),
        ({"messages": [{"role": "system", "content": "hi"}]}, "messages"),
        ({"messages": [{"role": "assistant", "content": "hi"}]}, "messages"),
        ({"messages": [user("hi")], "model": None}, "model"),
        ({"messages": [user("hi")], "model": " "}, "model"),
        ({"messages": [user("hi")], "model": 7}, "model"),
        ({"messages": [user("hi")], "stream": "yes"}, "stream"),
        ({"messages": [user("hi")], "n": 2}, "n"),
        ({"messages": [user("hi")], "tools": {}}, "tools"),
    ],
)
def test_a_field_that_cannot_be_taken_is_named(fields: dict[str, Any], where: str) -> None:
    with pytest.raises(BadValue) as refused:
        parse(**fields)
    assert refused.value.details["field"] == where


@pytest.mark.parametrize("data", [b"", b"{", b'{"model": NaN}', b"\xff\xfe", b"[" * 100_000])
def test_what_is_not_json_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(InputError, match="The body is not JSON"):
        parse_chat(data)


@pytest.mark.parametrize("data", [b"[]", b'"hi"', b"7", b"null"])
def test_json_that_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(BadValue, match="a JSON object"):
        parse_chat(data)


def test_half_a_surrogate_pair_is_refused_wherever_it_stands() -> None:
    with pytest.raises(UnusableText) as refused:
        parse(messages=[{"role": "system", "content": "a\ud800"}, user("hi")])
    assert refused.value.details["field"] == "messages.0.content"


@pytest.mark.parametrize(
    ("task", "messages", "utility"),
    [
        ("", [user("hi")], False),
        ("title_generation", [user("hi")], True),
        ("", [user("Suggest a title.\n<chat_history>\nUSER: hi\n</chat_history>")], True),
        ("", [user("what is <chat_history>?"), {"role": "assistant", "content": "A tag."}, user("thanks")], False),
    ],
)
def test_a_clients_own_jobs_are_told_from_conversation(task: str, messages: list[Any], utility: bool) -> None:
    assert is_utility(task, parse(messages=messages)) is utility
