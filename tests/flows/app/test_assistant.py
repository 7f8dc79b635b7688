"""The assistant preset and the bare upstream model: pinned ones, what this chat itself stored, and memory_query."""

from __future__ import annotations

import json

from souvenance.app.recall_reply import LABEL
from souvenance.domain.bot import Preset
from souvenance.domain.memory import ACCOUNT_SCOPE, Scope
from souvenance.testing import ScriptedModel, say
from tests.flows.app.house import House, called, calls, client

ONE_DATABASE = True


async def test_e1_an_assistants_prompt_holds_the_pinned_ones_only(house: House) -> None:
    await house.remember("is allergic to walnuts", pinned=True)
    await house.remember("likes tea")
    await house.say(await house.chat(await house.bot(preset=Preset.ASSISTANT)), "Hello")
    assert "is allergic to walnuts" in house.prompt.system
    assert "likes tea" not in house.prompt.text
    assert "memory_query" in house.prompt.tools


async def test_p1_what_this_conversation_stored_stands_in_its_since_then_list_and_in_no_others(house: House) -> None:
    bot = await house.bot(preset=Preset.ASSISTANT)
    one, other = await house.chat(bot), await house.chat(bot)
    await house.say(other, "Hello")
    await house.say(one, "Hello", calls(called("remember", text="is called Renko")), say("Hi"))
    await house.say(one, "And now?")
    assert "is called Renko" in house.prompt.since
    await house.say(other, "And now?")
    assert "Renko" not in house.prompt.text


async def test_p1_after_a_new_epoch_the_conversation_still_shows_what_it_stored_itself(house: House) -> None:
    small = house.with_limits(balanced_messages=4)
    chat = await small.chat(await small.bot(preset=Preset.ASSISTANT))
    await small.say(chat, "Hello", calls(called("remember", text="is called Renko")), say("Hi"))
    for number in range(6):
        await small.say(chat, f"filler {number}", say("yes"))
    assert "is called Renko" in small.prompt.system


async def test_p2_memory_query_finds_the_rest(house: House) -> None:
    await house.remember("likes tea")
    chat = await house.chat(await house.bot(preset=Preset.ASSISTANT))
    await house.say(chat, "What do I drink?", calls(called("memory_query", text="tea")), say("Tea"))
    answer = json.loads(house.prompt.messages[-1]["content"])
    assert answer["memories"] == [{"id": 1, "text": "likes tea"}]


async def test_i3_a_bare_model_is_an_assistant_on_the_account_and_reads_no_bots_memory(house: House) -> None:
    bot = await house.bot()
    await house.remember("only for Mira", Scope.of_bot(bot.bot_id), pinned=True)
    await house.remember("is allergic to walnuts", pinned=True)
    house.model.script(calls(called("remember", text="is called Renko")), say("Hi"))
    await house.turn(client(None), "Hello", request_hash="a")
    assert "is allergic to walnuts" in house.prompt.system
    assert "only for Mira" not in house.prompt.text
    assert {memory.text: memory.scope for memory in await house.memories()}["is called Renko"] == ACCOUNT_SCOPE


async def test_without_any_model_the_reply_is_a_labelled_recall(house: House) -> None:
    bare = house.with_model(ScriptedModel(models=()))
    await bare.remember("likes green tea")
    chat = await bare.chat(await bare.bot())
    told = await bare.say(chat, "Which tea do I like?")
    assert told.text == f"{LABEL}\n- likes green tea"
    assert told.stored.text == told.text
    nothing = await bare.say(chat, "Zebras?")
    assert nothing.text.startswith(LABEL)
    assert "Nothing that is remembered fits" in nothing.text
