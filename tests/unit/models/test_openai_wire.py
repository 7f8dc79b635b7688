from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager

import pytest

from souvenance.errors import ModelBroken, ModelRefused, ModelTimedOut, ModelUnreachable, UnknownModel
from souvenance.models.openai_wire import OpenAIWire
from souvenance.ports.chat_model import ChatRequest, ModelChunk
from souvenance.testing import (
    BadLine,
    Fault,
    HalfStream,
    Hang,
    HtmlPage,
    Raw,
    ScriptedUpstream,
    StreamError,
    say,
)
from tests.conformance.chat_models import chat_request

ROLE = b'data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n'
TEA = 'data: {"choices":[{"index":0,"delta":{"content":"thé"},"finish_reason":null}]}\n\n'.encode()
STOP = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as running:
        yield running


@pytest.fixture
async def wire(upstream: ScriptedUpstream) -> AsyncIterator[OpenAIWire]:
    async with opened(upstream.url) as wire:
        yield wire


@asynccontextmanager
async def opened(url: str, *, idle_seconds: float = 10.0) -> AsyncIterator[OpenAIWire]:
    wire = OpenAIWire(url, api_key="sk-secret-1", provider="testing", idle_seconds=idle_seconds)
    try:
        yield wire
    finally:
        await wire.close()


async def answer(wire: OpenAIWire, request: ChatRequest | None = None) -> list[ModelChunk]:
    async with aclosing(wire.reply(request or chat_request())) as chunks:
        return [chunk async for chunk in chunks]


def text(chunks: list[ModelChunk]) -> str:
    return "".join(chunk.text for chunk in chunks)


async def test_the_body_goes_out_byte_for_byte(upstream: ScriptedUpstream, wire: OpenAIWire) -> None:
    body = b'{ "model":"scripted", "odd" : 1e3,\n"stream":true,"messages":[{"role":"user","content":"\\u00e9"}]}'
    await answer(wire, ChatRequest(model="scripted", messages=(), body=body))
    (request,) = upstream.requests
    assert request.body == body
    assert request.header("content-type") == "application/json"
    assert request.header("authorization") == "Bearer sk-secret-1"


async def test_chunks_carry_the_upstreams_objects_with_fields_unknown_to_us(
    upstream: ScriptedUpstream, wire: OpenAIWire
) -> None:
    odd = {
        "id": "x",
        "choices": [{"index": 0, "delta": {"content": "Hi"}, "logprobs": None}],
        "x_odd": [1, {"a": None}],
    }
    upstream.script(Raw(pieces=(b"data: " + json.dumps(odd).encode() + b"\n\n", STOP, DONE)))
    first, second = await answer(wire)
    assert first.wire == odd
    assert second.wire == json.loads(STOP.removeprefix(b"data: "))


async def test_a_stream_cut_inside_characters_and_line_ends_reads_the_same(
    upstream: ScriptedUpstream, wire: OpenAIWire
) -> None:
    stream = (b": hello\n\n" + ROLE + TEA + STOP).replace(b"\n", b"\r\n") + b"data: [DONE]"
    upstream.script(Raw(pieces=tuple(bytes([byte]) for byte in stream)))
    chunks = await answer(wire)
    assert (text(chunks), chunks[-1].finish) == ("thé", "stop")


async def test_a_finish_without_done_is_a_whole_reply(upstream: ScriptedUpstream, wire: OpenAIWire) -> None:
    upstream.script(Raw(pieces=(TEA, STOP)))
    assert text(await answer(wire)) == "thé"


async def test_done_without_a_finish_is_closed_with_a_stop(upstream: ScriptedUpstream, wire: OpenAIWire) -> None:
    upstream.script(Raw(pieces=(TEA, DONE)))
    assert (await answer(wire))[-1] == ModelChunk(finish="stop")


async def test_a_whole_response_to_a_streaming_request_is_read_but_not_forwarded(
    upstream: ScriptedUpstream, wire: OpenAIWire
) -> None:
    whole = b'{"choices":[{"index":0,"message":{"content":"Hello"},"finish_reason":"stop"}]}'
    upstream.script(Raw(pieces=(whole,), content_type="application/json"))
    assert await answer(wire) == [ModelChunk(text="Hello", finish="stop")]


