"""K1-K3 through whole turns: a notebook's block ends the system prompt, word for word, and every edit shows at once."""

from __future__ import annotations

import json

import pytest

from souvenance.app.archive_memory import archive_memory
from souvenance.app.browse import room
from souvenance.app.edit_memory import edit_memory
from souvenance.app.erase import erase_memories
from souvenance.domain.bot import Bot, Preset
from souvenance.domain.memory import Memory, Scope
from souvenance.testing import say
from tests.flows.app.house import House, called, calls

ONE_DATABASE = True


async def _notebook(house: House, name: str = "Mira", **pairs: str) -> tuple[Bot, dict[str, Memory]]:
    bot = await house.bot(name, preset=Preset.NOTEBOOK, system_prompt="You teach Python.")
    stored = {key: await house.remember(value, Scope.of_bot(bot.bot_id), key=key) for key, value in pairs.items()}
    return bot, stored


async def test_k2_this_very_block_ends_the_system_prompt(house: House) -> None:
    bot, _ = await _notebook(house, user_name="Alice", preferred_language="Python")
    await house.say(await house.chat(bot), "Hello")
    assert house.prompt.system.startswith("You teach Python.\n\n")
    assert house.prompt.system.endswith("\n<memory>\n- user_name: Alice\n- preferred_language: Python\n</memory>")
    assert '<memory>\\n- user_name: Alice\\n- preferred_language: Python\\n</memory>"}' in house.prompt.text


async def test_k2_no_entries_no_block(house: House) -> None:
    bot, _ = await _notebook(house)
    await house.say(await house.chat(bot), "Hello")
    assert "<memory>" not in house.prompt.text


async def test_k2_the_block_is_never_a_message(house: House) -> None:
    bot, _ = await _notebook(house, user_name="Alice")
    chat = await house.chat(bot)
    await house.say(chat, "Hello", say("Hi"))
    await house.say(chat, "And?")
    assert [one["role"] for one in house.prompt.messages] == ["system", "user", "assistant", "user"]
    assert all("Alice" not in text for _, text in await house.said(chat.conversation_id))


async def test_k2_after_a_clients_own_system_messages_the_block_still_ends_the_last(house: House) -> None:
    bot, _ = await _notebook(house, user_name="Alice")
    theirs = ({"role": "system", "content": "First."}, {"role": "system", "content": "Second.", "name": "x"})
    await house.say(await house.chat(bot), "Hello", system=theirs)
    systems = [one for one in house.prompt.messages if one["role"] == "system"]
    assert [one["content"] for one in systems[:2]] == [systems[0]["content"], "First."]
    assert systems[0]["content"].startswith("You teach Python.")
    assert systems[-1]["content"].startswith("Second.\n\n")
    assert systems[-1]["content"].endswith("<memory>\n- user_name: Alice\n</memory>")
    assert systems[-1]["name"] == "x"


async def test_k3_every_edit_is_in_the_very_next_message(house: House) -> None:
    bot, stored = await _notebook(house, a="1", b="2", c="3")
    chat = await house.chat(bot)
    await house.say(chat, "Hello")
    await edit_memory(house.kit, house.owner, stored["a"].memory_id, seen=1, text="one")
    await house.say(chat, "Hello")
    assert house.prompt.system.endswith("<memory>\n- a: one\n- b: 2\n- c: 3\n</memory>")
    await edit_memory(house.kit, house.owner, stored["b"].memory_id, seen=1, key="bb")
    await house.say(chat, "Hello")
    assert house.prompt.system.endswith("<memory>\n- a: one\n- bb: 2\n- c: 3\n</memory>"), "a rename keeps its place"
    await erase_memories(house.kit, house.owner, [stored["a"].memory_id])
    await house.remember("4", Scope.of_bot(bot.bot_id), key="d")
    await house.say(chat, "Hello")
    assert house.prompt.system.endswith("<memory>\n- bb: 2\n- c: 3\n- d: 4\n</memory>")
    await erase_memories(house.kit, house.owner, [memory.memory_id for memory in await house.memories()])
    await house.say(chat, "Hello")
    assert "<memory>" not in house.prompt.text


async def test_k2_a_text_call_is_in_the_very_next_message_and_an_update_keeps_its_place(house: House) -> None:
    bot, _ = await _notebook(house, a="1", b="2")
    chat = await house.chat(bot)
    await house.say(chat, "Hello", say('Ok remember("a", "one") remember("c", "3")'))
    await house.say(chat, "And?")
    assert house.prompt.system.endswith("<memory>\n- a: one\n- b: 2\n- c: 3\n</memory>")


