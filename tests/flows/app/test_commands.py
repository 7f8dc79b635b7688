"""V3: what a person writes in place of a message is answered at once, without a model, outside the conversation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from souvenance.app.bots import change_bot
from souvenance.app.browse import list_conversations, read_memory
from souvenance.app.chat_turn import chat_turn
from souvenance.app.conversations import NewConversation
from souvenance.app.remember import NewMemory, remember_many
from souvenance.app.turn import InConversation, NewChat, TurnRequest
from souvenance.domain.bot import Preset
from souvenance.domain.conversation import Flags
from souvenance.domain.memory import ACCOUNT_SCOPE, Origin, Scope
from souvenance.errors import BadValue, MemoryIsOff
from souvenance.ports.store import Unit
from souvenance.testing import ScriptedModel, say
from tests.flows.app.house import House

ONE_DATABASE = True


async def test_v3_a_command_is_answered_without_a_model_and_is_no_part_of_the_conversation(house: House) -> None:
    chat = await house.chat(await house.bot())
    told = await house.say(chat, "/remember likes tea")
    assert house.prompts == []
    assert told.text == "Remembered: likes tea"
    assert told.kinds == ["command"]
    assert (told.done.finish, told.done.turn, told.done.message) == ("command", None, None)
    assert await house.said(chat.conversation_id) == []
    await house.say(chat, "Hello", say("Hi"))
    assert house.prompt.window == []
    assert "likes tea" in house.prompt.system


async def test_v3_a_command_counts_as_a_persons(house: House) -> None:
    bot = await house.bot()
    await house.say(await house.chat(bot), "/remember likes tea")
    (memory,) = await house.memories()
    assert (memory.scope, memory.origin, memory.confidence) == (Scope.of_bot(bot.bot_id), Origin.MANUAL, 1.0)


async def test_v3_an_assistants_command_writes_to_the_account(house: House) -> None:
    await house.say(await house.chat(await house.bot(preset=Preset.ASSISTANT)), "/remember likes tea")
    assert [memory.scope for memory in await house.memories()] == [ACCOUNT_SCOPE]


async def test_v3_remembering_the_same_again_says_so(house: House) -> None:
    chat = await house.chat(await house.bot())
    await house.say(chat, "/remember likes tea")
    house.clock.advance(seconds=1)
    told = await house.say(chat, "/remember Likes tea.")
    assert told.text == "Already remembered, now confirmed: likes tea"
    assert len(await house.memories()) == 1


async def test_v3_a_command_sent_again_with_its_key_adds_no_second_source(house: House) -> None:
    chat = await house.chat(await house.bot())
    address = InConversation(conversation_id=chat.conversation_id)
    for seconds, key in enumerate(["first", "first", "other"]):
        house.clock.advance(seconds=seconds)
        request = TurnRequest(address=address, text="/remember likes tea", request_key=key)
        answers = [event async for event in chat_turn(house.kit, house.owner, request)]
        assert "likes tea" in str(answers[0])
    (memory,) = await house.memories()
    assert len((await read_memory(house.kit, house.owner, memory.memory_id)).evidence) == 2


async def test_v3_in_a_notebook_a_key_gets_its_value(house: House) -> None:
    chat = await house.chat(await house.bot(preset=Preset.NOTEBOOK))
    said = [(await house.say(chat, f"/remember name{what}")).text for what in (" = Alice", "=Renko", " = Renko")]
    assert said == [
        "Remembered: name: Alice",
        "Updated: name: Renko",
        "Already remembered, now confirmed: name: Renko",
    ]
    assert await house.pairs() == {"name": "Renko"}


async def test_v3_in_a_notebook_a_fact_without_a_key_is_refused_with_the_form(house: House) -> None:
    chat = await house.chat(await house.bot(preset=Preset.NOTEBOOK))
    told = await house.say(chat, "/remember likes tea")
    assert "/remember key = value" in told.text
    assert await house.memories() == []


@pytest.mark.parametrize("preset", [Preset.NOTEBOOK, Preset.COMPANION])
async def test_v3_a_message_of_calls_only_is_a_command(house: House, preset: Preset) -> None:
    chat = await house.chat(await house.bot(preset=preset))
    await house.say(chat, 'bcz_remember("name", "Alice")\nbcz_remember("name", "Renko")')
    assert house.prompts == []
    assert await house.pairs() == {"name": "Renko"}


@pytest.mark.parametrize(
    "text", ["/rememberx likes tea", "please /remember this", 'remember("a", "b") is how', "remember (me)"]
)
async def test_v3_what_only_looks_like_a_command_is_a_message(house: House, text: str) -> None:
    chat = await house.chat(await house.bot())
    await house.say(chat, text)
    assert house.prompt.newest == text


@pytest.mark.parametrize("target", ["{id}", "name", "odalric"])
async def test_v3_forget_by_id_key_or_words_removes_the_one_that_fits(house: House, target: str) -> None:
    bot = await house.bot(preset=Preset.NOTEBOOK)
    scope = Scope.of_bot(bot.bot_id)
    memory = await house.remember("Odalric", scope, key="name")
    await house.remember("nine", scope, key="age")
    told = await house.say(await house.chat(bot), f"/forget {target.format(id=memory.memory_id)}")
    assert told.text.startswith("Forgotten: name: Odalric")
    assert await house.texts() == ["nine"]


async def test_v3_forget_with_several_matches_lists_them_and_removes_nothing(house: House) -> None:
    await house.remember("the red lighthouse")
    await house.remember("the blue lighthouse")
    await house.remember("likes tea")
    told = await house.say(await house.chat(await house.bot()), "/forget lighthouse")
    assert "the red lighthouse" in told.text
    assert "the blue lighthouse" in told.text
    assert "likes tea" not in told.text
    assert len(await house.memories()) == 3


async def test_m10_forget_lists_all_whom_its_very_words_are_about(house: House) -> None:
    for subject in ("", "Ann", "Bob"):
        await house.remember("likes tea", subject=subject)
    told = await house.say(await house.chat(await house.bot()), "/forget Likes tea.")
    assert "Several memories fit." in told.text
    assert [about for about in ("about Ann: ", "about Bob: ") if about in told.text] == ["about Ann: ", "about Bob: "]
    assert len(await house.memories()) == 3


async def test_v3_forget_sent_again_takes_nothing_else(house: House) -> None:
    await house.remember("I play golf")
    await house.remember("My son says I play golf badly")
    chat = await house.chat(await house.bot())
    assert "Forgotten: I play golf" in (await house.say(chat, "/forget I play golf")).text
    assert "forgotten already" in (await house.say(chat, "/forget I play golf")).text
    assert await house.texts() == ["My son says I play golf badly"]


async def test_v3_forget_does_not_reach_another_bots_memories(house: House) -> None:
    other = await house.bot("Ottilie")
    memory = await house.remember("a secret of Ottilie", Scope.of_bot(other.bot_id))
    chat = await house.chat(await house.bot())
    for target in (memory.memory_id, "secret", "a secret of Ottilie"):
        told = await house.say(chat, f"/forget {target}")
        assert "Nothing was removed" in told.text
    assert await house.memories() == [memory]


async def test_v3_memories_lists_what_is_remembered(house: House) -> None:
    bot = await house.bot()
    chat = await house.chat(bot)
    assert (await house.say(chat, "/memories")).text == "Nothing is remembered here yet."
    await house.remember("likes tea", Scope.of_bot(bot.bot_id), pinned=True)
    assert (await house.say(chat, "/memories")).text == "- likes tea (pinned)"


async def test_v3_memories_says_how_many_more_there_are_and_where(house: House) -> None:
    chat = await house.chat(await house.bot())
    shown = house.kit.limits.page_items
    await remember_many(
        house.kit, house.owner, [NewMemory(text=f"fact {n}", scope=ACCOUNT_SCOPE) for n in range(shown + 3)]
    )
    *listed, last = (await house.say(chat, "/memories")).text.splitlines()
    assert len(listed) == shown
    assert last == "… and 3 more: `souvenance memories list` and GET /api/v1/memories have them all."


async def test_v3_commands_need_no_model_at_all(house: House) -> None:
    bare = house.with_model(ScriptedModel(models=()))
    chat = await bare.chat(await bare.bot())
    assert (await bare.say(chat, "/remember likes tea")).text == "Remembered: likes tea"


async def test_v3_a_command_opens_no_conversation(house: House) -> None:
    bot = await house.bot()
    await house.turn(NewChat(conversation=NewConversation(bot_id=bot.bot_id)), "/remember likes tea")
    assert (await list_conversations(house.kit, house.owner)).items == ()
    assert await house.texts() == ["likes tea"]


async def test_v3_a_text_past_the_limit_is_answered_with_both_figures(house: House) -> None:
    told = await house.say(await house.chat(await house.bot()), "/remember " + "x" * 501)
    assert "501" in told.text
    assert "500" in told.text
    assert await house.memories() == []


async def test_o1_a_command_works_with_learning_off_and_says_so(house: House) -> None:
    bot = await house.bot()
    chat = await house.chat(bot)
    await change_bot(house.kit, house.owner, bot.bot_id, changes={"settings": {"learn": False}})
    told = await house.say(chat, "/remember likes tea")
    assert told.text == "Remembered: likes tea\n(learning from this bot's chats is turned off)"
    assert await house.texts() == ["likes tea"]


@pytest.mark.parametrize("command", ["/remember likes tea", "/forget tea", "/memories"])
async def test_o3_a_challenge_conversation_refuses_commands(house: House, command: str) -> None:
    await house.remember("drinks tea")
    chat = await house.chat(await house.bot(), flags=Flags(challenge=True))
    with pytest.raises(MemoryIsOff, match="challenge"):
        await house.say(chat, command)
    assert await house.texts() == ["drinks tea"]


async def test_o3_a_challenge_conversation_reads_and_writes_nothing(house: House) -> None:
    await house.remember("drinks tea")
    chat = await house.chat(await house.bot(settings={"text_calls": True}), flags=Flags(challenge=True))
    await house.say(chat, "Hello", say('Hi remember("a", "b")'))
    assert house.prompt.tools == []
    assert "drinks tea" not in house.prompt.text
    assert await house.texts() == ["drinks tea"]


@pytest.mark.parametrize("flag", ["temporary", "anonymous", "gateway"])
async def test_o4_o5_commands_are_refused_where_nothing_is_stored_and_through_a_gateway(
    house: House, flag: str
) -> None:
    await house.remember("drinks tea")
    chat = await house.chat(await house.bot())

    def become(unit: Unit) -> None:
        stored = unit.conversations.lock(chat.conversation_id)
        unit.conversations.save(replace(stored, flags=Flags(**{flag: True}), version=stored.version + 1))

    await house.kit.store.write(house.owner, become, label="test.written")
    for command in ("/remember likes rum", "/forget tea", 'bcz_remember("a", "b")'):
        with pytest.raises(MemoryIsOff):
            await house.say(chat, command)
    assert await house.texts() == ["drinks tea"]


@pytest.mark.parametrize("command", ["/remember name = {}", 'bcz_remember("name", "{}")'])
async def test_v3_a_value_past_the_limit_is_answered_with_both_figures(house: House, command: str) -> None:
    chat = await house.chat(await house.bot(preset=Preset.NOTEBOOK))
    told = await house.say(chat, command.format("x" * 10_001))
    assert "value has 10001 characters; the limit is 10000" in told.text
    assert told.done.finish == "command"
    assert (house.prompts, await house.memories()) == ([], [])


@pytest.mark.parametrize("command", ["/remember name = Odalric", 'bcz_remember("name", "Odalric")'])
async def test_v3_m5_a_person_may_change_a_pinned_key_and_it_stays_pinned(house: House, command: str) -> None:
    bot = await house.bot(preset=Preset.NOTEBOOK)
    await house.remember("Renko", Scope.of_bot(bot.bot_id), key="name", pinned=True)
    assert (await house.say(await house.chat(bot), command)).text == "Updated: name: Odalric"
    (memory,) = await house.memories()
    assert (memory.text, memory.pinned) == ("Odalric", True)


async def test_v3_of_many_matches_ten_are_listed_and_nothing_is_removed(house: House) -> None:
    for number in range(12):
        await house.remember(f"lighthouse number {number}")
    told = await house.say(await house.chat(await house.bot()), "/forget lighthouse")
    assert told.text.count("lighthouse number") == 10
    assert told.text.endswith("… and 2 more")
    assert len(await house.memories()) == 12


async def test_v3_memories_lists_the_account_beside_the_bot_but_not_for_a_notebook(house: House) -> None:
    bot, notebook = await house.bot(), await house.bot("Notes", preset=Preset.NOTEBOOK)
    await house.remember("lives in Graz")
    await house.remember("likes tea", Scope.of_bot(bot.bot_id))
    await house.remember("Renko", Scope.of_bot(notebook.bot_id), key="name")
    assert (await house.say(await house.chat(bot), "/memories")).text == "- likes tea\n- lives in Graz"
    assert (await house.say(await house.chat(notebook), "/memories")).text == "- name: Renko"


async def test_t7_a_command_stands_in_for_no_turn(house: House) -> None:
    chat = await house.chat(await house.bot())
    told = await house.say(chat, "Hello")
    assert told.opened.turn is not None
    with pytest.raises(BadValue, match="replaces"):
        await house.say(chat, "/remember I like tea", replaces=told.opened.turn.turn_id)
    assert await house.texts() == []
    assert len(await house.said(chat.conversation_id)) == 2
