from __future__ import annotations

import asyncio

import pytest

from souvenance.app.delete_conversation import delete_conversation
from souvenance.app.edit_message import edit_message
from souvenance.app.fork import fork
from souvenance.app.pin_memory import pin_memory
from souvenance.app.query_memories import Query, query_memories
from souvenance.app.rewind import rewind
from souvenance.app.turn import InConversation
from souvenance.domain.conversation import Conversation, Role
from souvenance.domain.ids import ConversationId, OwnerId, TurnId
from souvenance.domain.memory import Scope
from souvenance.errors import BadValue, ConversationBusy, NotFound, TurnSuperseded
from souvenance.testing import Hang, say
from tests.flows.app.house import House, Told, another_kit, called, calls, client


def remembers(text: str) -> tuple[object, object]:
    return calls(called("remember", "c1", text=text)), say("Noted.")


def turn_of(told: Told) -> TurnId:
    assert told.opened.turn is not None
    return told.opened.turn.turn_id


async def now(house: House, chat: Conversation) -> Conversation:
    return await house.read(lambda unit: unit.conversations.get(chat.conversation_id))


async def test_t2_a_rewind_takes_later_turns_and_what_they_wrote_and_leaves_the_rest(house: House) -> None:
    bot = await house.bot()
    chat = await house.chat(bot)
    scope = Scope.of_bot(bot.bot_id)
    await house.say(chat, "I like tea.", *remembers("Likes tea"))
    kept = await house.say(chat, "Go on.", say("Yes?"))
    await house.say(chat, "I like figs.", *remembers("Likes figs"))
    await house.say(chat, "I fly kites.", *remembers("Flies kites"))
    by_hand = await house.remember("Born in Oslo", scope)
    kites = next(memory for memory in await house.memories(scope) if memory.text == "Flies kites")
    await pin_memory(house.kit, house.owner, kites.memory_id, pinned=True)

    rewound = await rewind(house.kit, house.owner, chat.conversation_id, after=turn_of(kept))

    assert sorted(await house.texts(scope)) == sorted(["Likes tea", "Flies kites", by_hand.text])
    said = await house.said(chat.conversation_id)
    assert [text for _, text in said] == ["I like tea.", "Noted.", "Go on.", "Yes?"]
    assert (rewound.last_position, rewound.messages, rewound.waiting) == (1, 4, 0)
    assert rewound == await now(house, chat)
    hits = await query_memories(house.kit, house.owner, Query(text="kites figs", messages=True))
    assert [hit.memory.text for hit in hits.memories] == ["Flies kites"]
    assert hits.messages == ()
    await house.say(chat, "What do I like?")
    assert "figs" not in house.prompt.text
    assert "Likes tea" in house.prompt.system


async def test_t2_what_was_sent_for_the_removed_turns_is_gone_and_the_earlier_prompts_stay(house: House) -> None:
    chat = await house.chat(await house.bot())
    kept = await house.say(chat, "One")
    gone = await house.say(chat, "Two")
    await rewind(house.kit, house.owner, chat.conversation_id, after=turn_of(kept))
    left = await house.read(lambda unit: unit.prompts.of_conversation(chat.conversation_id, limit=9))
    assert [prompt.turn_id for prompt in left] == [turn_of(kept)]
    whole = await house.read(lambda unit: unit.prompts.get(left[0].prompt_id))
    assert b"".join(part.data for part in whole.parts) == house.prompts[0].body
    with pytest.raises(NotFound):
        await house.read(lambda unit: unit.turns.get(turn_of(gone)))


async def test_t2_a_rewind_of_everything_leaves_an_empty_conversation_that_goes_on(house: House) -> None:
    chat = await house.chat(await house.bot())
    for text in ("One", "Two", "Three"):
        await house.say(chat, text)
    rewound = await rewind(house.kit, house.owner, chat.conversation_id)
    assert (rewound.last_position, rewound.messages, rewound.window_start) == (-1, 0, 0)
    assert rewound.history_hash == chat.history_hash
    told = await house.say(chat, "Anew", say("Hi"))
    assert await house.said(told.conversation_id) == [(Role.USER, "Anew"), (Role.BOT, "Hi")]
    assert house.prompt.window == []


async def test_t2_behind_the_window_it_begins_anew_and_what_lies_before_it_waits(house: House) -> None:
    house = house.with_limits(balanced_messages=10)
    chat = await house.chat(await house.bot())
    told = [await house.say(chat, f"Number {n}") for n in range(30)]
    before = await now(house, chat)
    assert before.window_start > 10
    rewound = await rewind(house.kit, house.owner, chat.conversation_id, after=turn_of(told[9]))
    # Three quarters of ten messages are three whole turns and no fourth one.
    assert (rewound.window_start, rewound.messages, rewound.waiting) == (7, 20, 14)
    await house.say(chat, "And now?")
    assert [text for role, text in house.prompt.window if role == "user"] == ["Number 7", "Number 8", "Number 9"]


