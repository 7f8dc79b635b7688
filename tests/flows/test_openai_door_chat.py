from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from souvenance.ports.chat_model import Usage
from souvenance.testing import Call, Fault, ScriptedUpstream, Text, ToolCalls, call, say
from tests.flows.serving import Served, served, settings_for


def user(text: str) -> ChatCompletionMessageParam:
    return {"role": "user", "content": text}


def assistant(text: str) -> ChatCompletionMessageParam:
    return {"role": "assistant", "content": text}


async def stored(server: Served) -> list[list[tuple[str, str]]]:
    """Every conversation's messages in order, oldest conversation first."""
    conversations = (await server.rest.get("/conversations")).json()["items"]
    found = []
    for conversation in reversed(conversations):
        listed = (await server.rest.get(f"/conversations/{conversation['id']}/messages")).json()["items"]
        found.append([(message["role"], message["text"]) for message in reversed(listed)])
    return found


def sent(upstream: ScriptedUpstream, at: int = -1) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(upstream.requests[at].body)
    return body


async def test_a_streamed_reply_arrives_whole_and_is_stored(both: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(say("Hel", "lo ", "Ada."))
    await both.bot("Mira")
    stream = await both.openai().chat.completions.create(model="Mira", messages=[user("I am Ada.")], stream=True)
    chunks = [chunk async for chunk in stream]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Hello Ada."
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert {chunk.model for chunk in chunks} == {"Mira"}
    assert len({chunk.id for chunk in chunks}) == 1
    assert await stored(both) == [[("user", "I am Ada."), ("bot", "Hello Ada.")]]


async def test_a_reply_that_does_not_stream_is_the_upstreams_response(
    server: Served, upstream: ScriptedUpstream
) -> None:
    upstream.script(Text(chunks=("Good day.",), usage=Usage(tokens_in=12, tokens_out=3)))
    await server.bot("Mira")
    answer = await server.openai().chat.completions.create(model="Mira", messages=[user("Hello")])
    assert answer.choices[0].message.content == "Good day."
    assert answer.model == "Mira"
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (12, 3)


async def test_a_history_that_is_sent_again_goes_on_with_its_conversation(
    both: Served, upstream: ScriptedUpstream
) -> None:
    await both.bot("Mira")
    client = both.openai()
    messages: list[ChatCompletionMessageParam] = [{"role": "system", "content": "Be brief."}]
    for text in ("One", "Two", "Three"):
        messages.append(user(text))
        stream = await client.chat.completions.create(model="Mira", messages=messages, stream=True)
        reply = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
        messages.append(assistant(reply))
    said = [("user", "One"), ("bot", "You said: One"), ("user", "Two"), ("bot", "You said: Two")]
    assert await stored(both) == [[*said, ("user", "Three"), ("bot", "You said: Three")]]
    assert [message["content"] for message in sent(upstream)["messages"][-5:]] == [
        "One",
        "You said: One",
        "Two",
        "You said: Two",
        "Three",
    ]


async def test_a_named_conversation_goes_on_whatever_history_comes(server: Served) -> None:
    await server.bot("Mira")
    named = server.openai(default_headers={"X-Souvenance-Conversation": "evening chat"})
    for text in ("One", "Two"):
        answer = await named.chat.completions.with_raw_response.create(model="Mira", messages=[user(text)])
        assert answer.headers["X-Souvenance-Conversation"] == "evening chat"
    assert [len(messages) for messages in await stored(server)] == [4]


async def test_keys_do_not_share_conversations_of_one_name(server: Served) -> None:
    await server.bot("Mira")
    for key in ("alice", "bob"):
        named = server.openai(key, default_headers={"X-Souvenance-Conversation": "evening chat"})
        await named.chat.completions.create(model="Mira", messages=[user(f"I am {key}")])
    assert [messages[0] for messages in await stored(server)] == [("user", "I am alice"), ("user", "I am bob")]


@pytest.mark.parametrize("streaming", [True, False])
async def test_the_same_first_words_open_a_new_conversation_once_the_reply_has_arrived(
    both: Served, upstream: ScriptedUpstream, streaming: bool
) -> None:
    await both.bot("Mira")
    completions = both.openai().chat.completions
    for _ in range(3):
        if streaming:
            async for _ in await completions.create(model="Mira", messages=[user("Hi")], stream=True):
                pass
        else:
            await completions.create(model="Mira", messages=[user("Hi")])
    assert [len(messages) for messages in await stored(both)] == [2, 2, 2]
    assert len(upstream.requests) == 3


async def test_a_clients_own_fields_tools_and_system_messages_reach_the_upstream(
    server: Served, upstream: ScriptedUpstream
) -> None:
    await server.bot("Mira", system_prompt="You are Mira.")
    tools: list[Any] = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
    await server.openai().chat.completions.create(
        model="Mira",
        messages=[{"role": "system", "content": "Be brief."}, user("Hello")],
        tools=tools,
        temperature=0.3,
        extra_body={"top_k": 4, "provider": {"order": ["x"]}},
    )
    body = sent(upstream)
    assert body["model"] == "scripted"
    assert (body["temperature"], body["top_k"], body["provider"]) == (0.3, 4, {"order": ["x"]})
    assert tools[0] in body["tools"]
    told = " ".join(str(message["content"]) for message in body["messages"] if message["role"] == "system")
    assert "You are Mira." in told
    assert "Be brief." in told


async def test_a_clients_tool_calls_stream_and_their_results_go_on(server: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(
        ToolCalls(calls=(Call(name="weather", arguments='{"at": "Bergen"}'), Call(name="weather"))), say("Rain.")
    )
    await server.bot("Mira")
    client = server.openai()
    tools: list[Any] = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
    question = user("How is the weather?")
    async with client.chat.completions.stream(model="Mira", messages=[question], tools=tools) as stream:
        first = await stream.get_final_completion()
    calls = first.choices[0].message.tool_calls
    assert calls is not None
    assert [(each.function.name, each.function.arguments) for each in calls] == [
        ("weather", '{"at": "Bergen"}'),
        ("weather", "{}"),
    ]
    assert first.choices[0].finish_reason == "tool_calls"
    results: list[Any] = [{"role": "tool", "tool_call_id": each.id, "content": "rain"} for each in calls]
    told: Any = {"role": "assistant", "content": None, "tool_calls": [each.model_dump() for each in calls]}
    again = await client.chat.completions.create(model="Mira", messages=[question, told, *results], tools=tools)
    assert again.choices[0].message.content == "Rain."
    assert [message["role"] for message in sent(upstream)["messages"][-3:]] == ["assistant", "tool", "tool"]


async def test_a_memory_tool_is_run_behind_the_clients_back(server: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(call("remember", '{"text": "Allergic to walnuts"}'), say("Noted."))
    await server.bot("Mira")
    stream = await server.openai().chat.completions.create(
        model="Mira", messages=[user("I am allergic to walnuts")], stream=True
    )
    chunks = [chunk async for chunk in stream]
    assert not any(chunk.choices and chunk.choices[0].delta.tool_calls for chunk in chunks)
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices[0].finish_reason] == ["stop"]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Noted."
    listed = (await server.rest.get("/memories")).json()["items"]
    assert [memory["text"] for memory in listed] == ["Allergic to walnuts"]


async def test_a_text_call_is_stored_and_not_shown(both: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(say("Nice to meet you! bcz_reme", 'mber("user_name", "A', 'da")'))
    bot_id = await both.bot("Notes", preset="notebook")
    stream = await both.openai().chat.completions.create(model="Notes", messages=[user("I am Ada")], stream=True)
    shown = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
    assert shown.strip() == "Nice to meet you!"
    listed = (await both.rest.get("/memories", params={"scope": f"bot:{bot_id}"})).json()["items"]
    assert [(memory["key"], memory["value"]) for memory in listed] == [("user_name", "Ada")]


@pytest.mark.parametrize("asked", [True, False])
async def test_the_usage_chunk_comes_only_when_it_was_asked_for(
    server: Served, upstream: ScriptedUpstream, asked: bool
) -> None:
    upstream.script(Text(chunks=("Hi",), usage=Usage(tokens_in=12, tokens_out=1)))
    await server.bot("Mira")
    options: Any = {"stream_options": {"include_usage": True}} if asked else {}
    stream = await server.openai().chat.completions.create(model="Mira", messages=[user("Hi")], stream=True, **options)
    usages = [chunk.usage for chunk in [chunk async for chunk in stream] if chunk.usage]
    assert [(usage.prompt_tokens, usage.completion_tokens) for usage in usages] == ([(12, 1)] if asked else [])


async def test_a_refusal_of_the_upstream_keeps_its_status_and_body(server: Served, upstream: ScriptedUpstream) -> None:
    body = b'{"error":{"message":"slow down","type":"rate_limit","code":"rate_limited"}}'
    upstream.script(
        *(Fault(status=429, body=body, headers=(("Retry-After", "7"),)) for _ in range(2)),
    )
    await server.bot("Mira")
    for stream in (False, True):
        with pytest.raises(openai.RateLimitError) as refused:
            await server.openai().chat.completions.create(model="Mira", messages=[user("Hi")], stream=stream)
        assert refused.value.response.content == body
        assert refused.value.response.headers["Retry-After"] == "7"


async def test_without_any_model_a_bot_still_answers(tmp_path: Path) -> None:
    async with served(settings_for(tmp_path)) as server:
        await server.bot("Mira")
        await server.rest.post("/memories", json={"text": "Allergic to walnuts"})
        answer = await server.openai().chat.completions.create(model="Mira", messages=[user("walnuts?")])
        assert "Allergic to walnuts" in (answer.choices[0].message.content or "")
        assert [model.id async for model in server.openai().models.list()] == ["Mira"]


async def test_the_door_opens_with_and_without_v1(server: Served) -> None:
    await server.bot("Mira")
    bare = server.openai(base="")
    answer = await bare.chat.completions.create(model="Mira", messages=[user("Hello")])
    assert answer.choices[0].message.content == "You said: Hello"
    assert [model.id async for model in bare.models.list()] == ["Mira", "scripted"]
    assert (await bare.models.retrieve("Mira")).owned_by == "souvenance"


async def test_a_command_is_answered_without_the_upstream(server: Served, upstream: ScriptedUpstream) -> None:
    await server.bot("Mira")
    stream = await server.openai().chat.completions.create(
        model="Mira", messages=[user("/remember I like tea")], stream=True
    )
    chunks = [chunk async for chunk in stream]
    assert "I like tea" in "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert upstream.requests == ()
    assert await stored(server) == []


@pytest.mark.parametrize("stream", [True, False])
async def test_a_clients_title_request_is_answered_plainly_and_stores_nothing(
    server: Served, upstream: ScriptedUpstream, stream: bool
) -> None:
    upstream.script(say("Tea-time"))
    await server.bot("Mira")
    await server.rest.post("/memories", json={"text": "Allergic to walnuts", "pinned": True})
    messages = [{"role": "user", "content": "Title please.\n<chat_history>\nUSER: hi\n</chat_history>"}]
    body = {"model": "Mira", "messages": messages, "stream": stream, "top_k": 4}
    async with httpx2.AsyncClient() as client:
        answer = await client.post(f"{server.address}/v1/chat/completions", json=body)
    assert answer.status_code == 200
    assert "Tea-time" in answer.text
    assert sent(upstream)["messages"] == messages
    assert sent(upstream)["top_k"] == 4
    assert "walnuts" not in upstream.requests[-1].body.decode()
    assert await stored(server) == []
