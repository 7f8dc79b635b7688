from __future__ import annotations

import json
from typing import Any

from souvenance.app.turn import Delta, Done, Noted, TurnEvent
from souvenance.errors import ModelBroken, ModelRefused
from souvenance.ports.chat_model import ModelChunk, ToolCallDelta
from souvenance.server.openai_reply import Frame, OpenAIVoice, whole

FRAME = Frame(reply_id="chatcmpl-own", created=9, model="Mira")
DONE = Done(turn=None, message=None, finish="stop", model="gpt", tokens_in=11, tokens_out=3)


def wire(delta: dict[str, Any], *, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return {"id": "chatcmpl-up", "object": "chat.completion.chunk", "created": 5, "model": "gpt", **more} | {
        "choices": [choice]
    }


def upstream(text: str, said: dict[str, Any], *, shown: str | None = None) -> Delta:
    finish = said["choices"][0]["finish_reason"] if said["choices"] else None
    return Delta(text=text if shown is None else shown, chunk=ModelChunk(text=text, finish=finish, wire=said))


def spoken(*events: TurnEvent, wants_usage: bool = False) -> list[Any]:
    voice = OpenAIVoice(FRAME, wants_usage=wants_usage)
    pieces = [piece.decode() for event in events for piece in voice.say(event)]
    data = [piece.removeprefix("data: ").removesuffix("\n\n") for piece in pieces]
    return [each if each == "[DONE]" else json.loads(each) for each in data]


def deltas(chunks: list[Any]) -> list[Any]:
    return [chunk["choices"][0]["delta"] for chunk in chunks[:-1] if chunk["choices"]]


def test_an_upstreams_chunk_goes_on_with_its_own_fields_and_the_shown_text() -> None:
    first = wire({"role": "assistant", "content": ""}, system_fingerprint="fp_1")
    text = wire({"content": "Hi bcz"}, system_fingerprint="fp_1", x_provider={"a": 1})
    chunks = spoken(upstream("", first), upstream("Hi bcz", text, shown="Hi "))
    assert chunks[1] == {
        "id": "chatcmpl-up",
        "object": "chat.completion.chunk",
        "created": 9,
        "model": "Mira",
        "system_fingerprint": "fp_1",
        "x_provider": {"a": 1},
        "choices": [{"index": 0, "delta": {"content": "Hi "}, "finish_reason": None, "logprobs": None}],
    }


def test_a_chunk_whose_text_is_hidden_is_left_out() -> None:
    chunks = spoken(upstream("remember(", wire({"content": "remember("}), shown=""), DONE)
    assert deltas(chunks) == [{"role": "assistant"}]


def test_reasoning_and_tool_calls_go_on() -> None:
    calls = [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    chunks = spoken(
        upstream("", wire({"reasoning_content": "hm", "content": None})),
        upstream("", wire({"tool_calls": calls})),
        upstream("", wire({}, finish="tool_calls")),
        DONE,
    )
    assert deltas(chunks)[0]["reasoning_content"] == "hm"
    assert deltas(chunks)[1] == {"tool_calls": calls}
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"


def test_the_end_is_held_back_until_the_reply_is_stored() -> None:
    events = [upstream("Hi", wire({"content": "Hi"}, finish="length"))]
    before = spoken(*events)
    assert [chunk["choices"][0]["finish_reason"] for chunk in before] == [None]
    after = spoken(*events, DONE)
    assert [chunk["choices"][0]["finish_reason"] for chunk in after[:-1]] == [None, "length"]
    assert after[-1] == "[DONE]"


def test_text_after_the_upstreams_end_still_comes_before_the_end() -> None:
    chunks = spoken(upstream("Hi", wire({"content": "Hi"}, finish="stop")), Delta(text=" there"), DONE)
    assert deltas(chunks) == [{"role": "assistant", "content": "Hi"}, {"content": " there"}, {}]


def test_a_reply_without_upstream_is_a_whole_stream() -> None:
    chunks = spoken(Delta(text="[recall reply]"), DONE)
    assert deltas(chunks) == [{"role": "assistant", "content": "[recall reply]"}, {}]
    assert {chunk["id"] for chunk in chunks[:-1]} == {"chatcmpl-own"}
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"


def test_a_command_is_answered_once() -> None:
    done = Done(turn=None, message=None, finish="command")
    chunks = spoken(Noted(kind="command", text="Remembered."), Delta(text="Remembered."), done)
    assert deltas(chunks) == [{"role": "assistant", "content": "Remembered."}, {}]
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"


USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14, "prompt_tokens_details": {"cached_tokens": 8}}


def test_usage_is_kept_from_a_client_that_did_not_ask_for_it() -> None:
    usage = {"id": "chatcmpl-up", "choices": [], "usage": USAGE}
    chunks = spoken(upstream("Hi", wire({"content": "Hi"}, usage=None)), upstream("", usage), DONE)
    assert not any("usage" in chunk for chunk in chunks[:-1])


def test_usage_comes_last_and_as_the_upstream_counted_it() -> None:
    usage = {"id": "chatcmpl-up", "choices": [], "usage": USAGE}
    chunks = spoken(upstream("Hi", wire({"content": "Hi"})), upstream("", usage), DONE, wants_usage=True)
    assert chunks[-2]["choices"] == []
    assert chunks[-2]["usage"] == USAGE


def test_usage_of_several_requests_is_that_of_the_whole_turn() -> None:
    usage = {"id": "chatcmpl-up", "choices": [], "usage": USAGE}
    done = Done(turn=None, message=None, finish="stop", tokens_in=30, tokens_out=5)
    chunks = spoken(upstream("Hi", wire({"content": "Hi"})), upstream("", usage), done, wants_usage=True)
    assert chunks[-2]["usage"] == {"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35}


def test_a_chunk_of_another_wire_form_is_put_in_this_one() -> None:
    call = ToolCallDelta(index=0, call_id="call_1", name="f", arguments="{}")
    chunks = spoken(
        Delta(text="Hi", chunk=ModelChunk(text="Hi", reasoning="hm")),
        Delta(text="", chunk=ModelChunk(tool_calls=(call,))),
        Delta(text="", chunk=ModelChunk(finish="tool_calls")),
        DONE,
    )
    made = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert deltas(chunks)[0] == {"role": "assistant", "content": "Hi", "reasoning_content": "hm"}
    assert deltas(chunks)[1]["tool_calls"] == [made]
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"


def test_a_refusal_stays_in_its_own_field() -> None:
    chunks = spoken(upstream("I cannot.", wire({"refusal": "I cannot."})), DONE)
    assert deltas(chunks)[0] == {"role": "assistant", "refusal": "I cannot."}


def test_an_upstreams_error_object_goes_on_inside_the_stream() -> None:
    voice = OpenAIVoice(FRAME, wants_usage=False)
    refused = ModelRefused("gpt", status=503, body=b'{"error":{"message":"overloaded","code":503}}')
    assert json.loads(voice.trouble(refused)[6:]) == {"error": {"message": "overloaded", "code": 503}}
    broken = json.loads(voice.trouble(ModelBroken("gpt", problem="half a stream"))[6:])
    assert broken["error"]["code"] == "model_broken"


def composed(*events: TurnEvent) -> dict[str, Any]:
    answer: dict[str, Any] = whole([*events, DONE], FRAME)
    return answer


def test_a_whole_response_is_the_upstreams_with_the_shown_text() -> None:
    message = {"role": "assistant", "content": 'Hi remember("a","b")', "annotations": []}
    response = {
        "id": "chatcmpl-up",
        "object": "chat.completion",
        "created": 5,
        "model": "gpt",
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": USAGE,
    }
    chunk = ModelChunk(text=message["content"], finish="stop", wire=response)  # type: ignore[arg-type]
    said = {**message, "content": "Hi "}
    assert composed(Delta(text="Hi ", chunk=chunk)) == {
        **response,
        "model": "Mira",
        "choices": [{"index": 0, "message": said, "finish_reason": "stop", "logprobs": None}],
    }


def test_a_whole_response_without_upstream_has_all_that_clients_read() -> None:
    answer = composed(Delta(text="Hi "), Delta(text="there"))
    assert answer["choices"][0]["message"] == {"role": "assistant", "content": "Hi there"}
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"] == {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