async def test_half_a_stream_gives_its_text_and_then_an_error(upstream: ScriptedUpstream, wire: OpenAIWire) -> None:
    upstream.script(HalfStream(chunks=("Once", " upon")))
    chunks = wire.reply(chat_request())
    heard = [(await anext(chunks)).text for _ in range(3)]
    with pytest.raises(ModelBroken, match="half a stream"):
        await anext(chunks)
    assert "".join(heard) == "Once upon"


async def test_a_stream_that_ends_politely_in_the_middle_is_half_a_stream(
    upstream: ScriptedUpstream, wire: OpenAIWire
) -> None:
    upstream.script(Raw(pieces=(ROLE, TEA)))
    with pytest.raises(ModelBroken, match="half a stream"):
        await answer(wire)


@pytest.mark.parametrize("stream", [True, False])
async def test_bad_json_is_named_not_skipped(upstream: ScriptedUpstream, wire: OpenAIWire, stream: bool) -> None:
    upstream.script(BadLine())
    with pytest.raises(ModelBroken, match="bad JSON"):
        await answer(wire, chat_request(stream=stream))


async def test_a_line_that_is_not_utf8_is_bad_json(upstream: ScriptedUpstream, wire: OpenAIWire) -> None:
    upstream.script(Raw(pieces=(b'data: {"choices":"\xff"}\n\n',)))
    with pytest.raises(ModelBroken, match="bad JSON"):
        await answer(wire)


async def test_json_that_is_no_object_is_named(upstream: ScriptedUpstream, wire: OpenAIWire) -> None:
    upstream.script(Raw(pieces=(b"data: [1]\n\n",)))
    with pytest.raises(ModelBroken, match="not an object"):
        await answer(wire)


@pytest.mark.parametrize("stream", [True, False])
async def test_a_web_page_is_named(upstream: ScriptedUpstream, wire: OpenAIWire, stream: bool) -> None:
    upstream.script(HtmlPage())
    with pytest.raises(ModelBroken, match="HTML page"):
        await answer(wire, chat_request(stream=stream))


@pytest.mark.parametrize("stream", [True, False])
async def test_a_body_without_a_byte_is_an_error(upstream: ScriptedUpstream, wire: OpenAIWire, stream: bool) -> None:
    upstream.script(Raw(pieces=()))
    with pytest.raises(ModelBroken):
        await answer(wire, chat_request(stream=stream))


async def test_a_refusal_keeps_its_bytes_and_its_kind(upstream: ScriptedUpstream, wire: OpenAIWire) -> None:
    upstream.script(Fault(status=503, body=b"<b>busy \xff</b>", content_type="text/html"))
    with pytest.raises(ModelRefused) as caught:
        await answer(wire)
    assert (caught.value.status, caught.value.body) == (503, b"<b>busy \xff</b>")
    assert caught.value.content_type == "text/html"


async def test_a_redirect_is_not_followed_with_the_key(upstream: ScriptedUpstream, wire: OpenAIWire) -> None:
    upstream.script(Fault(status=307, body=b"", headers=(("location", upstream.origin + "/elsewhere"),)))
    with pytest.raises(ModelRefused) as caught:
        await answer(wire)
    assert caught.value.status == 307
    assert len(upstream.everything) == 1


async def test_an_error_inside_a_stream_is_the_upstreams_refusal(upstream: ScriptedUpstream, wire: OpenAIWire) -> None:
    upstream.script(StreamError(chunks=("So",), error={"message": "overloaded", "code": 529}))
    with pytest.raises(ModelRefused) as caught:
        await answer(wire)
    assert caught.value.status == 529
    assert caught.value.body == b'{"error":{"message":"overloaded","code":529}}'


@pytest.mark.parametrize(
    "event", [b'data: {"error":"overloaded"}\n\n', b'event: error\ndata: {"message":"overloaded"}\n\n']
)
async def test_an_error_inside_a_stream_without_a_status_counts_as_502(
    upstream: ScriptedUpstream, wire: OpenAIWire, event: bytes
) -> None:
    upstream.script(Raw(pieces=(TEA, event)))
    with pytest.raises(ModelRefused) as caught:
        await answer(wire)
    assert caught.value.status == 502
    assert b"overloaded" in caught.value.body


