"""S1–S4, W4, W6: the oldest turns become nodes, nodes become fewer, and nothing is in neither layer."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import pairwise

import pytest

from souvenance.app.change_level import change_level
from souvenance.app.change_rules import add_rule
from souvenance.app.compact import compact
from souvenance.app.due_work import Work
from souvenance.app.rewind import rewind
from souvenance.domain.bot import Preset
from souvenance.domain.conversation import Conversation
from souvenance.domain.due import Due
from souvenance.domain.limits import Level
from souvenance.domain.memory import Scope
from souvenance.domain.summary import Tier
from souvenance.errors import ModelUnreachable, UnusableSummary
from souvenance.ports.chat_model import ChatRequest
from souvenance.testing import ScriptedModel, say
from souvenance.testing.script import Hang, Reply
from tests.flows.app.house import House
from tests.flows.app.summarising import STEPS, answers, claim, live, now, rules, summarising, talk, work

ONE_DATABASE = True


async def test_s1_the_oldest_batch_becomes_a_recent_node_once_little_room_is_left(house: House) -> None:
    house = summarising(house)
    chat = await house.chat(await house.bot())
    await talk(house, chat, 20)
    assert await live(house, chat) == []
    await talk(house, chat, 1)
    (node,) = await live(house, chat)
    assert (node.tier, node.first, node.last, node.model) == (Tier.RECENT, 0, 4, "scripted")
    assert [item.text for item in node.items][:2] == ["Message 0.", "Reply to: Message 0."]
    assert (await now(house, chat)).summarised_to == 4


async def test_s13_every_live_node_is_sent_oldest_first_before_the_window(house: House) -> None:
    house = summarising(house)
    chat = await house.chat(await house.bot(system_prompt="You are Mira."))
    await talk(house, chat, 26)
    nodes = await live(house, chat)
    assert len(nodes) == 2
    await house.say(chat, "And now?")
    system = house.prompt.system
    assert system.startswith("You are Mira.")
    assert system.index("Message 0.") < system.index("Message 5.")
    assert house.prompt.window[0][1].startswith("Message 10.")
    assert (await now(house, chat)).waiting == 0


async def test_c6_a_compaction_leaves_what_was_rolled_up_and_the_memories_where_they_were(house: House) -> None:
    house = summarising(house).with_limits(balanced_messages=20)
    bot = await house.bot(system_prompt="You are Mira.")
    for fact in ("Keeps bees", "Sings alto"):
        await house.remember(fact)
    chat = await house.chat(bot)
    await talk(house, chat, 17)
    before = await _system(house, chat)
    assert before.index("<merged>") < before.index("</summary>") < before.index("<memories>") < before.index("<recent>")
    await house.remember("Fears geese")
    await talk(house, chat, 2)
    after = await _system(house, chat)
    assert after.startswith(before[: before.index("</memories>")])
    assert after.index("Sings alto") < after.index("Fears geese") < after.index("<recent>")
    assert after.count("<recent>") > before.count("<recent>")


async def _system(house: House, chat: Conversation) -> str:
    await house.say(chat, "And now?")
    return house.prompt.system


async def test_s2_four_recent_nodes_become_one_merged_and_four_of_these_the_long_term_one(house: House) -> None:
    house = summarising(house).with_limits(balanced_messages=10, batch_messages=2)
    chat = await house.chat(await house.bot())
    await talk(house, chat, 24)
    nodes = await live(house, chat)
    assert nodes[0].tier is Tier.LONG_TERM
    assert all(earlier.last + 1 == later.first for earlier, later in pairwise(nodes))
    assert nodes[0].first == 0
    assert nodes[-1].last == (await now(house, chat)).summarised_to
    await house.say(chat, "And now?")
    assert int(house.prompt.window[0][1].split()[1].strip(".")) == nodes[-1].last + 1


async def test_s4_a_rule_is_kept_word_for_word_once_through_every_roll_up(house: House) -> None:
    house = summarising(house).with_limits(balanced_messages=10, batch_messages=2)
    chat = await house.chat(await house.bot())
    await house.say(chat, "From now on, always answer in one sentence.  It suits me.")
    await talk(house, chat, 24)
    (rule,) = await rules(house, chat)
    assert rule.text == "From now on, always answer in one sentence."
    await house.say(chat, "And now?")
    assert "<rules>\n- From now on, always answer in one sentence.\n</rules>" in house.prompt.system


async def test_s11_without_a_model_the_summary_is_extracted_and_says_so(house: House) -> None:
    house = summarising(house).with_model(ScriptedModel(models=()))
    chat = await house.chat(await house.bot())
    await talk(house, chat, 21, words="My sister Anna lives in Lyon.")
    (node,) = await live(house, chat)
    assert node.is_extracted
    assert any("Lyon" in item.text for item in node.items)


async def test_s11_a_model_that_is_away_for_a_moment_is_waited_for(house: House) -> None:
    house = summarising(house)
    chat = await house.chat(await house.bot())
    await talk(house, chat, 21, worked=False)
    away = house.with_model(ScriptedModel(models=()))
    with pytest.raises(ModelUnreachable):
        await work(away)
    assert await live(house, chat) == []


async def test_w5_a_batch_that_a_rewind_made_the_newest_turns_is_not_kept(house: House) -> None:
    house = summarising(house)
    chat = await house.chat(await house.bot())
    await talk(house, chat, 21, worked=False)
    due = await claim(house)
    assert due is not None
    house.model.script(Hang())
    summing_up = asyncio.create_task(compact(house.kit, due))
    await house.model.hanging.wait()
    said = await house.read(lambda unit: unit.messages.oldest(chat.conversation_id, 0, limit=10))
    await rewind(house.kit, house.owner, chat.conversation_id, after=said[-1].turn_id)
    house.model.released.set()
    assert (await summing_up).reason == "what was said changed meanwhile"
    assert await live(house, chat) == []
    assert (await now(house, chat)).summarised_to == -1


async def test_w3_w4_what_waits_is_summarised_though_a_larger_level_has_room_for_it(house: House) -> None:
    house = summarising(house)
    chat = await house.chat(await house.bot())
    await change_level(house.kit, house.owner, chat.conversation_id, Level.KEY_EVENTS)
    await talk(house, chat, 29, worked=False)
    before = await now(house, chat)
    assert before.waiting
    await change_level(house.kit, house.owner, chat.conversation_id, Level.DETAILED)
    await work(house)
    after = await now(house, chat)
    assert (after.waiting, after.window_start) == (0, before.window_start)
    assert after.summarised_to >= before.window_start - 1


async def test_s6_a_rule_that_a_person_added_is_sent_before_anything_is_summarised(house: House) -> None:
    chat = await house.chat(await house.bot(system_prompt="You are Mira."))
    await add_rule(house.kit, house.owner, chat.conversation_id, "Answer in verse.")
    await house.say(chat, "Hello.")
    assert "<rules>\n- Answer in verse.\n</rules>" in house.prompt.system
    assert "<summary>" not in house.prompt.system


async def test_k2_a_notebooks_block_ends_the_system_prompt_behind_the_summary(house: House) -> None:
    house = summarising(house).with_limits(balanced_messages=10, batch_messages=2)
    bot = await house.bot(preset=Preset.NOTEBOOK)
    await house.remember("Alice", Scope.of_bot(bot.bot_id), key="user_name")
    chat = await house.chat(bot)
    await talk(house, chat, 6)
    await house.say(chat, "And now?")
    assert "</latest>" in house.prompt.system
    assert house.prompt.system.endswith("<memory>\n- user_name: Alice\n</memory>")


async def test_w4_a_merge_that_no_model_can_do_lets_no_message_wait(house: House) -> None:
    def unable(request: ChatRequest) -> Reply:
        said = str(request.messages[-1]["content"])
        return say("I cannot.") if said.startswith('{"items"') else answers(request)

    house = summarising(house).with_model(ScriptedModel(respond=unable))
    house = house.with_limits(balanced_messages=10, batch_messages=2)
    chat = await house.chat(await house.bot())
    for number in range(20):
        await house.say(chat, f"Message {number}.")
        while (due := await claim(house)) is not None:
            try:
                await STEPS[Work(due.kind)](house.kit, due)
            except UnusableSummary:
                await put_off(house, due, minutes=number + 1)
        house.clock.advance(seconds=3600)
    assert (await now(house, chat)).waiting == 0
    assert {node.tier for node in await live(house, chat)} == {Tier.RECENT}


async def put_off(house: House, due: Due, *, minutes: int) -> None:
    until = house.clock.now() + timedelta(minutes=minutes)
    await house.kit.store.write(
        house.owner,
        lambda unit: unit.due.postpone(due, until=until, reason="unusable_summary", failed=True),
        label="due.postponed",
    )
