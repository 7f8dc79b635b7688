"""O4 through every door: a temporary chat is answered, and every table is as it was."""

from __future__ import annotations

import json
import os
import pty
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

import souvenance
from souvenance import blocking
from souvenance.app.turn import Noted
from souvenance.errors import BadValue, MemoryIsOff
from souvenance.testing import ScriptedModel, ScriptedUpstream, say
from tests.flows.app.test_temporary import rows_of
from tests.flows.commands import Souvenance
from tests.flows.serving import Served
from tests.flows.test_cli import program, read_until
from tests.flows.test_rest_turns import events

TEMPORARY = {"X-Souvenance-Temporary": "true"}


def said(turns: int) -> list[ChatCompletionMessageParam]:
    """So many turns, and a question."""
    told: list[ChatCompletionMessageParam] = []
    for n in range(turns):
        told += [{"role": "user", "content": f"Q{n}"}, {"role": "assistant", "content": f"A{n}"}]
    return [*told, {"role": "user", "content": "And now?"}]


async def rows(server: Served) -> dict[str, set[str]]:
    return await rows_of(server.house.kit, server.house.owner_id)


async def test_o4_a_client_of_the_openai_form_is_answered_and_nothing_is_stored(
    both: Served, upstream: ScriptedUpstream
) -> None:
    mira = await both.bot("Mira", system_prompt="You are Mira.")
    await both.rest.post("/memories", json={"text": "keeps bees", "scope": f"bot:{mira}", "pinned": True})
    before, client = await rows(both), both.openai()
    upstream.script(say("Hel", "lo"), say("Hello again"))
    named = {**TEMPORARY, "X-Souvenance-Conversation": "mine", "Idempotency-Key": "one"}
    async with client.chat.completions.with_streaming_response.create(
        model="Mira", messages=said(25), stream=True, extra_headers=named
    ) as streamed:
        assert streamed.headers["X-Souvenance-Dropped"] == "10"
        assert "X-Souvenance-Conversation" not in streamed.headers
        chunks = [chunk async for chunk in await streamed.parse()]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Hello"
    raw = await client.chat.completions.with_raw_response.create(
        model="scripted@Nobody yet", messages=said(1), extra_headers=named
    )
    assert raw.headers["X-Souvenance-Dropped"] == "0"
    assert raw.parse().choices[0].message.content == "Hello again"
    assert await rows(both) == before, "nor was the unknown bot made"
    first, second = (json.loads(request.body) for request in upstream.requests)
    assert first["messages"][0] == {"role": "system", "content": "You are Mira."}
    assert first["messages"][1]["content"] == "Q5"
    assert second["messages"] == said(1)
    assert "tools" not in first


async def test_o4_any_other_value_of_the_header_is_an_error_and_false_is_an_ordinary_chat(server: Served) -> None:
    client = server.openai()
    with pytest.raises(openai.BadRequestError, match=r"X-Souvenance-Temporary.*true or false"):
        await client.chat.completions.create(
            model="scripted", messages=said(0), extra_headers={"X-Souvenance-Temporary": "yes"}
        )
    assert (await server.rest.get("/conversations")).json()["items"] == []
    await client.chat.completions.create(
        model="scripted", messages=said(0), extra_headers={"X-Souvenance-Temporary": "false"}
    )
    assert len((await server.rest.get("/conversations")).json()["items"]) == 1


