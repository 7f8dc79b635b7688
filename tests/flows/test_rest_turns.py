from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2

from souvenance.testing import Fault, HalfStream, Hang, ScriptedUpstream, say
from tests.flows.serving import Served, served, settings_for

Event = tuple[str, dict[str, Any]]


def events(body: str) -> list[Event]:
    """The named events of a stream, comments left out."""
    heard = []
    for block in body.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if fields:
            heard.append((fields["event"], json.loads(fields["data"])))
    return heard


async def conversation(server: Served, bot: str = "Mira") -> str:
    await server.bot(bot)
    made = await server.rest.post("/conversations", json={"bot": bot})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def test_a_turn_streams_what_is_stored_and_ends_with_its_figures(
    both: Served, upstream: ScriptedUpstream
) -> None:
    upstream.script(say("Hel", "lo ", "Ada."))
    conversation_id = await conversation(both)
    answer = await both.rest.post(f"/conversations/{conversation_id}/turns", json={"text": "I am Ada."})
    heard = events(answer.text)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert [name for name, _ in heard] == ["opened", "delta", "delta", "delta", "done"]
    assert heard[0][1]["message"]["text"] == "I am Ada."
    assert "".join(data["text"] for name, data in heard if name == "delta") == "Hello Ada."
    done = heard[-1][1]
    assert (done["finish"], done["model"], done["memory_unavailable"]) == ("stop", "scripted", False)
    listed = (await both.rest.get(f"/conversations/{conversation_id}/messages")).json()["items"]
    assert [(message["role"], message["text"]) for message in listed] == [("bot", "Hello Ada."), ("user", "I am Ada.")]
    turn = (await both.rest.get(f"/turns/{done['turn']['id']}")).json()
    assert turn["turn"]["state"] == "whole"
    assert turn["turn"]["acknowledged"] is True
    memory = (await both.rest.get(f"/conversations/{conversation_id}/memory")).json()
    assert (memory["in_window"], memory["waiting"], memory["level"]) == (2, 0, "balanced")


