"""V8: what is summarised for the first time is read again for lasting details, and can be undone with its messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from souvenance.app.bots import change_bot
from souvenance.app.fork import fork
from souvenance.app.pin_memory import pin_memory
from souvenance.app.rewind import rewind
from souvenance.domain.bot import Preset
from souvenance.domain.conversation import Channel, Conversation, Flags
from souvenance.domain.memory import Origin, Scope
from souvenance.ports.chat_model import ChatRequest
from souvenance.testing import ScriptedModel, say
from souvenance.testing.script import Reply
from tests.flows.app.house import House
from tests.flows.app.summarising import answers, now, summarising, talk, work

ONE_DATABASE = True

Change = dict[str, list[dict[str, Any]]]
NOTHING: Change = {"add": [], "update": [], "forget": []}


def found(text: str, *lines: int) -> Change:
    return NOTHING | {"add": [{"text": text, "subject": "", "lines": list(lines)}]}


def reading(house: House, finds: Callable[[dict[str, Any]], Change]) -> House:
    """A house whose model finds this when it reads a batch again."""

    def respond(request: ChatRequest) -> Reply:
        said = str(request.messages[-1]["content"])
        if said.startswith('{"memories"'):
            return say(json.dumps(finds(json.loads(said))))
        return answers(request)

    return summarising(house).with_model(ScriptedModel(respond=respond))


def readings(house: House) -> list[dict[str, Any]]:
    """What the model was shown each time."""
    said = [str(request.messages[-1]["content"]) for request in house.model.requests]
    return [json.loads(one) for one in said if one.startswith('{"memories"')]


async def compacted(house: House, **more: Any) -> Conversation:
    chat = await house.chat(await house.bot(), **more)
    await talk(house, chat, 21)
    return chat


async def test_v8_a_detail_is_stored_with_its_sources_and_what_it_is(house: House) -> None:
    house = reading(house, lambda shown: found("Plays the oboe.", 1, 3))
    chat = await compacted(house)
    (memory,) = await house.memories()
    assert (memory.text, memory.origin, memory.confidence) == ("Plays the oboe.", Origin.DEEPER, 0.9)
    assert chat.bot_id is not None
    assert memory.scope == Scope.of_bot(chat.bot_id)
    assert len(await house.read(lambda unit: unit.memories.evidence([memory.memory_id])[memory.memory_id])) == 2
    assert len(readings(house)) == 1
    assert len(readings(house)[0]["messages"]) == 10


async def test_t2_it_goes_only_with_the_last_message_that_it_was_drawn_from(house: House) -> None:
    house = reading(house, lambda shown: found("Plays the oboe.", 1, 9))
    chat = await compacted(house)
    turns = await house.read(lambda unit: unit.turns.after(chat.conversation_id, -1))
    await rewind(house.kit, house.owner, chat.conversation_id, after=turns[2].turn_id)
    assert await house.texts() == ["Plays the oboe."]
    await rewind(house.kit, house.owner, chat.conversation_id)
    assert await house.texts() == []


async def test_v8_a_pinned_memory_has_no_number_and_another_one_can_be_updated(house: House) -> None:
    house = reading(house, lambda shown: NOTHING | {"update": [{"number": 1, "text": "Lives in Ghent.", "lines": [2]}]})
    bot = await house.bot()
    pinned = await house.remember("Is called Ada.", Scope.of_bot(bot.bot_id))
    await pin_memory(house.kit, house.owner, pinned.memory_id, pinned=True)
    await house.remember("Lives in Bruges.", Scope.of_bot(bot.bot_id))
    await talk(house, await house.chat(bot), 21)
    assert {"text": "Is called Ada."} in readings(house)[0]["memories"]
    assert sorted(await house.texts()) == ["Is called Ada.", "Lives in Ghent."]


async def test_v8_fewer_than_six_messages_join_the_next_reading(house: House) -> None:
    house = reading(house, lambda shown: NOTHING).with_limits(balanced_messages=20, batch_messages=4)
    chat = await house.chat(await house.bot())
    await talk(house, chat, 9)
    assert (await now(house, chat)).summarised_to >= 0
    assert readings(house) == []
    await talk(house, chat, 2)
    assert [len(shown["messages"]) for shown in readings(house)] == [8]


async def test_v8_a_fork_is_not_read_again_nor_is_a_challenge_or_telegram(house: House) -> None:
    house = reading(house, lambda shown: NOTHING)
    chat = await compacted(house)
    last = await house.read(lambda unit: unit.messages.from_position(chat.conversation_id, 20))
    await fork(house.kit, house.owner, last[0].message_id)
    await work(house)
    assert len(readings(house)) == 1
    bot = await house.bot("Noa", Preset.COMPANION)
    for more in ({"flags": Flags(challenge=True)}, {"channel": Channel.TELEGRAM}):
        other = await house.chat(bot, **more)
        await talk(house, other, 21)
        assert (await now(house, other)).deepened_to == (await now(house, other)).summarised_to
    assert len(readings(house)) == 1


async def test_v8_a_fork_is_not_read_again_when_its_bot_learns_again(house: House) -> None:
    house = reading(house, lambda shown: NOTHING)
    chat = await compacted(house)
    last = await house.read(lambda unit: unit.messages.from_position(chat.conversation_id, 20))
    branch = await fork(house.kit, house.owner, last[-1].message_id)
    assert branch.bot_id is not None
    await change_bot(house.kit, house.owner, branch.bot_id, changes={"settings": {"learn": False}})
    await talk(house, branch, 5)
    assert (await now(house, branch)).deepened_to == 20
    await change_bot(house.kit, house.owner, branch.bot_id, changes={"settings": {"learn": True}})
    await talk(house, branch, 10)
    assert len(readings(house)) == 1


async def test_v8_in_a_group_every_line_has_its_speakers_name(house: House) -> None:
    house = reading(house, lambda shown: NOTHING).with_limits(balanced_messages=15, batch_messages=6)
    ada, bo = await house.bot("Ada"), await house.bot("Bo")
    chat = await house.chat(ada, others=(bo.bot_id,))
    for number in range(5):
        await house.say(chat, f"Message {number}.", speakers=(ada.bot_id, bo.bot_id))
    await work(house)
    assert [line["from"] for line in readings(house)[0]["messages"]][:3] == ["user", "Ada", "Bo"]