async def test_t2_a_turn_is_recognised_by_its_history_after_a_rewind(house: House) -> None:
    bot = await house.bot()
    house.model.script(say("Hello."))
    first = await house.turn(client(bot), "Hi")
    house.model.script(say("Two."))
    history = ((Role.USER, "Hi"), (Role.BOT, "Hello."))
    await house.turn(client(bot, history=history), "One")
    await rewind(house.kit, house.owner, first.conversation_id, after=turn_of(first))
    again = await house.turn(client(bot, history=history), "Another")
    assert again.conversation_id == first.conversation_id


async def test_t4_what_a_fork_still_holds_stands_after_a_rewind(house: House) -> None:
    bot = await house.bot()
    chat = await house.chat(bot)
    first = await house.say(chat, "Hello")
    figs = await house.say(chat, "I like figs.", *remembers("Likes figs"))
    branch = await fork(house.kit, house.owner, figs.stored.message_id)
    await rewind(house.kit, house.owner, chat.conversation_id, after=turn_of(first))
    scope = Scope.of_bot(bot.bot_id)
    assert await house.texts(scope) == ["Likes figs"]
    await rewind(house.kit, house.owner, branch.conversation_id)
    assert await house.texts(scope) == []


async def test_t2_is_refused_while_a_reply_is_being_written_there(house: House) -> None:
    chat = await house.chat(await house.bot())
    await house.say(chat, "Hello")
    house.model.script(Hang())
    speaking = asyncio.create_task(house.turn(InConversation(conversation_id=chat.conversation_id), "Go on."))
    await house.model.hanging.wait()
    with pytest.raises(ConversationBusy):
        await rewind(house.kit, house.owner, chat.conversation_id)
    speaking.cancel()
    await asyncio.wait([speaking])
    assert (await rewind(house.kit, house.owner, chat.conversation_id)).messages == 0


@pytest.mark.parametrize("change", ["rewound", "edited", "deleted"])
async def test_t2_a_reply_that_another_process_writes_meanwhile_is_not_stored(house: House, change: str) -> None:
    chat = await house.chat(await house.bot())
    first = await house.say(chat, "Hello", say("Hi."))
    house.model.script(Hang(after=("Not",)))
    speaking = asyncio.create_task(house.turn(InConversation(conversation_id=chat.conversation_id), "I like figs."))
    await house.model.hanging.wait()
    other = another_kit(house.kit)
    if change == "rewound":
        await rewind(other, house.owner, chat.conversation_id, after=turn_of(first))
    elif change == "edited":
        await edit_message(other, house.owner, first.stored.message_id, "Good day.")
    else:
        await delete_conversation(other, house.owner, chat.conversation_id)
    house.model.released.set()
    with pytest.raises(TurnSuperseded):
        await speaking
    if change != "deleted":
        said = [text for _, text in await house.said(chat.conversation_id)]
        assert said == (["Hello", "Hi."] if change == "rewound" else ["Hello", "Good day.", "I like figs."])


async def test_t2_a_turn_of_another_conversation_or_owner_is_not_found(house: House) -> None:
    bot = await house.bot()
    chat, other = await house.chat(bot), await house.chat(bot)
    told = await house.say(other, "Hello")
    with pytest.raises(NotFound):
        await rewind(house.kit, house.owner, chat.conversation_id, after=turn_of(told))
    with pytest.raises(NotFound):
        await rewind(house.kit, OwnerId("own_other"), other.conversation_id)
    with pytest.raises(NotFound):
        await rewind(house.kit, house.owner, ConversationId("cnv_none"))


async def test_t7_edit_and_resend_replaces_a_turn_and_all_after_it_in_one_write(house: House) -> None:
    bot = await house.bot()
    chat = await house.chat(bot)
    await house.say(chat, "Hello", say("Hi."))
    wrong = await house.say(chat, "I like figs.", *remembers("Likes figs"))
    await house.say(chat, "Go on.")
    told = await house.say(chat, "I like dates.", *remembers("Likes dates"), replaces=turn_of(wrong))
    said = [text for _, text in await house.said(chat.conversation_id)]
    assert said == ["Hello", "Hi.", "I like dates.", "Noted."]
    assert await house.texts(Scope.of_bot(bot.bot_id)) == ["Likes dates"]
    assert "figs" not in house.prompts[-1].text
    assert told.opened.turn is not None
    assert told.opened.turn.position == 1


async def test_t7_a_resent_request_with_its_key_replaces_once(house: House) -> None:
    chat = await house.chat(await house.bot())
    wrong = await house.say(chat, "Figs.")
    for _ in range(2):
        told = await house.say(chat, "Dates.", replaces=turn_of(wrong), request_key="k1")
        assert told.text == "You said: Dates."
    assert len(await house.said(chat.conversation_id)) == 2


async def test_t7_a_replacing_message_that_cannot_be_stored_removes_nothing(house: House) -> None:
    bot = await house.bot()
    chat, other = await house.chat(bot), await house.chat(bot)
    there = await house.say(chat, "Hello", say("Hi."))
    with pytest.raises(NotFound):
        await house.say(other, "Hello?", replaces=turn_of(there))
    with pytest.raises(BadValue):
        await house.turn(client(bot), "Hello?", replaces=turn_of(there))
    assert [text for _, text in await house.said(chat.conversation_id)] == ["Hello", "Hi."]
