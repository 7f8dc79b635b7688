"""What every `ChatModel` keeps, whatever it talks to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from souvenance.errors import ModelBroken, ModelRefused, UnknownModel
from souvenance.ports.chat_model import ChatRequest, ModelChunk, ToolCallDelta, Usage
from souvenance.testing import Call, EmptyReply, Fault, Hang, ScriptedUpstream, Text, ToolCalls, say
from tests.conformance.chat_models import InProcess, OverHttp, Subject, ThroughPydanticAI, chat_request

TEA = Call(name="remember", arguments='{"text": "likes tea"}', call_id="call_tea")
CAT = Call(name="forget", arguments='{"id": "m1"}', call_id="call_cat")


@pytest.fixture(params=["openai_wire", "pydantic_ai", "scripted_model"])
async def subject(request: pytest.FixtureRequest) -> AsyncIterator[Subject]:
    if request.param == "scripted_model":
        yield InProcess()
    elif request.param == "pydantic_ai":
        yield ThroughPydanticAI()
    else:
        with ScriptedUpstream() as upstream:
            over_http = OverHttp(upstream)
            yield over_http
            await over_http.wire.close()


async def answer(subject: Subject, request: ChatRequest) -> list[ModelChunk]:
    async with aclosing(subject.model.reply(request)) as chunks:
        return [chunk async for chunk in chunks]


def finishes(chunks: list[ModelChunk]) -> list[str]:
    return [chunk.finish for chunk in chunks if chunk.finish]


def calls(chunks: list[ModelChunk]) -> dict[int, tuple[str, str, str]]:
    joined: dict[int, tuple[str, str, str]] = {}
    for delta in (delta for chunk in chunks for delta in chunk.tool_calls):
        call_id, name, arguments = joined.get(delta.index, ("", "", ""))
        joined[delta.index] = (call_id or delta.call_id, name or delta.name, arguments + delta.arguments)
    return joined


async def test_text_comes_in_the_pieces_in_which_it_was_said(subject: Subject) -> None:
    subject.script(say("Hel", "lo", " 你好 🫖"))
    chunks = await answer(subject, chat_request())
    assert [chunk.text for chunk in chunks if chunk.text] == ["Hel", "lo", " 你好 🫖"]
    assert finishes(chunks) == ["stop"]


async def test_a_request_without_streaming_is_answered_in_one_chunk(subject: Subject) -> None:
    subject.script(say("Hel", "lo"))
    (chunk,) = await answer(subject, chat_request(stream=False))
    assert (chunk.text, chunk.finish) == ("Hello", "stop")


@pytest.mark.parametrize("stream", [True, False])
async def test_reasoning_is_kept_apart_from_text(subject: Subject, stream: bool) -> None:
    subject.script(Text(chunks=("Tea.",), reasoning=("Hmm, ", "tea?")))
    chunks = await answer(subject, chat_request(stream=stream))
    assert "".join(chunk.reasoning for chunk in chunks) == "Hmm, tea?"
    assert "".join(chunk.text for chunk in chunks) == "Tea."


@pytest.mark.parametrize("stream", [True, False])
async def test_parallel_tool_calls_are_told_apart_by_their_index(subject: Subject, stream: bool) -> None:
    subject.script(ToolCalls(calls=(TEA, CAT)))
    chunks = await answer(subject, chat_request(stream=stream))
    assert calls(chunks) == {
        0: ("call_tea", "remember", '{"text": "likes tea"}'),
        1: ("call_cat", "forget", '{"id": "m1"}'),
    }
    assert finishes(chunks) == ["tool_calls"]


async def test_only_the_first_piece_of_a_tool_call_names_it(subject: Subject) -> None:
    subject.script(ToolCalls(calls=(TEA,)))
    first, *rest = [delta for chunk in await answer(subject, chat_request()) for delta in chunk.tool_calls]
    assert (first.call_id, first.name) == ("call_tea", "remember")
    assert all(delta == ToolCallDelta(index=0, arguments=delta.arguments) for delta in rest)


async def test_usage_is_reported_once(subject: Subject) -> None:
    subject.script(say("one", "two"))
    (usage,) = [chunk.usage for chunk in await answer(subject, chat_request()) if chunk.usage]
    assert isinstance(usage, Usage)
    assert usage.tokens_out >= 1


async def test_leaving_the_iterator_ends_the_call(subject: Subject) -> None:
    subject.script(Hang(after=("Once upon",)))
    async with aclosing(subject.model.reply(chat_request())) as chunks:
        async for chunk in chunks:
            if chunk.text:
                break
    async with asyncio.timeout(5):
        await subject.hung_up()


async def test_cancelling_the_reader_ends_the_call(subject: Subject) -> None:
    subject.script(Hang(after=("Once upon",)))
    reading = asyncio.create_task(answer(subject, chat_request()))
    async with asyncio.timeout(5):
        await subject.speaking()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await subject.hung_up()


@pytest.mark.parametrize("stream", [True, False])
async def test_a_refusal_keeps_the_upstreams_status_and_words(subject: Subject, stream: bool) -> None:
    subject.script(Fault(status=429, body=b'{"error": {"message": "slow down"}}'))
    with pytest.raises(ModelRefused) as caught:
        await answer(subject, chat_request(stream=stream))
    assert (caught.value.status, caught.value.body) == (429, b'{"error": {"message": "slow down"}}')


@pytest.mark.parametrize("stream", [True, False])
async def test_a_reply_without_a_character_is_an_error(subject: Subject, stream: bool) -> None:
    subject.script(EmptyReply())
    with pytest.raises(ModelBroken, match="empty reply"):
        await answer(subject, chat_request(stream=stream))


async def test_a_model_goes_on_working_after_an_error(subject: Subject) -> None:
    subject.script(Fault(status=500), say("Back"))
    with pytest.raises(ModelRefused):
        await answer(subject, chat_request())
    assert finishes(await answer(subject, chat_request())) == ["stop"]


async def test_two_replies_at_once_do_not_mix(subject: Subject) -> None:
    subject.script(say("a", "a", "a"), say("b", "b", "b"))
    replies = await asyncio.gather(answer(subject, chat_request()), answer(subject, chat_request()))
    assert sorted("".join(chunk.text for chunk in chunks) for chunks in replies) == ["aaa", "bbb"]


async def test_a_listed_model_is_known(subject: Subject) -> None:
    (listed,) = await subject.model.models()
    assert await subject.model.info(listed.name) == listed
    assert listed.provider == "testing"


async def test_a_model_that_is_not_listed_is_unknown(subject: Subject) -> None:
    with pytest.raises(UnknownModel, match="nobody"):
        await subject.model.info("nobody")
