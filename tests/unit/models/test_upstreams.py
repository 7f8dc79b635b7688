from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import replace

import pytest

from souvenance.errors import ModelUnreachable, NoModel, UnknownModel
from souvenance.models.openai_wire import OpenAIWire
from souvenance.models.upstreams import ASK_LOCAL_AGAIN_AFTER, KEEP_FAILURE, KEEP_LOCAL, Provider, Upstreams
from souvenance.ports.chat_model import ModelInfo
from souvenance.testing import Fault, FrozenClock, Hang, ScriptedModel, ScriptedUpstream, say
from tests.conformance.chat_models import chat_request


@pytest.fixture
def server() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream(models=("gemma3", "qwen3"), owned_by="library") as running:
        running.page("GET", "/api/tags", {"models": []})
        running.page("POST", "/api/show", {"parameters": "num_ctx 16384", "capabilities": ["completion"]})
        yield running


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
async def ollama(server: ScriptedUpstream) -> AsyncIterator[Provider]:
    wire = OpenAIWire(server.url, provider="ollama")
    yield Provider(name="ollama", model=wire, base_url=server.url)
    await wire.close()


def hosted(*names: str, name: str = "openai") -> Provider:
    return Provider(name=name, model=ScriptedModel(models=tuple(ModelInfo(name=each) for each in names)))


def lists_read(server: ScriptedUpstream) -> int:
    """How often the adapter read the list; what finds out the kind of server asks without an `accept-encoding`."""
    return sum(
        request.path == "/v1/models" and request.header("accept-encoding") == "identity"
        for request in server.everything
    )


async def test_models_of_all_providers_are_listed_with_their_provider(clock: FrozenClock, ollama: Provider) -> None:
    models = await Upstreams([ollama, hosted("gpt-4o", "gemma3")], clock=clock).models()
    assert [(info.name, info.provider) for info in models] == [
        ("ollama/gemma3", "ollama"),
        ("qwen3", "ollama"),
        ("gpt-4o", "openai"),
        ("openai/gemma3", "openai"),
    ]


async def test_a_local_servers_real_context_and_abilities_are_asked_for(clock: FrozenClock, ollama: Provider) -> None:
    info = await Upstreams([ollama], clock=clock).info("qwen3")
    assert (info.context, info.can_call_tools) == (16_384, False)


async def test_the_context_of_a_loaded_model_is_seen_after_a_while(
    clock: FrozenClock, ollama: Provider, server: ScriptedUpstream
) -> None:
    upstreams = Upstreams([ollama], clock=clock)
    await upstreams.models()
    server.page("GET", "/api/ps", {"models": [{"name": "qwen3", "context_length": 32_768}]})
    assert (await upstreams.info("qwen3")).context == 16_384
    clock.advance(KEEP_LOCAL)
    assert (await upstreams.info("qwen3")).context == 32_768


async def test_a_hosted_models_context_comes_from_the_table(clock: FrozenClock) -> None:
    upstreams = Upstreams([hosted("gpt-4o", "unheard-of")], clock=clock)
    assert [info.context for info in await upstreams.models()] == [128_000, None]


async def test_what_a_person_set_wins(clock: FrozenClock, ollama: Provider) -> None:
    upstreams = Upstreams([replace(ollama, context=2_000, can_call_tools=True)], clock=clock)
    info = await upstreams.info("gemma3")
    assert (info.context, info.can_call_tools) == (2_000, True)


async def test_the_list_is_read_once_while_it_is_good(
    clock: FrozenClock, ollama: Provider, server: ScriptedUpstream
) -> None:
    upstreams = Upstreams([ollama], clock=clock)
    await asyncio.gather(*(upstreams.models() for _ in range(5)))
    assert lists_read(server) == 1
    clock.advance(KEEP_LOCAL)
    await upstreams.models()
    assert lists_read(server) == 2


async def test_a_model_that_came_since_the_list_was_read_is_found(
    clock: FrozenClock, ollama: Provider, server: ScriptedUpstream
) -> None:
    upstreams = Upstreams([ollama, hosted("gpt-4o")], clock=clock)
    await upstreams.models()
    server.page("GET", "/v1/models", {"data": [{"id": "phi4"}]})
    clock.advance(ASK_LOCAL_AGAIN_AFTER)
    assert (await upstreams.info("phi4")).provider == "ollama"


