from __future__ import annotations

from dataclasses import replace

import pytest

from souvenance.app.delete_message import delete_message
from souvenance.app.edit_message import edit_message
from souvenance.app.fork import fork
from souvenance.app.query_memories import Query, query_memories
from souvenance.app.read_prompts import read_prompt
from souvenance.domain.conversation import Message, Role, TurnState
from souvenance.domain.ids import MessageId, OwnerId
from souvenance.domain.memory import Scope
from souvenance.domain.sent import ERASED
from souvenance.errors import ConversationBusy, EmptyText, NotFound, TextTooLong
from souvenance.testing import say
from tests.flows.app.house import House, Told, called, calls, client

ONE_DATABASE = True


def remembers(text: str) -> tuple[object, object]:
    return calls(called("remember", "c1", text=text)), say("Noted.")


def asked(told: Told) -> Message:
    assert told.opened.message is not None
    return told.opened.message


async def test_t7_an_edited_reply_takes_back_what_it_wrote_and_later_turns_stay(house: House) -> None:
    bot = await house.bot()
    scope = Scope.of_bot(bot.bot_id)
    chat = await house.chat(bot)
    told = await house.say(chat, "I like figs.", *remembers("Likes figs"))
    await house.say(chat, "And kites.", *remembers("Likes kites"))
    edited = await edit_message(house.kit, house.owner, told.stored.message_id, "Really, dates?")
    assert edited.origin_id not in {told.stored.origin_id, edited.message_id}
    assert edited.tokens == house.kit.tokenizer.count("Really, dates?")
    assert await house.texts(scope) == ["Likes kites"]
    said = [text for _, text in await house.said(chat.conversation_id)]
    assert said == ["I like figs.", "Really, dates?", "And kites.", "Noted."]
    await house.say(chat, "Go on.")
    assert ("assistant", "Really, dates?") in house.prompt.window
    assert "Likes figs" not in house.prompt.text
    found = await query_memories(house.kit, house.owner, Query(text="dates", messages=True))
    assert [hit.message.message_id for hit in found.messages] == [edited.message_id]


async def test_t7_an_edited_user_message_takes_back_what_its_reply_wrote(house: House) -> None:
    bot = await house.bot()
    chat = await house.chat(bot)
    told = await house.say(chat, "I like figs.", *remembers("Likes figs"))
    edited = await edit_message(house.kit, house.owner, asked(told).message_id, "I like dates.")
    assert await house.texts(Scope.of_bot(bot.bot_id)) == []
    assert (edited.text, edited.role) == ("I like dates.", Role.USER)
    await house.say(chat, "Go on.")
    assert house.prompt.window[0] == ("user", "I like dates.")
    assert "figs" not in house.prompt.text


async def test_t4_a_fork_keeps_the_words_and_the_writes_that_are_edited_elsewhere(house: House) -> None:
    bot = await house.bot()
    chat = await house.chat(bot)
    told = await house.say(chat, "I like figs.", *remembers("Likes figs"))
    branch = await fork(house.kit, house.owner, told.stored.message_id)
    await edit_message(house.kit, house.owner, asked(told).message_id, "I like dates.")
    assert await house.texts(Scope.of_bot(bot.bot_id)) == ["Likes figs"]
    assert [text for _, text in await house.said(branch.conversation_id)] == ["I like figs.", "Noted."]


async def test_t7_an_edit_to_the_same_words_changes_nothing(house: House) -> None:
    bot = await house.bot()
    chat = await house.chat(bot)
    told = await house.say(chat, "I like figs.", *remembers("Likes figs"))
    before = await house.read(lambda unit: unit.messages.get(asked(told).message_id))
    assert await edit_message(house.kit, house.owner, asked(told).message_id, "I like figs.") == before
    assert await house.texts(Scope.of_bot(bot.bot_id)) == ["Likes figs"]


async def test_t7_the_client_s_history_is_known_by_what_it_says_after_the_edit(house: House) -> None:
    bot = await house.bot()
    house.model.script(say("Hello."), say("Two."))
    first = await house.turn(client(bot), "Hi")
    await house.turn(client(bot, history=((Role.USER, "Hi"), (Role.BOT, "Hello."))), "One")
    await edit_message(house.kit, house.owner, asked(first).message_id, "Good day")
    edited = ((Role.USER, "Good day"), (Role.BOT, "Hello."), (Role.USER, "One"), (Role.BOT, "Two."))
    again = await house.turn(client(bot, history=edited), "Three")
    assert again.conversation_id == first.conversation_id
    await delete_message(house.kit, house.owner, asked(first).message_id)
    left = (*edited[1:], (Role.USER, "Three"), (Role.BOT, again.text))
    assert (await house.turn(client(bot, history=left), "Four")).conversation_id == first.conversation_id


