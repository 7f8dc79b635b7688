"""T3: choosing another variant of a reply."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from souvenance.app.choose_variant import choose_variant
from souvenance.app.conversations import read_conversation
from souvenance.app.edit_memory import edit_memory
from souvenance.app.regenerate import regenerate
from souvenance.app.reopen_turn import AskedAgain
from souvenance.domain.conversation import Conversation, Role
from souvenance.domain.ids import TurnId
from souvenance.errors import ConversationBusy, NotFound, TurnSuperseded
from souvenance.testing import Hang, ScriptedModel, say
from tests.flows.app.house import House, Told, called, calls, client
from tests.flows.app.test_regenerate import again, rest, turn_of, variants


async def _dog_then_cat(house: House) -> tuple[Conversation, Told]:
    """A turn with two variants, of which the second, chosen, remembers a cat and the first a dog."""
    chat = await house.chat(await house.bot())
    told = await house.say(chat, "I have one", calls(called("remember", text="Has a dog")), say("Dog"))
    await again(house, turn_of(told), calls(called("remember", text="Has a cat")), say("Cat"))
    return chat, told


async def _choose(house: House, turn_id: TurnId, variant: int, *, part: int = 1) -> str:
    return (await choose_variant(house.kit, house.owner, turn_id, part=part, variant=variant)).text


async def test_t3_the_writes_of_the_one_left_go_and_those_of_the_one_chosen_come_back(house: House) -> None:
    chat, told = await _dog_then_cat(house)
    assert await _choose(house, turn_of(told), 0) == "Dog"
    assert await house.texts() == ["Has a dog"]
    assert await variants(house, turn_of(told)) == [(1, 0, True, "Dog"), (1, 1, False, "Cat")]
    await house.say(chat, "What do I have?")
    assert house.prompt.window[-1] == ("assistant", "Dog")
    assert "Has a dog" in house.prompt.system
    assert "Has a cat" not in house.prompt.text
    assert (await read_conversation(house.kit, house.owner, chat.conversation_id)).messages == 4


async def test_t3_there_and_back_leaves_all_as_it_was(house: House) -> None:
    _, told = await _dog_then_cat(house)
    before = await house.memories()
    await _choose(house, turn_of(told), 0)
    await _choose(house, turn_of(told), 1)
    after = await house.memories()
    assert [(m.memory_id, m.text, m.updated_at) for m in after] == [(m.memory_id, m.text, m.updated_at) for m in before]


async def test_t3_what_a_person_said_of_either_stays(house: House) -> None:
    _, told = await _dog_then_cat(house)
    (cat,) = await house.memories()
    await edit_memory(house.kit, house.owner, cat.memory_id, seen=cat.version, text="Has two cats")
    await _choose(house, turn_of(told), 0)
    assert sorted(await house.texts()) == ["Has a dog", "Has two cats"]


async def test_t3_the_one_that_is_chosen_already_changes_nothing(house: House) -> None:
    chat, told = await _dog_then_cat(house)
    before = await read_conversation(house.kit, house.owner, chat.conversation_id)
    assert await _choose(house, turn_of(told), 1) == "Cat"
    assert await read_conversation(house.kit, house.owner, chat.conversation_id) == before


async def test_t3_an_earlier_turn_may_change_and_its_client_is_recognised_by_what_it_shows_now(
    house: House,
) -> None:
    bot = await house.bot()
    told = await house.turn(client(bot), "Hello")
    await again(house, turn_of(told), say("Good day"))
    shown = [(Role.USER, "Hello"), (Role.BOT, "Good day")]
    await house.turn(client(bot, history=shown), "How are you?")
    await _choose(house, turn_of(told), 0)
    now = [(Role.USER, "Hello"), (Role.BOT, "You said: Hello")]
    now += [(Role.USER, "How are you?"), (Role.BOT, "You said: How are you?")]
    more = await house.turn(client(bot, history=now), "Good")
    assert more.conversation_id == told.conversation_id
    assert house.prompt.window[1] == ("assistant", "You said: Hello")


async def test_t3_a_variant_that_is_not_there_or_a_user_message(house: House) -> None:
    _, told = await _dog_then_cat(house)
    for part, variant in ((1, 2), (2, 0), (0, 0)):
        with pytest.raises(NotFound):
            await _choose(house, turn_of(told), variant, part=part)
    with pytest.raises(NotFound):
        await _choose(house, TurnId("trn_nobody"), 0)
    assert await house.texts() == ["Has a cat"]


async def test_t3_nothing_is_chosen_while_a_reply_is_written(house: House) -> None:
    _, told = await _dog_then_cat(house)
    house.model.script(Hang(after=("Once",)))
    async with aclosing(regenerate(house.kit, house.owner, AskedAgain(turn_id=turn_of(told)))) as events:
        task = asyncio.create_task(rest(events))
        await house.model.hanging.wait()
        with pytest.raises(ConversationBusy):
            await _choose(house, turn_of(told), 0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await _choose(house, turn_of(told), 2) == "Once"
    assert await house.texts() == []


async def test_t3_a_reply_that_another_process_writes_meanwhile_is_fenced_off(house: House) -> None:
    _, told = await _dog_then_cat(house)
    other = house.with_model(ScriptedModel(say("Third")))
    async with aclosing(regenerate(other.kit, house.owner, AskedAgain(turn_id=turn_of(told)))) as events:
        await anext(events)
        await _choose(house, turn_of(told), 0)
        with pytest.raises(TurnSuperseded):
            await rest(events)
    assert await variants(house, turn_of(told)) == [(1, 0, True, "Dog"), (1, 1, False, "Cat")]