async def test_a_turn_can_be_one_json_object(server: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(say("Good day."))
    conversation_id = await conversation(server)
    body = {"text": "Hello", "stream": False}
    answer = (await server.rest.post(f"/conversations/{conversation_id}/turns", json=body)).json()
    assert answer["text"] == "Good day."
    assert answer["opened"]["message"]["text"] == "Hello"
    assert answer["done"]["finish"] == "stop"


async def test_what_was_sent_reads_back_byte_for_byte(both: Served, upstream: ScriptedUpstream) -> None:
    conversation_id = await conversation(both)
    await both.rest.post("/memories", json={"text": "Likes <green> tea", "pinned": True})
    body = {"text": "What do I like? Ünïcode ✓", "stream": False}
    answer = (await both.rest.post(f"/conversations/{conversation_id}/turns", json=body)).json()
    listed = (await both.rest.get(f"/messages/{answer['done']['message']['id']}/prompts")).json()["items"]
    assert len(listed) == 1
    assert sum(listed[0]["layers"].values()) > 0
    sent = await both.rest.get(f"/prompts/{listed[0]['id']}/body")
    assert sent.content == upstream.requests[-1].body
    whole = (await both.rest.get(f"/prompts/{listed[0]['id']}")).json()
    assert "".join(part["text"] for part in whole["parts"]).encode() == upstream.requests[-1].body


async def test_a_repeated_request_is_answered_from_the_store(server: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(say("Once."), say("Twice."))
    conversation_id = await conversation(server)
    body = {"text": "Say it", "idempotency_key": "k1", "stream": False}
    url = f"/conversations/{conversation_id}/turns"
    first = (await server.rest.post(url, json=body)).json()
    again = (await server.rest.post(url, json=body)).json()
    assert (first["text"], again["text"]) == ("Once.", "Once.")
    assert len(upstream.requests) == 1
    assert len((await server.rest.get(f"/conversations/{conversation_id}/messages")).json()["items"]) == 2


async def test_a_first_turn_opens_a_conversation_with_a_bot_by_name(server: Served) -> None:
    bot_id = await server.bot("Mira")
    answer = (await server.rest.post("/turns", json={"bot": "Mira", "text": "Hello", "stream": False})).json()
    assert answer["opened"]["conversation"]["bot_id"] == bot_id
    listed = (await server.rest.get("/conversations", params={"bot_id": bot_id})).json()["items"]
    assert [each["id"] for each in listed] == [answer["opened"]["conversation"]["id"]]


async def test_without_a_model_a_bot_says_what_is_remembered(tmp_path: Path) -> None:
    async with served(settings_for(tmp_path)) as server:
        await server.bot("Mira")
        await server.rest.post("/memories", json={"text": "Allergic to walnuts"})
        body = {"bot": "Mira", "text": "Which walnuts can I eat?", "stream": False}
        answer = (await server.rest.post("/turns", json=body)).json()
        assert "Allergic to walnuts" in answer["text"]


async def test_a_command_is_answered_at_once_and_is_no_part_of_the_conversation(
    server: Served, upstream: ScriptedUpstream
) -> None:
    conversation_id = await conversation(server)
    body = {"text": "/remember I am allergic to walnuts", "stream": False}
    answer = (await server.rest.post(f"/conversations/{conversation_id}/turns", json=body)).json()
    assert "allergic to walnuts" in answer["text"]
    assert answer["done"]["finish"] == "command"
    assert upstream.requests == ()
    assert (await server.rest.get(f"/conversations/{conversation_id}/messages")).json()["items"] == []
    assert len((await server.rest.get("/memories")).json()["items"]) == 1


async def test_an_upstream_that_refuses_is_a_bad_gateway_and_the_message_is_kept(
    both: Served, upstream: ScriptedUpstream
) -> None:
    upstream.script(Fault(status=429))
    conversation_id = await conversation(both)
    url = f"/conversations/{conversation_id}/turns"
    refused = await both.rest.post(url, json={"text": "Hello", "idempotency_key": "k1"})
    assert refused.status_code == 502
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["details"]["status"] == 429
    again = await both.rest.post(url, json={"text": "Hello", "idempotency_key": "k1", "stream": False})
    assert again.json()["text"] == "You said: Hello"
    listed = (await both.rest.get(f"/conversations/{conversation_id}/messages")).json()["items"]
    assert [message["role"] for message in listed] == ["bot", "user"]


async def test_half_a_stream_ends_with_an_error_and_is_kept_as_cut_off(
    both: Served, upstream: ScriptedUpstream
) -> None:
    upstream.script(HalfStream(chunks=("Once upon", " a")))
    conversation_id = await conversation(both)
    answer = await both.rest.post(f"/conversations/{conversation_id}/turns", json={"text": "Tell me"})
    heard = events(answer.text)
    assert heard[-1][0] == "error"
    assert heard[-1][1]["code"] == "model_broken"
    listed = (await both.rest.get(f"/conversations/{conversation_id}/messages")).json()["items"]
    assert (listed[0]["text"], listed[0]["state"]) == ("Once upon a", "cut_off")


async def test_a_client_that_hangs_up_ends_the_call_upstream_and_the_reply_is_kept_as_cut_off(
    both: Served, upstream: ScriptedUpstream
) -> None:
    upstream.script(Hang(after=("Once upon", " a time")))
    conversation_id = await conversation(both)
    url = f"/conversations/{conversation_id}/turns"
    heard = ""
    async with both.rest.stream("POST", url, json={"text": "Tell me"}) as answer:
        async for piece in answer.aiter_text():
            heard += piece
            if " a time" in heard:
                break
    assert await upstream.left() == 1
    again = await both.rest.post(url, json={"text": "Go on", "stream": False})
    assert again.status_code == 200
    listed = (await both.rest.get(f"/conversations/{conversation_id}/messages")).json()["items"]
    assert ("bot", "cut_off", "Once upon a time") in [(m["role"], m["state"], m["text"]) for m in listed]


async def test_a_client_that_waits_for_a_whole_reply_and_hangs_up_ends_the_call_too(
    server: Served, upstream: ScriptedUpstream
) -> None:
    upstream.script(Hang())
    conversation_id = await conversation(server)
    url = f"{server.address}/api/v1/conversations/{conversation_id}/turns"
    async with httpx2.AsyncClient() as impatient:
        sending = impatient.build_request("POST", url, json={"text": "Tell me", "stream": False})
        asked = asyncio.create_task(impatient.send(sending))
        await upstream.arrived()
        asked.cancel()
        await asyncio.wait((asked,))
    assert await upstream.left() == 1