async def test_t7_bad_edits_change_nothing(house: House) -> None:
    chat = await house.chat(await house.bot())
    told = await house.say(chat, "Hello", say("Hi."))
    small = house.with_limits(message_characters=5)
    with pytest.raises(TextTooLong):
        await edit_message(small.kit, house.owner, told.stored.message_id, "Too long")
    with pytest.raises(EmptyText):
        await edit_message(house.kit, house.owner, told.stored.message_id, " \n")
    for owner, message_id in ((OwnerId("own_other"), told.stored.message_id), (house.owner, MessageId("msg_none"))):
        with pytest.raises(NotFound):
            await edit_message(house.kit, owner, message_id, "Hey.")
        with pytest.raises(NotFound):
            await delete_message(house.kit, owner, message_id)
    async with house.kit.busy.alone(f"answers {house.owner} {chat.conversation_id}"):
        with pytest.raises(ConversationBusy):
            await edit_message(house.kit, house.owner, told.stored.message_id, "Hey.")
        with pytest.raises(ConversationBusy):
            await delete_message(house.kit, house.owner, told.stored.message_id)
    assert [text for _, text in await house.said(chat.conversation_id)] == ["Hello", "Hi."]


async def test_t7_a_deleted_reply_goes_with_its_variants_and_its_writes_and_leaves_its_turn_open(house: House) -> None:
    bot = await house.bot()
    chat = await house.chat(bot)
    told = await house.say(chat, "I like figs.", *remembers("Likes figs"))
    await house.say(chat, "Go on.", say("Yes?"))
    other = replace(
        told.stored, message_id=MessageId("msg_variant"), origin_id=MessageId("msg_variant"), variant=1, chosen=False
    )
    await house.kit.store.write(house.owner, lambda unit: unit.messages.put(other), label="test.put")
    kept = await delete_message(house.kit, house.owner, told.stored.message_id)
    assert [text for _, text in await house.said(chat.conversation_id)] == ["I like figs.", "Go on.", "Yes?"]
    assert await house.texts(Scope.of_bot(bot.bot_id)) == []
    assert (kept.messages, kept.last_position) == (3, 1)
    turn = await house.read(lambda unit: unit.turns.get(told.stored.turn_id))
    assert turn.state is TurnState.OPEN
    assert len(await house.read(lambda unit: unit.messages.of_turn(told.stored.turn_id))) == 1


async def test_t7_deleted_words_are_in_no_prompt_sent_or_to_come_and_in_no_hit(house: House) -> None:
    chat = await house.chat(await house.bot())
    first = await house.say(chat, "A marmoset!", say("Indeed."))
    await house.say(chat, "Go on.", say("Yes?"))
    await delete_message(house.kit, house.owner, asked(first).message_id)
    sent = await house.read(lambda unit: unit.prompts.of_conversation(chat.conversation_id, limit=9))
    for prompt in sent:
        whole = await read_prompt(house.kit, house.owner, prompt.prompt_id)
        read_back = b"".join(part.data for part in whole.parts)
        assert b"marmoset" not in read_back
        assert ERASED in read_back
    await house.say(chat, "And?")
    assert "marmoset" not in house.prompt.text
    assert house.prompt.window[0] == ("assistant", "Indeed.")
    assert (await query_memories(house.kit, house.owner, Query(text="marmoset", messages=True))).messages == ()


async def test_t7_a_turn_left_without_any_message_goes_and_the_conversation_goes_on(house: House) -> None:
    chat = await house.chat(await house.bot())
    first = await house.say(chat, "One", say("First."))
    second = await house.say(chat, "Two", say("Second."))
    for message_id in (second.stored.message_id, asked(second).message_id):
        await delete_message(house.kit, house.owner, message_id)
    kept = await delete_message(house.kit, house.owner, asked(first).message_id)
    assert (kept.messages, kept.last_position) == (1, 0)
    with pytest.raises(NotFound):
        await house.read(lambda unit: unit.turns.get(second.stored.turn_id))
    last = await delete_message(house.kit, house.owner, first.stored.message_id)
    assert (last.messages, last.last_position, last.window_start) == (0, -1, 0)
    await house.say(chat, "Anew", say("Hi."))
    assert [text for _, text in await house.said(chat.conversation_id)] == ["Anew", "Hi."]


async def test_t7_deleting_what_waits_keeps_the_counts_right(house: House) -> None:
    house = house.with_limits(balanced_messages=10)
    chat = await house.chat(await house.bot())
    told = [await house.say(chat, f"Number {n}") for n in range(20)]
    before = await house.read(lambda unit: unit.conversations.get(chat.conversation_id))
    kept = await delete_message(house.kit, house.owner, told[0].stored.message_id)
    assert (kept.waiting, kept.messages) == (before.waiting - 1, before.messages - 1)
    assert kept.window_start == before.window_start