async def test_m14_an_entry_archived_by_hand_is_not_sent(house: House) -> None:
    bot, stored = await _notebook(house, a="1", b="2")
    await archive_memory(house.kit, house.owner, stored["a"].memory_id, archived=True)
    await house.say(await house.chat(bot), "Hello")
    assert house.prompt.system.endswith("<memory>\n- b: 2\n</memory>")


@pytest.mark.parametrize(
    ("asked", "left", "accepted"),
    [
        ("drop a, keep a 2", {"a": "2"}, [True, True]),
        ("keep a 2, drop a", {}, [True, True]),
        ("drop a, keep a 2, drop a", {}, [True, True, True]),
        ("drop a, drop a", {}, [True, False]),
        ("keep b 2, drop b", {"a": "1"}, [True, True]),
        ("keep b 2, drop b, keep b 3", {"a": "1", "b": "3"}, [True, True, True]),
        ("drop b", {"a": "1"}, [False]),
    ],
)
async def test_v1_what_one_reply_keeps_and_drops_happens_in_its_order(
    house: House, asked: str, left: dict[str, str], accepted: list[bool]
) -> None:
    bot, _ = await _notebook(house, a="1")
    scope = Scope.of_bot(bot.bot_id)
    made = [
        called("forget", key=key) if verb == "drop" else called("remember", key=key, value=value[0])
        for verb, key, *value in (part.split() for part in asked.split(", "))
    ]
    await house.say(await house.chat(bot), "Hello", calls(*made), say("Done"))
    assert await house.pairs(scope) == left
    answers = [json.loads(one["content"])["ok"] for one in house.prompt.messages if one["role"] == "tool"]
    assert answers == accepted


async def test_v1_a_pinned_key_is_neither_dropped_nor_is_a_notebook_asked_for_what_it_has_not(house: House) -> None:
    bot, _ = await _notebook(house)
    scope = Scope.of_bot(bot.bot_id)
    await house.remember("1", scope, key="a", pinned=True)
    made = [called("forget", key="a"), called("memory_query", text="a"), called("remember", key="b", value="2")]
    await house.say(await house.chat(bot), "Hello", calls(*made), say("Done"))
    pinned, unknown, kept = [json.loads(one["content"]) for one in house.prompt.messages if one["role"] == "tool"]
    assert "pinned" in pinned["error"]
    assert "There is no tool named memory_query" in unknown["error"]
    assert kept["ok"]
    assert await house.pairs(scope) == {"a": "1", "b": "2"}


async def test_m5_a_notebooks_pinned_entries_stay_in_their_place_in_the_block(house: House) -> None:
    bot, _ = await _notebook(house, a="1")
    await house.remember("2", Scope.of_bot(bot.bot_id), key="b", pinned=True)
    await house.remember("3", Scope.of_bot(bot.bot_id), key="c")
    await house.say(await house.chat(bot), "Hello")
    assert house.prompt.system.endswith("<memory>\n- a: 1\n- b: 2\n- c: 3\n</memory>")


async def test_k1_nothing_leaks_between_bots_nor_from_the_account(house: House) -> None:
    one, _ = await _notebook(house, "One", secret="walnut")
    two, _ = await _notebook(house, "Two", other="hazel")
    await house.remember("an account fact")
    await house.say(await house.chat(two), "Hello")
    assert "walnut" not in house.prompt.text
    assert "an account fact" not in house.prompt.text
    await house.say(await house.chat(one), "Hello")
    assert "hazel" not in house.prompt.text
    companion = await house.bot("Three")
    await house.say(await house.chat(companion), "Hello")
    assert "walnut" not in house.prompt.text
    assert "hazel" not in house.prompt.text


async def test_e1_a_notebook_has_no_cap_on_entries(house: House) -> None:
    bot, _ = await _notebook(house)
    for number in range(150):
        await house.remember(f"value {number}", Scope.of_bot(bot.bot_id), key=f"key {number}", pinned=number < 30)
    await house.say(await house.chat(bot), "Hello")
    assert house.prompt.system.count("\n- key ") == 150


async def test_k3_the_tokens_that_all_of_it_takes_are_told(house: House) -> None:
    bot, _ = await _notebook(house, a="1", b="2")
    full = await room(house.kit, house.owner, Scope.of_bot(bot.bot_id))
    assert (full.unpinned, full.unpinned_limit) == (2, None)
    assert full.tokens > 0
