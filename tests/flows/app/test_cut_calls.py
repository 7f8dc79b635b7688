"""T6: of a reply that breaks off, the memory calls that came whole count with what was said, half ones do not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from souvenance.app.chat_turn import chat_turn
from souvenance.app.turn import Delta, InConversation, TurnRequest
from souvenance.domain.bot import Preset
from souvenance.domain.conversation import Conversation, MessageState, Role
from souvenance.domain.memory import Scope
from souvenance.errors import ModelBroken
from souvenance.ports.chat_model import ChatRequest, ModelChunk, ToolCallDelta
from souvenance.testing import ScriptedModel, say
from tests.flows.app.house import House

ONE_DATABASE = True

WHOLE = ModelChunk(tool_calls=(ToolCallDelta(index=0, call_id="a", name="remember", arguments='{"text": "is Renko"}'),))
HALF = ModelChunk(tool_calls=(ToolCallDelta(index=1, call_id="b", name="remember", arguments='{"text": "likes'),))
NAMED = ModelChunk(tool_calls=(ToolCallDelta(index=2, call_id="c", name="remember"),))
FINDS = ModelChunk(tool_calls=(ToolCallDelta(index=3, call_id="d", name="memory_query", arguments='{"text": "tea"}'),))


class BreakingModel(ScriptedModel):
    """Says these chunks, then breaks off; with `hangs` it waits for the caller to leave instead."""

    def __init__(self, *chunks: ModelChunk, hangs: bool = False) -> None:
        super().__init__()
        self._chunks, self._hangs = chunks, hangs

    async def reply(self, request: ChatRequest) -> AsyncGenerator[ModelChunk, None]:
        self.requests.append(request)
        for chunk in self._chunks:
            yield chunk
        if self._hangs:
            self.hanging.set()
            await self.released.wait()
        raise ModelBroken(request.model, problem="half a stream")


async def _cut(house: House, chat: Conversation, how: str) -> None:
    """A turn that ends before its time: by the model, by a task that is cancelled, or by a reader that leaves."""
    if how == "breaks":
        with pytest.raises(ModelBroken):
            await house.say(chat, "Hello")
    elif how == "cancelled":
        turn = asyncio.ensure_future(house.say(chat, "Hello"))
        await house.model.hanging.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
    else:
        request = TurnRequest(address=InConversation(conversation_id=chat.conversation_id), text="Hello")
        async with aclosing(chat_turn(house.kit, house.owner, request)) as events:
            async for event in events:
                if isinstance(event, Delta) and "there" in event.text:
                    break


@pytest.mark.parametrize("how", ["breaks", "cancelled", "left"])
async def test_t6_a_whole_call_of_a_cut_reply_is_stored_with_it_and_a_half_one_is_not(house: House, how: str) -> None:
    said = [ModelChunk(text="Oh, "), WHOLE, HALF, NAMED, FINDS, ModelChunk(text="there")]
    cut = house.with_model(BreakingModel(*said, hangs=how == "cancelled"))
    chat = await cut.chat(await cut.bot())
    await _cut(cut, chat, how)
    assert await house.texts() == ["is Renko"]
    assert await house.said(chat.conversation_id) == [(Role.USER, "Hello"), (Role.BOT, "Oh, there")]


async def test_t6_a_cut_reply_of_one_whole_call_is_kept_and_answering_anew_takes_it_back(house: House) -> None:
    cut = house.with_model(BreakingModel(WHOLE))
    chat = await cut.chat(await cut.bot())
    with pytest.raises(ModelBroken):
        await cut.say(chat, "Hello", request_key="key")
    assert await house.texts() == ["is Renko"]
    told = await house.say(chat, "Hello", say("Good day"), request_key="key")
    assert told.stored.state is MessageState.WHOLE
    assert await house.texts() == []


async def test_t6_a_whole_call_of_a_notebooks_cut_reply_is_stored(house: House) -> None:
    arguments = json.dumps({"key": "name", "value": "Renko"})
    call = ModelChunk(tool_calls=(ToolCallDelta(index=0, call_id="a", name="remember", arguments=arguments),))
    cut = house.with_model(BreakingModel(call))
    bot = await cut.bot(preset=Preset.NOTEBOOK)
    with pytest.raises(ModelBroken):
        await cut.say(await cut.chat(bot), "Hello")
    assert await house.pairs(Scope.of_bot(bot.bot_id)) == {"name": "Renko"}
