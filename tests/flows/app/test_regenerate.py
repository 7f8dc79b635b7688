"""T1: the last turn asked again, as if what its reply wrote had never been written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from souvenance.app.browse import read_turn
from souvenance.app.chat_turn import chat_turn
from souvenance.app.conversations import read_conversation
from souvenance.app.edit_memory import edit_memory
from souvenance.app.erase import erase_memories
from souvenance.app.pin_memory import pin_memory
from souvenance.app.read_prompts import prompts_of_message
from souvenance.app.regenerate import regenerate
from souvenance.app.reopen_turn import AskedAgain
from souvenance.app.turn import Done, InConversation, TurnEvent, TurnRequest
from souvenance.domain.conversation import Conversation, MessageState, Role, TurnState
from souvenance.domain.ids import TurnId
from souvenance.domain.memory import MemoryState
from souvenance.errors import ModelError, NotFound, NotLastTurn, StoreUnavailable, TurnSuperseded
from souvenance.testing import HalfStream, Hang, ScriptedModel, Text, say
from tests.flows.app.house import House, Told, called, calls, client
from tests.flows.app.stores import FailingStore


def turn_of(told: Told) -> TurnId:
    assert told.opened.turn is not None
    return told.opened.turn.turn_id


async def again(house: House, turn_id: TurnId, *script: object, part: int | None = None) -> Told:
    house.model.script(*script)  # type: ignore[arg-type]
    async with aclosing(regenerate(house.kit, house.owner, AskedAgain(turn_id=turn_id, part=part))) as events:
        return Told(events=tuple(await rest(events)))


async def variants(house: House, turn_id: TurnId) -> list[tuple[int, int, bool, str]]:
    """Part, variant, whether chosen, and text of every reply."""
    _, messages = await read_turn(house.kit, house.owner, turn_id)
    return [(m.part, m.variant, m.chosen, m.text) for m in messages if m.role is Role.BOT]


async def rest(events: AsyncIterator[TurnEvent]) -> list[TurnEvent]:
    return [event async for event in events]


async def _chat(house: House, **settings: bool) -> Conversation:
    return await house.chat(await house.bot(settings=settings))


def _remembers(text: str, said: str) -> tuple[object, object]:
    return calls(called("remember", text=text)), say(said)


async def test_t1_the_prompt_is_the_one_of_the_first_time_byte_for_byte(house: House) -> None:
    chat = await _chat(house)
    await house.remember("Allergic to walnuts")
    await house.say(chat, "Hello")
    told = await house.say(chat, "I have a dog", *_remembers("Has a dog", "Nice"))
    first = house.prompts[-2]
    await again(house, turn_of(told), say("A dog, really?"))
    assert "Has a dog" not in house.prompt.text
    assert house.prompt.messages == first.messages


async def test_t1_the_new_reply_stands_in_its_place_and_the_old_one_can_be_read(house: House) -> None:
    chat = await _chat(house)
    told = await house.say(chat, "I have a dog", *_remembers("Has a dog", "Nice"))
    new = await again(house, turn_of(told), *_remembers("Has a cat", "Lovely"))
    assert await house.texts() == ["Has a cat"]
    assert await house.said(chat.conversation_id) == [(Role.USER, "I have a dog"), (Role.BOT, "Lovely")]
    assert await variants(house, turn_of(told)) == [(1, 0, False, "Nice"), (1, 1, True, "Lovely")]
    assert (await read_conversation(house.kit, house.owner, chat.conversation_id)).messages == 2
    assert new.kinds == ["remembered"]
    assert len(await prompts_of_message(house.kit, house.owner, new.stored.message_id)) == 2


async def test_t1_what_the_old_reply_took_out_or_changed_is_there_again_for_the_new_one(house: House) -> None:
    chat = await _chat(house)
    await house.say(chat, "I have a dog", *_remembers("Has a dog", "Nice"))
    told = await house.say(chat, "He died", calls(called("forget", id=1)), say("I am sorry"))
    assert await house.texts() == []
    await again(house, turn_of(told), say("Oh no"))
    assert "Has a dog" in house.prompt.system + house.prompt.since
    assert await house.texts() == ["Has a dog"]


async def test_t1_what_a_query_finds_is_as_if_undone_too(house: House) -> None:
    chat = await _chat(house)
    told = await house.say(chat, "My boat is Zephyr", *_remembers("Has a boat named Zephyr", "Nice"))
    await again(house, turn_of(told), calls(called("memory_query", text="boat Zephyr")), say("I see"))
    answers = [m["content"] for m in house.prompt.messages if m["role"] == "tool"]
    assert "Has a boat" not in answers[0]


async def test_t1_what_is_pinned_and_what_a_person_did_is_never_undone(house: House) -> None:
    chat = await _chat(house)
    told = await house.say(
        chat,
        "I have a dog and a cat",
        calls(called("remember", text="Has a dog"), called("remember", text="Has a cat")),
        say("Nice"),
    )
    dog, cat = await house.memories()
    await pin_memory(house.kit, house.owner, dog.memory_id, pinned=True)
    await edit_memory(house.kit, house.owner, cat.memory_id, seen=cat.version, text="Has two cats")
    await again(house, turn_of(told), say("Well"))
    assert await house.texts() == ["Has a dog", "Has two cats"]
    assert "Has a dog" in house.prompt.system
    assert "Has two cats" in house.prompt.system


async def test_t1_a_model_that_fails_leaves_the_old_reply_and_its_writes(house: House) -> None:
    chat = await _chat(house)
    told = await house.say(chat, "I have a dog", *_remembers("Has a dog", "Nice"))
    with pytest.raises(ModelError):
        await again(house, turn_of(told), HalfStream(chunks=()))
    assert await house.texts() == ["Has a dog"]
    assert await variants(house, turn_of(told)) == [(1, 0, True, "Nice")]
    turn, _ = await read_turn(house.kit, house.owner, turn_of(told))
    assert turn.state is TurnState.WHOLE


async def test_t1_a_new_reply_that_breaks_off_is_kept_beside_the_old_one_with_its_writes_revoked(house: House) -> None:
    chat = await _chat(house, text_calls=True)
    told = await house.say(chat, "I am Renko", say('Hi remember("name", "Renko")'))
    house.model.script(Hang(after=('Hello remember("name", "Ren") and',)))
    async with aclosing(regenerate(house.kit, house.owner, AskedAgain(turn_id=turn_of(told)))) as events:
        task = asyncio.create_task(rest(events))
        await house.model.hanging.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await house.pairs() == {"name": "Renko"}
    _, messages = await read_turn(house.kit, house.owner, turn_of(told))
    assert [(m.chosen, m.state) for m in messages[1:]] == [(True, MessageState.WHOLE), (False, MessageState.CUT_OFF)]
    assert (await read_conversation(house.kit, house.owner, chat.conversation_id)).messages == 2
    await house.say(chat, "And now?")
    assert house.prompt.window == [("user", "I am Renko"), ("assistant", "Hi")]
    assert "name: Renko" in house.prompt.system + house.prompt.since


async def test_t1_a_store_that_fails_at_the_end_leaves_the_old_reply(house: House) -> None:
    chat = await _chat(house)
    told = await house.say(chat, "I have a dog", *_remembers("Has a dog", "Nice"))
    broken = house.with_store(FailingStore(house.kit.store, "turn.settled"))
    new = await again(broken, turn_of(told), *_remembers("Has a cat", "Lovely"))
    assert new.done.memory_unavailable
    assert await house.texts() == ["Has a dog"]
    assert await variants(house, turn_of(told)) == [(1, 0, True, "Nice")]


async def test_t1_a_store_that_fails_before_asks_nothing(house: House) -> None:
    chat = await _chat(house)
    told = await house.say(chat, "Hello")
    asked = len(house.prompts)
    for label in ("turn.taken_again", "turn.gathered"):
        broken = house.with_store(FailingStore(house.kit.store, label))
        with pytest.raises(StoreUnavailable):
            await again(broken, turn_of(told))
    assert len(house.prompts) == asked


async def test_t1_only_the_last_turn_is_asked_again(house: House) -> None:
    chat = await _chat(house)
    told = await house.say(chat, "Hello")
    await house.say(chat, "And again")
    with pytest.raises(NotLastTurn):
        await again(house, turn_of(told))


async def test_t1_a_turn_or_a_part_that_is_not_there(house: House) -> None:
    told = await house.say(await _chat(house), "Hello")
    with pytest.raises(NotFound):
        await again(house, TurnId("trn_nobody"))
    with pytest.raises(NotFound):
        await again(house, turn_of(told), part=2)


async def test_t6_an_open_turn_is_answered(house: House) -> None:
    chat = await _chat(house)
    with pytest.raises(ModelError):
        await house.say(chat, "Hello", HalfStream(chunks=()))
    (turn,) = await house.read(lambda unit: unit.turns.after(chat.conversation_id, -1))
    assert turn.state is TurnState.OPEN
    await again(house, turn.turn_id, say("Here I am"))
    assert await house.said(chat.conversation_id) == [(Role.USER, "Hello"), (Role.BOT, "Here I am")]


async def test_t1_two_at_once_come_one_after_the_other(house: House) -> None:
    chat = await _chat(house)
    told = await house.say(chat, "I have a dog", *_remembers("Has a dog", "Nice"))
    house.model.script(*_remembers("Has a cat", "Second"), *_remembers("Has a fish", "Third"))  # type: ignore[arg-type]
    asked = AskedAgain(turn_id=turn_of(told))

    async def once() -> None:
        async with aclosing(regenerate(house.kit, house.owner, asked)) as events:
            assert isinstance((await rest(events))[-1], Done)

    await asyncio.gather(once(), once())
    assert await house.texts() == ["Has a fish"]
    assert [text for *_, text in await variants(house, turn_of(told))] == ["Nice", "Second", "Third"]


async def test_t1_of_two_processes_at_once_the_later_attempt_is_stored_and_the_other_is_told(house: House) -> None:
    chat = await _chat(house)
    told = await house.say(chat, "I have a dog", *_remembers("Has a dog", "Nice"))
    asked = AskedAgain(turn_id=turn_of(told))
    house.model.script(*_remembers("Has a cat", "Second"))  # type: ignore[arg-type]
    other = house.with_model(ScriptedModel())
    async with aclosing(regenerate(house.kit, house.owner, asked)) as events:
        await anext(events)
        await again(other, turn_of(told), *_remembers("Has a fish", "Third"))
        with pytest.raises(TurnSuperseded):
            await rest(events)
    assert await house.texts() == ["Has a fish"]
    assert [text for *_, text in await variants(house, turn_of(told))] == ["Nice", "Third"]


async def test_t1_a_conversation_that_goes_on_meanwhile_keeps_its_reply(house: House) -> None:
    chat = await _chat(house)
    told = await house.say(chat, "Hello", say("Hi"))
    house.model.script(Text(chunks=("Hello there",)))
    other = house.with_model(ScriptedModel())
    async with aclosing(regenerate(house.kit, house.owner, AskedAgain(turn_id=turn_of(told)))) as events:
        await anext(events)
        await other.say(chat, "Are you there?", say("Yes"))
        with pytest.raises(NotLastTurn):
            await rest(events)
    assert [text for _, text in await house.said(chat.conversation_id)] == ["Hello", "Hi", "Are you there?", "Yes"]


async def test_t1_a_memory_that_a_person_erased_meanwhile_stays_erased(house: House) -> None:
    chat = await _chat(house)
    told = await house.say(chat, "I have a dog", *_remembers("Has a dog", "Nice"))
    (dog,) = await house.memories()
    await erase_memories(house.kit, house.owner, (dog.memory_id,))
    await again(house, turn_of(told), say("Well"))
    assert "Has a dog" not in house.prompt.text
    found = await house.read(lambda unit: unit.memories.get(dog.memory_id))
    assert found.state is MemoryState.ERASING


async def test_t1_a_client_that_resends_its_history_goes_on_behind_the_new_reply(house: House) -> None:
    bot = await house.bot()
    told = await house.turn(client(bot), "Hello")
    await again(house, turn_of(told), say("Good day"))
    history = [(Role.USER, "Hello"), (Role.BOT, "Good day")]
    more = await house.turn(client(bot, history=history), "How are you?")
    assert more.conversation_id == told.conversation_id
    assert house.prompt.window == [("user", "Hello"), ("assistant", "Good day")]


async def test_t1_a_later_prompt_shows_what_the_new_reply_wrote_and_nothing_of_the_old_one(house: House) -> None:
    chat = await _chat(house)
    told = await house.say(chat, "I have a dog", *_remembers("Has a dog", "Nice"))
    await again(house, turn_of(told), *_remembers("Has a cat", "Lovely"))
    request = TurnRequest(address=InConversation(conversation_id=chat.conversation_id), text="What do I have?")
    async with aclosing(chat_turn(house.kit, house.owner, request)) as events:
        await rest(events)
    assert "Has a cat" in house.prompt.text
    assert "Has a dog" not in house.prompt.system + house.prompt.since


async def test_t1_in_a_group_one_reply_is_asked_again_by_its_own_speaker_and_the_others_stay(house: House) -> None:
    ada, mira = await house.bot("Ada"), await house.bot("Mira")
    chat = await house.chat(ada, others=(mira.bot_id,))
    script = (*_remembers("Has a dog", "Hi from Ada"), *_remembers("Has a cat", "Hi from Mira"))
    told = await house.say(chat, "Hello", *script, speakers=(ada.bot_id, mira.bot_id))
    await again(house, turn_of(told), say("Ada again"), part=1)
    assert "Hi from" not in house.prompt.text
    assert await house.texts() == ["Has a cat"]
    await again(house, turn_of(told), say("Mira again"))
    assert "Ada: Ada again" in [m["content"] for m in house.prompt.messages]
    assert await house.texts() == []
    assert [(part, chosen, text) for part, _, chosen, text in await variants(house, turn_of(told))] == [
        (1, False, "Hi from Ada"),
        (1, True, "Ada again"),
        (2, False, "Hi from Mira"),
        (2, True, "Mira again"),
    ]
    assert (await read_conversation(house.kit, house.owner, chat.conversation_id)).messages == 3


async def test_m1_what_another_chat_wrote_while_the_reply_was_asked_again_is_in_the_next_prompt(house: House) -> None:
    """What is taken back in a rehearsal moves the owner's place there only: the new block must not begin after it."""
    bot = await house.bot()
    chat, other = await house.chat(bot), await house.chat(bot)
    both = calls(called("remember", text="Has a dog"), called("remember", text="Has a cat"))
    told = await house.say(chat, "I have a dog and a cat", both, say("Nice"))
    elsewhere = house.with_model(ScriptedModel())
    task = asyncio.create_task(again(house, turn_of(told), Hang(after=("Well",))))
    await house.model.hanging.wait()
    await elsewhere.say(other, "And an owl", *_remembers("Has an owl", "Ok"))
    house.model.released.set()
    await task
    await house.say(chat, "Go on")
    assert "Has an owl" in house.prompt.system + house.prompt.since
    assert "Has a dog" not in house.prompt.text