async def test_a_reply_comes_from_the_provider_that_has_the_model(
    clock: FrozenClock, ollama: Provider, server: ScriptedUpstream
) -> None:
    server.script(say("from", " ollama"))
    upstreams = Upstreams([hosted("gpt-4o"), ollama], clock=clock)
    body = b'{"stream":true,"model":"qwen3","messages":[]}'
    async with aclosing(upstreams.reply(replace(chat_request(), model="qwen3", body=body))) as chunks:
        assert "".join([chunk.text async for chunk in chunks]) == "from ollama"
    assert server.requests[0].body == body


async def test_the_upstream_gets_its_own_name_of_the_model(
    clock: FrozenClock, ollama: Provider, server: ScriptedUpstream
) -> None:
    upstreams = Upstreams([hosted("gemma3"), ollama], clock=clock)
    request = chat_request()
    body = request.body.replace(b'"scripted"', b'"ollama/gemma3"')
    async with aclosing(upstreams.reply(replace(request, model="ollama/gemma3", body=body))) as chunks:
        assert [chunk async for chunk in chunks]
    assert server.requests[0].body == request.body.replace(b'"scripted"', b'"gemma3"')


async def test_leaving_a_routed_reply_ends_the_call_upstream(
    clock: FrozenClock, ollama: Provider, server: ScriptedUpstream
) -> None:
    server.script(Hang(after=("Once",)))
    async with aclosing(Upstreams([ollama], clock=clock).reply(replace(chat_request(), model="qwen3"))) as chunks:
        await anext(chunks)
    assert await server.left(1) == 1


async def test_a_provider_that_is_down_hides_no_other(clock: FrozenClock, server: ScriptedUpstream) -> None:
    down = Provider(name="down", model=OpenAIWire("http://127.0.0.1:9", provider="down"), base_url="http://127.0.0.1:9")
    upstreams = Upstreams([down, hosted("gpt-4o")], clock=clock)
    assert [info.name for info in await upstreams.models()] == ["gpt-4o"]
    assert (await upstreams.info("gpt-4o")).provider == "openai"
    with pytest.raises(ModelUnreachable):
        await upstreams.info("gemma3")


async def test_a_provider_that_came_back_is_asked_again(
    clock: FrozenClock, ollama: Provider, server: ScriptedUpstream
) -> None:
    upstreams = Upstreams([ollama], clock=clock)
    listing = {"data": [{"id": "gemma3"}]}
    server.page("GET", "/v1/models", Fault(status=503))
    assert await upstreams.models() == ()
    server.page("GET", "/v1/models", listing)
    clock.advance(KEEP_FAILURE)
    assert [info.name for info in await upstreams.models()] == ["gemma3"]


async def test_an_unknown_model_is_told_with_the_names_there_are(clock: FrozenClock) -> None:
    upstreams = Upstreams([hosted("a", "c"), hosted("b", "c", name="groq")], clock=clock)
    with pytest.raises(UnknownModel, match="Known: a, openai/c, b, groq/c"):
        await upstreams.info("nobody")
    with pytest.raises(UnknownModel):
        await upstreams.info("c")


async def test_without_any_provider_there_is_no_model(clock: FrozenClock) -> None:
    upstreams = Upstreams([], clock=clock)
    assert await upstreams.models() == ()
    with pytest.raises(NoModel):
        await upstreams.info("gpt-4o")


async def test_a_qualified_name_is_believed_where_the_provider_lists_nothing(
    clock: FrozenClock, ollama: Provider, server: ScriptedUpstream
) -> None:
    server.page("GET", "/v1/models", Fault(status=404))
    upstreams = Upstreams([replace(ollama, kind="ollama"), hosted("gpt-4o")], clock=clock)
    info = await upstreams.info("ollama/gemma3")
    assert (info.name, info.provider, info.context) == ("ollama/gemma3", "ollama", 16_384)


async def test_names_that_are_on_no_list_do_not_make_it_be_read_every_time(
    clock: FrozenClock, ollama: Provider, server: ScriptedUpstream
) -> None:
    upstreams = Upstreams([ollama], clock=clock)
    for _ in range(3):
        with pytest.raises(UnknownModel, match="Known: gemma3, qwen3"):
            await upstreams.info("gemma3@alice")
    assert lists_read(server) == 1


async def test_a_model_at_a_bot_is_not_believed_to_be_a_model(
    clock: FrozenClock, ollama: Provider, server: ScriptedUpstream
) -> None:
    server.page("GET", "/v1/models", Fault(status=404))
    upstreams = Upstreams([ollama], clock=clock)
    assert (await upstreams.info("gemma3")).name == "gemma3"
    with pytest.raises(UnknownModel):
        await upstreams.info("gemma3@alice")