async def test_o4_the_rest_door_streams_the_same_events_or_one_object(both: Served) -> None:
    mira = await both.bot("Mira")
    before = await rows(both)
    body: dict[str, Any] = {"bot": "Mira", "text": "Hello"}
    heard = events((await both.rest.post("/temporary-turns", json=body)).text)
    assert heard[0] == ("opened", {"conversation": None, "turn": None, "message": None, "dropped": 0})
    assert "".join(data["text"] for name, data in heard if name == "delta") == "You said: Hello"
    name, done = heard[-1]
    assert (name, done["turn"], done["message"], done["memory_unavailable"]) == ("done", None, None, False)
    history = [{"role": role, "text": f"{role} {n}"} for n in range(25) for role in ("user", "bot")]
    whole = await both.rest.post("/temporary-turns", json={**body, "bot": mira, "history": history, "stream": False})
    told = whole.json()
    assert (told["text"], told["opened"]["dropped"], told["replies"]) == ("You said: Hello", 10, [])
    assert [note["kind"] for note in told["noted"]] == ["dropped"]
    assert await rows(both) == before


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"text": "Hello", "bot": "Nobody"}, 404, "not_found"),
        ({"text": "Hello", "model": "nobody"}, 404, "unknown_model"),
        ({"text": " "}, 422, "empty_text"),
        ({"text": "/remember likes tea"}, 403, "memory_is_off"),
        ({"text": "Hello", "history": [{"role": "system", "text": "Hi"}]}, 422, "invalid_input"),
        ({"text": "Hello", "conversation": "cnv_1"}, 422, "invalid_input"),
    ],
)
async def test_o4_the_rest_door_refuses_by_name(server: Served, body: dict[str, Any], status: int, code: str) -> None:
    refused: httpx2.Response = await server.rest.post("/temporary-turns", json=body)
    assert (refused.status_code, refused.json()["code"]) == (status, code)


async def test_o4_the_library_answers_and_nothing_is_stored(tmp_path: Path) -> None:
    model = ScriptedModel(say("Hi", " there"))
    async with souvenance.open(tmp_path, model=model, detect_local=False, detect_keys=False) as memory:
        history = [(role, f"{role} {n}") for n in range(25) for role in ("user", "bot")]
        async with aclosing(memory.temporary("Hello", bot="Ada", history=history)) as pieces:
            heard = [piece async for piece in pieces]
        assert "".join(piece.text for piece in heard) == "Hi there"
        assert [piece.event.kind for piece in heard if isinstance(piece.event, Noted)] == ["dropped"]
        assert [bot async for bot in memory.bots()] == [], "no bot is made"
        assert [chat async for chat in memory.conversations()] == []
        with pytest.raises(BadValue, match=r"history\.0\.role is 'system'; expected user or bot"):
            await anext(memory.temporary("Hello", history=[("system", "Hi")]))


def test_o4_the_blocking_door_does_the_same(tmp_path: Path) -> None:
    with blocking.open(tmp_path, model=ScriptedModel(), detect_local=False, detect_keys=False) as memory:
        pieces = memory.temporary("Hello", bot="Ada", history=[("user", "Hi"), ("bot", "Ho")])
        assert "".join(piece.text for piece in pieces) == "You said: Hello"
        with pytest.raises(MemoryIsOff):
            list(memory.temporary("/memories"))
        assert list(memory.conversations()) == []


def test_o4_a_temporary_chat_in_a_terminal_knows_what_was_said_until_it_ends(
    run: Souvenance, environment: dict[str, str], upstream: ScriptedUpstream
) -> None:
    upstream.script(say("Hello Ada."), say("Ada, you said."))
    own, theirs = pty.openpty()
    with program(environment, "chat", "--temporary", stdin=theirs) as process:
        os.write(own, b"I am Ada\n")
        read_until(process, "Hello Ada.")
        os.write(own, b"/remember I am Ada\nWho am I?\n")
        read_until(process, "Ada, you said.")
        os.write(own, b"/quit\n")
        assert process.wait(timeout=60) == 0
    os.close(own)
    os.close(theirs)
    assert [message["content"] for message in json.loads(upstream.requests[-1].body)["messages"]] == [
        "I am Ada",
        "Hello Ada.",
        "Who am I?",
    ]
    for kept in ("conversations", "memories", "bots"):
        assert run(kept, "list", "--json").out == ""


def test_o4_one_temporary_question_is_answered_and_takes_no_conversation(
    run: Souvenance, upstream: ScriptedUpstream
) -> None:
    upstream.script(say("Oslo."))
    asked = run("chat", "Which city?", "--temporary")
    assert (asked.code, asked.out) == (0, "Oslo.\n")
    refused = run("chat", "Which city?", "--temporary", "--conversation", "cnv_1")
    assert refused.code == 2
    assert "no --with, --conversation or --replaces beside it" in refused.err
