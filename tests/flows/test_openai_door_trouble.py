"""A fault in memory never breaks a chat that the model could answer, and a surprise tells nothing of the inside."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import openai
import pytest
from openai.types.chat.chat_completion import Choice

from souvenance.ports.chat_model import ChatRequest, ModelChunk, ModelInfo
from souvenance.testing import ScriptedUpstream, say
from tests.flows.serving import Served, served, settings_for


@pytest.mark.parametrize("model", ["Mira", "scripted", "scripted@Nova"])
@pytest.mark.parametrize("stream", [True, False])
async def test_a_chat_goes_on_while_the_store_is_offline_and_says_so(
    server: Served, upstream: ScriptedUpstream, model: str, stream: bool
) -> None:
    upstream.script(say("Hello", " Ada."))
    await server.bot("Mira")
    await server.house.kit.store.close()
    completions = server.openai().chat.completions
    if stream:
        async with completions.stream(model=model, messages=[{"role": "user", "content": "I am Ada"}]) as heard:
            choice: Choice = (await heard.get_final_completion()).choices[0]
    else:
        answer = await completions.create(model=model, messages=[{"role": "user", "content": "I am Ada"}])
        choice = answer.choices[0]
    text = choice.message.content or ""
    assert text.startswith("Hello Ada.")
    assert "memory was unavailable" in text
    assert choice.finish_reason == "stop"


async def test_the_rest_door_says_that_the_store_is_offline_and_when_to_try_again(server: Served) -> None:
    await server.house.kit.store.close()
    answer = await server.rest.get("/memories")
    assert answer.status_code == 503
    assert answer.json()["code"] == "store_unavailable"
    assert answer.headers["Retry-After"]
    assert (await server.rest.get("/health/ready")).status_code == 503
    assert (await server.rest.get("/health/live")).status_code == 200


class _Surprising:
    """A model that breaks its promise: it raises what no port names."""

    def __init__(self, *, after: int) -> None:
        self._after = after

    async def reply(self, request: ChatRequest) -> AsyncGenerator[ModelChunk, None]:
        for _ in range(self._after):
            yield ModelChunk(text="word ")
        raise RuntimeError("the secret inside")

    async def models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo(name="odd"),)

    async def info(self, model: str) -> ModelInfo:
        return ModelInfo(name=model)


async def test_a_surprise_before_the_first_word_is_an_error_without_its_inside(tmp_path: Path) -> None:
    async with served(settings_for(tmp_path), models=_Surprising(after=0)) as server:
        await server.bot("Mira")
        for stream in (True, False):
            with pytest.raises(openai.InternalServerError) as failed:
                await server.openai().chat.completions.create(
                    model="Mira", messages=[{"role": "user", "content": "Hi"}], stream=stream
                )
            assert failed.value.code == "internal_error"
            assert "secret" not in failed.value.response.text


async def test_a_surprise_after_the_first_word_is_an_error_object_in_the_stream(tmp_path: Path) -> None:
    async with served(settings_for(tmp_path), models=_Surprising(after=2)) as server:
        await server.bot("Mira")
        stream = await server.openai().chat.completions.create(
            model="Mira", messages=[{"role": "user", "content": "Hi"}], stream=True
        )
        with pytest.raises(openai.APIError) as failed:
            async for _ in stream:
                pass
        assert "secret" not in str(failed.value)
