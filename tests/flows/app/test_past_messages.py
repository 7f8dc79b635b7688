"""K1 and section 6: from a conversation, past messages are found among the chats with the same bot only."""

from __future__ import annotations

import json

from souvenance.app.query_memories import Query, query_memories
from souvenance.domain.bot import Bot, Preset
from souvenance.domain.conversation import Conversation
from souvenance.testing import ScriptedModel, say
from tests.flows.app.house import House, called, calls

ONE_DATABASE = True

SECRET = "The lighthouse keeper is Odalric"


async def _answer(house: House, chat: Conversation) -> list[str]:
    """The past messages that the model is shown when it looks for the keeper."""
    await house.say(chat, "Tell me", calls(called("memory_query", text="lighthouse keeper")), say("Well"))
    (found,) = (json.loads(one["content"]) for one in house.prompt.messages if one["role"] == "tool")
    return [message["text"] for message in found["messages"]]


async def _told(house: House, bot: Bot | None) -> None:
    await house.say(await house.chat(bot), SECRET, say("I see"))


async def test_k1_a_recall_reply_of_one_bot_never_quotes_what_was_said_to_another(house: House) -> None:
    mute = house.with_model(ScriptedModel(models=()))
    one, two = [await mute.bot(name, preset=Preset.NOTEBOOK) for name in ("One", "Two")]
    await mute.say(await mute.chat(one), SECRET)
    assert "Odalric" not in (await mute.say(await mute.chat(two), "Who is the lighthouse keeper?")).text
    assert "Odalric" in (await mute.say(await mute.chat(one), "Who is the lighthouse keeper?")).text


async def test_k1_memory_query_finds_the_chats_of_the_same_bot_only(house: House) -> None:
    one, two = [await house.bot(name) for name in ("One", "Two")]
    await _told(house, one)
    assert await _answer(house, await house.chat(two)) == []
    assert await _answer(house, await house.chat(one)) == [SECRET]


async def test_k1_a_bare_model_finds_the_chats_with_bare_models_only(house: House) -> None:
    bot = await house.bot()
    await _told(house, bot)
    assert await _answer(house, await house.chat(None, model="scripted")) == []
    await _told(house, None)
    assert await _answer(house, await house.chat(None, model="scripted")) == [SECRET]
    assert await _answer(house, await house.chat(await house.bot("Two"))) == []


async def test_q1_a_persons_own_query_finds_the_messages_of_every_chat(house: House) -> None:
    await _told(house, await house.bot("One"))
    await _told(house, await house.bot("Two"))
    await _told(house, None)
    hits = await query_memories(house.kit, house.owner, Query(text="lighthouse keeper", messages=True))
    assert [hit.message.text for hit in hits.messages] == [SECRET] * 3
