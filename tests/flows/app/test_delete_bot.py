"""M8: a bot is deleted, and its memories become the account's or go with it, in one write."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from souvenance.app.archive_memory import archive_memory
from souvenance.app.bots import find_bot, set_level
from souvenance.app.bring_back import bring_back
from souvenance.app.browse import list_memories, memory_history, read_memory
from souvenance.app.chat_turn import chat_turn
from souvenance.app.conversations import NewConversation, open_conversation
from souvenance.app.delete_bot import DeletedBot, Memories, delete_bot
from souvenance.app.edit_memory import edit_memory
from souvenance.app.edit_message import edit_message
from souvenance.app.erase import erase_memories, undo_erasure
from souvenance.app.list_removed import list_removed
from souvenance.app.pin_memory import pin_memory
from souvenance.app.rewind import rewind
from souvenance.app.turn import Done, InConversation, Opened, TurnRequest
from souvenance.domain.bot import Bot, Preset
from souvenance.domain.conversation import Role
from souvenance.domain.journal import Actor, Add, Move, Pin
from souvenance.domain.limits import Level
from souvenance.domain.memory import ACCOUNT_SCOPE, MemoryState, Scope
from souvenance.errors import BotGone, NotFound, PinRoomFull, TextTooLong
from souvenance.ports.memories import Shelf
from souvenance.testing import say
from tests.flows.app.house import House, called, calls

ONE_DATABASE = True


async def _delete(house: House, bot: Bot, memories: Memories = Memories.KEEP) -> DeletedBot:
    return await delete_bot(house.kit, house.owner, bot.bot_id, memories=memories)


async def test_m8_kept_memories_become_the_accounts_with_ids_pins_and_journal(house: House) -> None:
    bot = await house.bot("Mira")
    scope = Scope.of_bot(bot.bot_id)
    pinned = await house.remember("is called Renko", scope, pinned=True)
    await house.say(await house.chat(bot), "Hi", calls(called("remember", text="lives in Turin")), say("Ok"))
    done = await _delete(house, bot)
    assert (done.memories, done.count) == (Memories.KEEP, 2)
    kept = {memory.text: memory for memory in await house.memories(ACCOUNT_SCOPE)}
    assert kept["is called Renko"].memory_id == pinned.memory_id
    assert kept["is called Renko"].pinned
    history = await memory_history(house.kit, house.owner, kept["lives in Turin"].memory_id)
    assert [(type(one.intent), one.actor) for one in history] == [(Add, Actor.MODEL), (Move, Actor.PERSON)]
    other = await house.bot("Other")
    await house.say(await house.chat(other), "Hello")
    assert "lives in Turin" in house.prompt.system


async def test_m8_the_bot_is_gone_its_name_free_and_its_level_forgotten(house: House) -> None:
    bot = await house.bot("Mira")
    await set_level(house.kit, house.owner, bot.bot_id, Level.DETAILED)
    await _delete(house, bot)
    with pytest.raises(NotFound):
        await find_bot(house.kit, house.owner, bot.bot_id)
    with pytest.raises(NotFound):
        await _delete(house, bot)
    assert (await house.bot("Mira")).bot_id != bot.bot_id
    assert await house.read(lambda unit: unit.levels.get(bot.bot_id)) is None


async def test_m8_what_is_kept_may_pass_the_room_and_no_pin_is_added_until_it_is_back_under_its_cap(
    house: House,
) -> None:
    small = house.with_limits(room_pinned=2, room_unpinned=2)
    bot = await small.bot("Mira")
    for number in (1, 2):
        await small.remember(f"the account's {number}", pinned=True)
        await small.remember(f"Mira's {number}", Scope.of_bot(bot.bot_id), pinned=True)
        await small.remember(f"loose {number}")
        await small.remember(f"Mira's loose {number}", Scope.of_bot(bot.bot_id))
    await _delete(small, bot)
    held = await small.memories(ACCOUNT_SCOPE)
    assert sum(memory.pinned for memory in held) == 4
    archived = await list_memories(small.kit, small.owner, scope=ACCOUNT_SCOPE, shelf=Shelf.ARCHIVED)
    assert sorted(view.memory.text for view in archived.items) == ["Mira's loose 1", "loose 1"]
    loose = next(memory for memory in held if memory.text == "loose 2")
    pins = [memory.memory_id for memory in held if memory.pinned]
    for memory_id in pins[:2]:
        with pytest.raises(PinRoomFull):
            await pin_memory(small.kit, small.owner, loose.memory_id, pinned=True)
        await pin_memory(small.kit, small.owner, memory_id, pinned=False)
    await pin_memory(small.kit, small.owner, pins[2], pinned=False)
    assert (await pin_memory(small.kit, small.owner, loose.memory_id, pinned=True)).pinned


async def test_m10_of_equal_texts_one_stands_and_the_pinned_one_first(house: House) -> None:
    bot = await house.bot("Mira")
    first = await house.remember("likes tea")
    await house.remember("lives in Turin")
    twin = await house.remember("Likes tea!", Scope.of_bot(bot.bot_id))
    pinned = await house.remember("lives in Turin", Scope.of_bot(bot.bot_id), pinned=True)
    await _delete(house, bot)
    assert {memory.memory_id for memory in await house.memories()} == {first.memory_id, pinned.memory_id}
    hidden = await house.read(lambda unit: unit.memories.get(twin.memory_id))
    assert (hidden.state, hidden.scope) == (MemoryState.SHADOWED, ACCOUNT_SCOPE)


async def test_m8_a_notebooks_entries_become_texts_and_a_long_one_is_kept_whole_and_marked(house: House) -> None:
    bot = await house.bot("Note", preset=Preset.NOTEBOOK)
    scope = Scope.of_bot(bot.bot_id)
    short = await house.remember("Alice", scope, key="user_name", pinned=True)
    long = await house.remember("x" * 600, scope, key="notes")
    put_by = await house.remember("old", scope, key="archived")
    await archive_memory(house.kit, house.owner, put_by.memory_id, archived=True)
    await _delete(house, bot)
    views = [await read_memory(house.kit, house.owner, each.memory_id) for each in (short, long, put_by)]
    assert [(v.memory.key, v.memory.text, v.oversized) for v in views] == [
        (None, "user_name: Alice", False),
        (None, "notes: " + "x" * 600, True),
        (None, "archived: old", False),
    ]
    assert [(v.memory.pinned, v.memory.archived) for v in views] == [(True, False), (False, False), (False, True)]
    history = await memory_history(house.kit, house.owner, short.memory_id)
    assert [type(one.intent) for one in history] == [Add, Pin, Move]
    seen = views[1].memory.version
    with pytest.raises(TextTooLong, match="500"):
        await edit_memory(house.kit, house.owner, long.memory_id, seen=seen, text="y" * 501)
    await edit_memory(house.kit, house.owner, long.memory_id, seen=seen, text="y" * 500)
    assert not (await read_memory(house.kit, house.owner, long.memory_id)).oversized


async def test_m8_a_fact_told_after_the_bot_went_is_found_by_words(house: House) -> None:
    bot = await house.bot("Note", preset=Preset.NOTEBOOK)
    await house.remember("walnut", Scope.of_bot(bot.bot_id), key="wood")
    await _delete(house, bot)
    asked = calls(called("memory_query", text="wood"))
    await house.say(await house.chat(None, model="scripted"), "Hi", asked, say("."))
    assert "wood: walnut" in house.prompt.text


async def test_m8_erased_memories_go_with_the_bot_and_leave_only_tombstones(house: House) -> None:
    bot = await house.bot("Mira")
    gone = await house.remember("a walnut allergy", Scope.of_bot(bot.bot_id), pinned=True)
    await house.remember("the account's")
    done = await _delete(house, bot, Memories.ERASE)
    assert done.count == 1
    assert await house.texts() == ["the account's"]
    with pytest.raises(NotFound):
        await house.read(lambda unit: unit.memories.get(gone.memory_id))
    assert await house.read(lambda unit: unit.erasures.tombstones(text="a walnut allergy", key=None))


async def test_m8_a_conversation_with_it_stays_readable_and_a_turn_there_names_it_as_gone(house: House) -> None:
    bot = await house.bot("Mira")
    chat = await house.chat(bot)
    await house.say(chat, "Hi", say("Hello"))
    await _delete(house, bot)
    said = await house.said(chat.conversation_id)
    with pytest.raises(BotGone, match=bot.bot_id):
        await house.say(chat, "Still there?")
    assert await house.said(chat.conversation_id) == said


async def test_m8_a_group_goes_on_with_the_members_that_remain(house: House) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob")
    new = NewConversation(bot_id=ada.bot_id, others=(bob.bot_id,))
    chat = await open_conversation(house.kit, house.owner, new)
    await house.say(chat, "Hi", say("I am Ada."))
    await _delete(house, ada)
    told = await house.say(chat, "And you?", say("Bob."))
    assert told.stored.bot_id == bob.bot_id
    assert ("user", "Former member: I am Ada.") in house.prompt.window
    with pytest.raises(BotGone):
        await house.say(chat, "Ada?", speakers=(ada.bot_id,))


async def test_m8_what_a_reply_wished_to_keep_for_a_bot_deleted_meanwhile_goes_nowhere(house: House) -> None:
    bot = await house.bot("Mira")
    chat = await house.chat(bot)
    house.model.script(calls(called("remember", text="lives in Turin")), say("Noted"))
    request = TurnRequest(address=InConversation(conversation_id=chat.conversation_id), text="I live in Turin")
    async with aclosing(chat_turn(house.kit, house.owner, request)) as events:
        assert isinstance(await anext(events), Opened)
        await _delete(house, bot)
        told = [event async for event in events]
    assert isinstance(told[-1], Done)
    assert await house.said(chat.conversation_id) == [(Role.USER, "I live in Turin"), (Role.BOT, "Noted")]
    assert await house.memories() == []
    assert await house.memories(Scope.of_bot(bot.bot_id)) == []


async def test_t2_what_a_turn_wrote_in_a_notebook_is_taken_back_after_the_notebook_went_too(house: House) -> None:
    bot = await house.bot("Note", preset=Preset.NOTEBOOK)
    chat = await house.chat(bot)
    first = await house.say(chat, "I live in Turin", say('Ok remember("city", "Turin")'))
    await house.say(chat, "In Rome", say('Ok remember("city", "Rome")'))
    await _delete(house, bot)
    assert await house.texts() == ["city: Rome"]
    assert first.done.turn is not None
    await rewind(house.kit, house.owner, chat.conversation_id, after=first.done.turn.turn_id)
    assert await house.texts() == ["city: Turin"]
    await rewind(house.kit, house.owner, chat.conversation_id)
    assert await house.texts() == []


async def test_m8_an_entry_behind_another_of_its_key_stays_out_of_sight_and_can_be_brought_back(house: House) -> None:
    bot = await house.bot("Note", preset=Preset.NOTEBOOK)
    chat = await house.chat(bot)
    await house.say(chat, "I live in Turin", say('Ok remember("city", "Turin")'))
    gone = await house.say(chat, "No more", calls(called("forget", key="city")), say("Gone"))
    await house.say(chat, "In Rome", say('Ok remember("city", "Rome")'))
    await edit_message(house.kit, house.owner, gone.stored.message_id, "I did not.")
    assert await house.pairs() == {"city": "Turin"}
    await _delete(house, bot)
    assert await house.pairs() == {None: "city: Turin"}
    (removed,) = (await list_removed(house.kit, house.owner)).items
    await bring_back(house.kit, house.owner, removed.memory.memory_id, removed.place)
    assert await house.texts() == ["city: Turin", "city: Rome"]


async def test_m8_an_entry_whose_erasure_is_taken_back_after_its_notebook_went_is_a_text(house: House) -> None:
    bot = await house.bot("Note", preset=Preset.NOTEBOOK)
    entry = await house.remember("Turin", Scope.of_bot(bot.bot_id), key="city")
    erasure = await erase_memories(house.kit, house.owner, [entry.memory_id])
    await _delete(house, bot)
    assert await house.texts() == []
    await undo_erasure(house.kit, house.owner, erasure.erasure_id)
    assert await house.pairs() == {None: "city: Turin"}


async def test_m11_what_an_entry_said_before_it_moved_can_be_brought_back_as_a_text(house: House) -> None:
    bot = await house.bot("Note", preset=Preset.NOTEBOOK)
    entry = await house.remember("Turin", Scope.of_bot(bot.bot_id), key="city")
    await _delete(house, bot)
    moved = await read_memory(house.kit, house.owner, entry.memory_id)
    await edit_memory(house.kit, house.owner, entry.memory_id, seen=moved.memory.version, text="lives in Rome")
    back = await bring_back(house.kit, house.owner, entry.memory_id, entry.place)
    assert (back.key, back.text) == (None, "city: Turin")
    await erase_memories(house.kit, house.owner, [entry.memory_id])
    stones = await house.read(lambda unit: unit.erasures.tombstones(text="city: Turin", key=None))
    assert ACCOUNT_SCOPE in {stone.scope for stone in stones}
