"""K1 to K4 through public doors: a notebook's keys, the block that it sends, and what it gives away."""

from __future__ import annotations

import pytest

from souvenance.testing import say
from tests.acceptance.rules.world import World
from tests.flows.app.house import called, calls

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def _block(world: World, chat: str) -> str:
    """What ends the system prompt of the next message: the block, or nothing."""
    await world.say(chat, "And now?", say("Well"))
    _, opening, rest = world.prompt.system.partition("<memory>\n")
    return opening + rest


async def test_k1_each_notebook_has_its_own_store_and_nothing_leaks(world: World) -> None:
    one, other = await world.bot(preset="notebook"), await world.bot(preset="notebook")
    await world.add("Alice", f"bot:{one}", key="user_name")
    await world.add("Bob", f"bot:{other}", key="user_name")
    await world.add("lives in Graz")
    chats = [await world.chat(one), await world.chat(other)]
    assert [await _block(world, chat) for chat in chats] == [
        "<memory>\n- user_name: Alice\n</memory>",
        "<memory>\n- user_name: Bob\n</memory>",
    ]
    assert "lives in Graz" not in world.prompt.text
    await world.say(chats[0], "Call me Al", calls(called("remember", key="user_name", value="Al")), say("Yes"))
    await world.say(chats[0], "No pets", calls(called("forget", key="pet")), say("No"))
    assert await world.texts(f"bot:{other}") == ["Bob"]
    assert await world.texts() == ["lives in Graz"]


async def test_k2_the_block_ends_the_system_prompt_in_the_order_in_which_keys_were_first_stored(world: World) -> None:
    bot = await world.bot(preset="notebook", system_prompt="You are a notebook.")
    scope, chat = f"bot:{bot}", await world.chat(bot)
    assert await _block(world, chat) == "", "no entries, no block"
    name = await world.add("Alice", scope, key="name")
    await world.add("Python", scope, key="preferred_language")
    await world.ok("PATCH", f"/memories/{name['id']}", {"seen": 1, "key": "user_name"})
    expected = "<memory>\n- user_name: Alice\n- preferred_language: Python\n</memory>"
    assert await _block(world, chat) == expected
    assert world.prompt.system.startswith("You are a notebook.")
    assert [one["role"] for one in world.prompt.messages].count("system") == 1
    assert all("<memory>" not in text for _, text in await world.said(chat)), "never shown as a message"


async def test_k3_the_list_has_key_value_time_and_tokens_and_each_change_is_in_the_next_message(world: World) -> None:
    bot = await world.bot(preset="notebook")
    scope, chat = f"bot:{bot}", await world.chat(bot)
    added = await world.add("Alice", scope, key="name")
    await world.add("a cat", scope, key="pet")
    await world.add("kept", scope, key="pinned", pinned=True)
    (listed,) = [one for one in await world.memories(scope) if one["id"] == added["id"]]
    assert (listed["key"], listed["value"], listed["updated_at"]) == ("name", "Alice", added["updated_at"])
    room = await world.ok("GET", "/memories/room", scope=scope)
    assert room["tokens"] > 0
    assert (room["unpinned_limit"], room["unpinned"]) == (None, 2)
    changed = await world.ok("PATCH", f"/memories/{added['id']}", {"seen": 1, "text": "Alice Smith"})
    assert changed["updated_at"] > added["updated_at"]
    assert await _block(world, chat) == "<memory>\n- name: Alice Smith\n- pet: a cat\n- pinned: kept\n</memory>"
    assert (await world.ok("GET", "/memories/room", scope=scope))["tokens"] > room["tokens"]
    await world.ok("PATCH", f"/memories/{added['id']}", {"seen": 2, "key": "full_name"})
    assert await _block(world, chat) == "<memory>\n- full_name: Alice Smith\n- pet: a cat\n- pinned: kept\n</memory>"
    await world.ok("DELETE", f"/memories/{added['id']}")
    assert await _block(world, chat) == "<memory>\n- pet: a cat\n- pinned: kept\n</memory>"
    cleared = await world.ok("DELETE", "/memories", scope=scope)
    assert await _block(world, chat) == "<memory>\n- pinned: kept\n</memory>"
    await world.ok("DELETE", "/memories/pinned", scope=scope, count=cleared["pinned"])
    assert await _block(world, chat) == ""


async def test_k4_neither_a_share_link_nor_an_exported_bot_contains_memory(world: World) -> None:
    bot = await world.bot(preset="notebook", system_prompt="You are a notebook.")
    await world.add("Alice of the numbats", f"bot:{bot}", key="user_name", pinned=True)
    await world.say(await world.chat(bot), "I told you of the numbats")
    exported = await world.ok("GET", f"/bots/{bot}/export")
    link = await world.ok("GET", f"/bots/{bot}/share")
    await world.ok("PATCH", f"/bots/{bot}", {"name": world.name()})
    for given in (exported, link):
        assert "numbats" not in str(given)
        assert "user_name" not in str(given)
        made = await world.ok("POST", "/bots/import", given)
        assert (made["preset"], made["system_prompt"]) == ("notebook", "You are a notebook.")
        assert await world.memories(f"bot:{made['id']}") == []
        assert await _block(world, await world.chat(made["id"])) == ""
        await world.ok("DELETE", f"/bots/{made['id']}")
