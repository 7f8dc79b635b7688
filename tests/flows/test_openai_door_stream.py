"""What goes over the wire while a reply streams: when it begins, how it ends, and what a client that leaves causes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from souvenance.server.pace import Pace
from souvenance.testing import BadLine, EmptyReply, HalfStream, Hang, HtmlPage, ScriptedUpstream, StreamError, say
from tests.flows.serving import Served, served, settings_for


def asking(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "Mira", "messages": [{"role": "user", "content": text}], "stream": True, **more}


@asynccontextmanager
async def streaming(server: Served, body: dict[str, Any]) -> AsyncIterator[httpx2.Response]:
    url = f"{server.address}/v1/chat/completions"
    async with httpx2.AsyncClient(timeout=30.0) as client, client.stream("POST", url, json=body) as answer:
        yield answer


async def post(server: Served, body: dict[str, Any]) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=30.0) as client:
        return await client.post(f"{server.address}/v1/chat/completions", json=body)


def data(text: str) -> list[str]:
    return [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]


async def messages(server: Served) -> list[tuple[str, str, str]]:
    """Role, state and text of the one conversation's messages, in order."""
    (conversation,) = (await server.rest.get("/conversations")).json()["items"]
    listed = (await server.rest.get(f"/conversations/{conversation['id']}/messages")).json()["items"]
    return [(each["role"], each["state"], each["text"]) for each in reversed(listed)]


async def test_a_stream_ends_with_done_once_the_reply_is_stored(server: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(say("Hi", " there"))
    await server.bot("Mira")
    async with streaming(server, asking("Hello")) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        assert answer.headers["X-Souvenance-Conversation"].startswith("cnv_")
        async for line in answer.aiter_lines():
            if '"finish_reason":"stop"' in line:
                break
        assert await messages(server) == [("user", "whole", "Hello"), ("bot", "whole", "Hi there")]


async def test_headers_go_out_and_comments_keep_the_line_while_a_model_thinks(
    tmp_path: Path, upstream: ScriptedUpstream
) -> None:
    upstream.script(Hang())
    pace = Pace(patience=0.01, quiet=0.01)
    async with served(settings_for(tmp_path, upstream=upstream), pace=pace) as server:
        await server.bot("Mira")
        async with streaming(server, asking("Hello")) as answer:
            lines = answer.aiter_lines()
            while not (await anext(lines)).startswith(":"):
                continue
            assert await messages(server) == [("user", "whole", "Hello")]
            upstream.release()
            rest = [line async for line in lines]
        assert any(line.startswith("data:") for line in rest)


async def test_a_client_that_hangs_up_midway_ends_the_call_upstream_and_keeps_what_it_saw(
    both: Served, upstream: ScriptedUpstream
) -> None:
    upstream.script(Hang(after=("Once upon", " a time")))
    await both.bot("Mira")
    async with streaming(both, asking("Tell me")) as answer:
        async for line in answer.aiter_lines():
            if " a time" in line:
                break
    assert await upstream.left() == 1
    again = await post(both, asking("Tell me"))
    assert again.status_code == 200
    assert ("bot", "whole", "You said: Tell me") in await messages(both)


async def test_a_client_that_hangs_up_before_the_first_word_leaves_an_open_turn_that_can_be_answered(
    server: Served, upstream: ScriptedUpstream
) -> None:
    upstream.script(Hang())
    await server.bot("Mira")
    leaving = asyncio.create_task(post(server, asking("Hello")))
    await upstream.arrived()
    leaving.cancel()
    await asyncio.wait((leaving,))
    assert await upstream.left() == 1
    assert (await post(server, asking("Hello"))).status_code == 200
    assert await messages(server) == [("user", "whole", "Hello"), ("bot", "whole", "You said: Hello")]


async def test_half_a_stream_ends_in_an_error_object_without_done(both: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(HalfStream(chunks=("Once upon", " a")))
    await both.bot("Mira")
    said = data((await post(both, asking("Tell me"))).text)
    assert "[DONE]" not in said
    assert json.loads(said[-1])["error"]["code"] == "model_broken"
    assert await messages(both) == [("user", "whole", "Tell me"), ("bot", "cut_off", "Once upon a")]


async def test_bad_json_in_a_stream_ends_in_an_error_object(server: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(BadLine(chunks=("Fine so far",)))
    await server.bot("Mira")
    said = data((await post(server, asking("Tell me"))).text)
    assert json.loads(said[-1])["error"]["code"] == "model_broken"
    assert (await messages(server))[-1] == ("bot", "cut_off", "Fine so far")


async def test_an_error_inside_the_upstreams_stream_goes_on_as_it_came(
    server: Served, upstream: ScriptedUpstream
) -> None:
    upstream.script(StreamError(chunks=("So far",)))
    await server.bot("Mira")
    said = data((await post(server, asking("Tell me"))).text)
    assert json.loads(said[-1]) == {"error": {"message": "overloaded", "code": 503}}


async def test_an_empty_reply_and_a_web_page_are_bad_gateways(server: Served, upstream: ScriptedUpstream) -> None:
    await server.bot("Mira")
    for reply in (EmptyReply(), HtmlPage()):
        upstream.script(reply)
        answer = await post(server, asking(type(reply).__name__, stream=False))
        assert answer.status_code == 502
        assert answer.json()["error"]["code"] == "model_broken"


async def test_a_stream_without_a_word_ends_in_an_error_object(server: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(EmptyReply())
    await server.bot("Mira")
    said = data((await post(server, asking("Tell me"))).text)
    assert "[DONE]" not in said
    assert json.loads(said[-1])["error"]["code"] == "model_broken"


async def test_an_upstream_that_says_nothing_is_given_up_after_its_time(
    tmp_path: Path, upstream: ScriptedUpstream
) -> None:
    upstream.script(Hang(), Hang())
    settings = settings_for(tmp_path, upstream=upstream, model_timeout=0.2)
    async with served(settings) as server:
        await server.bot("Mira")
        whole = await post(server, asking("Hello", stream=False))
        assert whole.status_code == 504
        assert whole.json()["error"]["code"] == "model_timed_out"
        streamed = await post(server, asking("Hello again"))
        assert json.loads(data(streamed.text)[-1])["error"]["code"] == "model_timed_out"


async def test_two_equal_requests_at_once_become_one_turn(server: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(Hang(after=("Hi",)))
    await server.bot("Mira")
    async with streaming(server, asking("Hello")) as first:
        lines = first.aiter_lines()
        await anext(lines)
        second = asyncio.create_task(post(server, asking("Hello")))
        upstream.release()
        rest = "\n".join([line async for line in lines])
    assert "[DONE]" in rest
    assert data((await second).text)[-1] == "[DONE]"
    assert await messages(server) == [("user", "whole", "Hello"), ("bot", "whole", "Hi")]
    assert len(upstream.requests) == 1
