"""Section 6 through whole turns: what a conversation is not allowed, whoever asks."""

from __future__ import annotations

import pytest

from souvenance.app.browse import list_conversations
from souvenance.app.conversations import NewConversation
from souvenance.app.query_memories import Query, query_memories
from souvenance.app.turn import NewChat
from souvenance.domain.conversation import Flags
from souvenance.errors import BadValue
from souvenance.testing import say
from tests.flows.app.house import House, called, calls

ONE_DATABASE = True


async def test_o3_what_is_said_in_a_challenge_is_not_found_from_elsewhere(house: House) -> None:
    bot = await house.bot()
    await house.say(await house.chat(bot, flags=Flags(challenge=True)), "The password is quokka", say("Quokka it is"))
    hits = await query_memories(house.kit, house.owner, Query(text="quokka", messages=True))
    assert hits.messages == ()
    await house.say(await house.chat(bot), "What was it?", calls(called("memory_query", text="quokka")), say("?"))
    assert "The password" not in house.prompt.text


async def test_o3_a_challenge_keeps_its_own_window(house: House) -> None:
    chat = await house.chat(await house.bot(), flags=Flags(challenge=True))
    await house.say(chat, "The password is quokka", say("I see"))
    await house.say(chat, "What was it?")
    assert house.prompt.window == [("user", "The password is quokka"), ("assistant", "I see")]


@pytest.mark.parametrize(
    ("flag", "why"), [("temporary", "temporary turns"), ("anonymous", "temporary turns"), ("gateway", "derives")]
)
async def test_o4_o5_a_flag_that_cannot_be_claimed_is_refused_by_name_and_nothing_is_stored(
    house: House, flag: str, why: str
) -> None:
    bot, flags = await house.bot(), Flags(**{flag: True})
    with pytest.raises(BadValue, match=rf"flags\.{flag}.*{why}"):
        await house.turn(NewChat(conversation=NewConversation(bot_id=bot.bot_id, flags=flags)), "Hello")
    with pytest.raises(BadValue, match=rf"flags\.{flag}.*{why}"):
        await house.chat(bot, flags=flags)
    assert (await list_conversations(house.kit, house.owner)).items == ()
    assert house.prompts == []


async def test_o1_what_was_said_with_learning_off_stays_in_its_window(house: House) -> None:
    chat = await house.chat(await house.bot(settings={"learn": False}))
    await house.say(chat, "One", say("Two"))
    await house.say(chat, "Three")
    assert house.prompt.window == [("user", "One"), ("assistant", "Two")]