async def test_silence_past_the_limit_is_a_time_out(upstream: ScriptedUpstream) -> None:
    upstream.script(Hang(after=("Well",)), Hang())
    async with opened(upstream.url, idle_seconds=0.2) as wire:
        with pytest.raises(ModelTimedOut, match=r"0\.2 seconds"):
            await answer(wire)
        with pytest.raises(ModelTimedOut):
            await answer(wire, chat_request(stream=False))
    await upstream.left(2)


async def test_a_port_where_nobody_listens_is_unreachable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with opened(f"http://127.0.0.1:{taken.getsockname()[1]}") as wire:
            with pytest.raises(ModelUnreachable):
                await answer(wire)
            with pytest.raises(ModelUnreachable):
                await wire.models()


async def test_an_upstream_that_hangs_up_before_a_word_is_unreachable(upstream: ScriptedUpstream) -> None:
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    async with server, opened(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}") as wire:
        with pytest.raises(ModelUnreachable):
            await answer(wire)


async def test_a_reader_that_leaves_is_noticed_upstream(upstream: ScriptedUpstream, wire: OpenAIWire) -> None:
    upstream.script(Hang(after=("Once",)))
    chunks = wire.reply(chat_request())
    assert [await anext(chunks), await anext(chunks)][1].text == "Once"
    await chunks.aclose()
    assert await upstream.left(1) == 1


async def test_connections_are_used_again(upstream: ScriptedUpstream, wire: OpenAIWire) -> None:
    for _ in range(3):
        await answer(wire)
    await answer(wire, chat_request(stream=False))
    assert {request.connection for request in upstream.requests} == {1}


async def test_a_server_that_keeps_the_stream_open_after_done_does_not_hold_the_reply(wire: OpenAIWire) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"

    async def never_close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + TEA + STOP + DONE)
        await reader.read()
        writer.close()

    server = await asyncio.start_server(never_close, "127.0.0.1", 0)
    async with server, opened(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}") as patient:
        async with asyncio.timeout(5):
            assert text(await answer(patient)) == "thé"


async def test_models_are_listed_by_name_with_the_context_they_state(
    upstream: ScriptedUpstream, wire: OpenAIWire
) -> None:
    listed = [
        {"id": "b", "max_model_len": 8_192},
        {"id": "a", "context_length": 131_072, "supported_parameters": ["temperature"]},
        {"id": "a"},
        {"object": "model"},
    ]
    upstream.page("GET", "/v1/models", {"object": "list", "data": listed})
    models = await wire.models()
    assert [(model.name, model.context, model.can_call_tools) for model in models] == [
        ("a", None, True),
        ("b", 8_192, True),
    ]


async def test_an_upstream_without_a_list_is_believed(upstream: ScriptedUpstream, wire: OpenAIWire) -> None:
    upstream.page("GET", "/v1/models", Fault(status=404))
    assert await wire.models() == ()
    assert (await wire.info("any")).context is None


async def test_an_unknown_model_is_told_with_those_that_are_known(wire: OpenAIWire) -> None:
    with pytest.raises(UnknownModel, match="Known: scripted"):
        await wire.info("nobody")


async def test_a_refused_list_is_a_refusal(upstream: ScriptedUpstream, wire: OpenAIWire) -> None:
    upstream.page("GET", "/v1/models", Fault(status=401))
    with pytest.raises(ModelRefused):
        await wire.models()


async def test_the_key_is_in_no_message_log_or_repr(
    upstream: ScriptedUpstream, wire: OpenAIWire, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    upstream.script(Fault(status=401))
    with pytest.raises(ModelRefused) as caught:
        await answer(wire)
    shown = f"{wire!r} {caught.value!r} {caught.value.details} {caplog.text}"
    assert "sk-secret-1" not in shown
    assert "hello" not in caplog.text


async def test_a_loopback_upstream_is_asked_without_a_proxy(
    upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    upstream.script(say("direct"))
    async with opened(upstream.url) as wire:
        assert text(await answer(wire)) == "direct"
