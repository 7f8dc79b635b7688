"""V1 to V6 and V10 through public doors: how a memory comes to be, by a model, by calls, commands and drafts."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from souvenance.testing import say
from tests.acceptance.rules.world import World
from tests.flows.app.house import called, calls

pytestmark = pytest.mark.asyncio(loop_scope="module")


def _drafts(*texts: str) -> str:
    return json.dumps({"memories": [{"text": text} for text in texts]})


def _answers(world: World) -> list[dict[str, Any]]:
    """What the model was told of its tool calls, in the newest prompt."""
    return [json.loads(one["content"]) for one in world.prompt.messages if one["role"] == "tool"]


async def test_v1_a_model_remembers_updates_forgets_and_finds_in_mid_reply_by_the_numbers_it_saw(world: World) -> None:
    mira, other = await world.bot(), await world.bot()
    scope, chat = f"bot:{mira}", await world.chat(mira)
    await world.learn(chat, ["lives in Graz", "likes tea"])
    hidden = await world.add("once sailed to Murmansk", scope)
    await world.ok("PUT", f"/memories/{hidden['id']}/archived", {"archived": True})
    await world.add("a secret of another bot", f"bot:{other}")
    await world.say(chat, "Hello")
    assert world.prompt.tools == ["remember", "update_memory", "forget", "memory_query"]
    shown = world.prompt.system + world.prompt.since
    graz, tea = (_number(shown, text) for text in ("lives in Graz", "likes tea"))
    told = await world.say(
        chat,
        "I moved to Turin and gave up tea",
        calls(called("update_memory", id=graz, text="lives in Turin"), called("forget", id=tea)),
        calls(called("memory_query", text="Murmansk secret")),
        say("Noted"),
    )
    assert told["text"] == "Noted", "the calls are not shown"
    assert _answers(world)[-1]["memories"][0]["text"] == "once sailed to Murmansk"
    assert "a secret of another bot" not in world.prompt.text
    assert await world.texts(scope) == ["lives in Turin", "once sailed to Murmansk"]
    assert [one["kind"] for one in told["noted"]][:2] == ["updated", "forgotten"]


async def test_v1_any_other_number_gets_an_error_it_can_mend_and_changes_nothing(world: World) -> None:
    mira = await world.bot()
    chat, elsewhere = await world.chat(mira), await world.chat(mira)
    await world.learn(elsewhere, ["one", "two", "three"])
    await world.say(chat, "Hello")
    before = await world.memories(f"bot:{mira}")
    tried = [called("forget", id=4), called("update_memory", id=0, text="x"), called("forget", id=before[0]["id"])]
    await world.say(chat, "Go on", calls(*tried), say("I could not"))
    refused = _answers(world)
    assert [one["ok"] for one in refused] == [False] * 3
    assert "No memory [4] was shown to you here" in refused[0]["error"]
    assert await world.memories(f"bot:{mira}") == before


def _number(shown: str, text: str) -> int:
    """The short id of the line that says `text`."""
    (line,) = [line for line in shown.splitlines() if line.startswith("- [") and line.endswith(text)]
    return int(line[3 : line.index("]")])


@pytest.mark.parametrize("size", [1, 1_000])
async def test_v2_text_calls_are_stored_and_shown_neither_now_nor_later(world: World, size: int) -> None:
    name = world.name()
    scope = f"bot:{await world.bot(name, preset='notebook')}"
    reply = "Hi! bcz_remember(\"name\", \"Al \\\"X\\\"\")\nremember('pet', 'a cat') bcz_remember('pet', 'a dog')\nBye."
    chunks = [reply[at : at + size] for at in range(0, len(reply), size)]
    shown = await world.hear(name, "I am Al", script=say(*chunks))
    assert shown == "Hi!\nBye."
    assert {one["key"]: one["value"] for one in await world.memories(scope)} == {"name": 'Al "X"', "pet": "a dog"}
    await world.hear(name, "I am Al", shown, "Well?")
    assert world.prompt.window == [("user", "I am Al"), ("assistant", shown)]
    assert "bcz_remember(" not in world.prompt.text


async def test_v2_a_reply_of_calls_only_shows_how_many_were_saved_and_an_existing_key_is_updated(world: World) -> None:
    name = world.name()
    scope = f"bot:{await world.bot(name, preset='notebook')}"
    await world.add("a cat", scope, key="pet")
    said = 'bcz_remember("pet", "a dog") bcz_remember("name", "Al")'
    assert await world.hear(name, "Hello", script=say(said)) == "2 saved"
    pairs = [(one["key"], one["value"], one["version"]) for one in await world.memories(scope)]
    assert sorted(pairs) == [("name", "Al", 1), ("pet", "a dog", 2)]


@pytest.mark.parametrize(
    "said",
    [
        'Write `bcz_remember("a", "1")` so.',
        '```\nbcz_remember("a", "1")\n```',
        'So bcz_remember("a", 1) is wrong',
        'So bcz_remember("a" "1") is wrong',
        f'So bcz_remember("{"k" * 129}", "1") is long',
        f'So bcz_remember("a", "{"v" * 10_001}") is long',
    ],
    ids=["inline code", "code block", "a number", "no comma", "long key", "long value"],
)
async def test_v2_an_example_a_malformed_and_an_oversized_call_stay_visible_and_store_nothing(
    world: World, said: str
) -> None:
    name = world.name()
    scope = f"bot:{await world.bot(name, preset='notebook')}"
    assert await world.hear(name, "How?", script=say(said)) == said
    assert await world.memories(scope) == []


async def test_v2_a_pinned_key_is_refused_and_noted(world: World) -> None:
    bot = await world.bot(preset="notebook")
    await world.add("Al", f"bot:{bot}", key="name", pinned=True)
    told = await world.say(await world.chat(bot), "I am Bo", say('Sure. bcz_remember("name", "Bo")'))
    assert (told["text"], [one["kind"] for one in told["noted"]]) == ("Sure.", ["refused"])
    assert await world.texts(f"bot:{bot}") == ["Al"]


async def test_v3_commands_answer_at_once_without_a_model_outside_the_conversation_as_a_persons(world: World) -> None:
    mira = await world.bot()
    scope, chat, asked = f"bot:{mira}", await world.chat(mira), len(world.prompts)
    told = await world.say(chat, "/remember likes the red lighthouse")
    assert "likes the red lighthouse" in told["text"]
    assert (told["done"]["finish"], told["done"]["message"]) == ("command", None)
    (memory,) = await world.memories(scope)
    assert (memory["origin"], memory["confidence"]) == ("manual", 1.0)
    await world.say(chat, "/remember fears the blue lighthouse")
    listed = (await world.say(chat, "/memories"))["text"]
    assert "red lighthouse" in listed
    assert "blue lighthouse" in listed
    several = (await world.say(chat, "/forget lighthouse"))["text"]
    assert "Nothing was removed" in several
    assert memory["id"] in several
    assert len(await world.memories(scope)) == 2
    await world.say(chat, f"/forget {memory['id']}")
    await world.say(chat, "/forget blue")
    assert await world.memories(scope) == []
    assert await world.said(chat) == []
    assert len(world.prompts) == asked


async def test_v3_in_a_notebook_they_take_key_and_value_and_a_message_of_calls_only_is_one(world: World) -> None:
    bot = await world.bot(preset="notebook")
    scope, chat = f"bot:{bot}", await world.chat(bot)
    await world.say(chat, "/remember user_name = Alice")
    await world.say(chat, 'bcz_remember("pet", "a cat")')
    assert {one["key"]: one["value"] for one in await world.memories(scope)} == {"user_name": "Alice", "pet": "a cat"}
    assert {one["origin"] for one in await world.memories(scope)} == {"manual"}
    assert "/remember key = value" in (await world.say(chat, "/remember likes tea"))["text"]
    await world.say(chat, "/forget pet")
    assert await world.texts(scope) == ["Alice"]
    assert await world.said(chat) == []


async def test_v4_a_memory_is_added_by_hand_with_scope_and_pin_and_what_says_it_already_is_shown(world: World) -> None:
    mira = await world.bot()
    tea = await world.add("Likes green tea", f"bot:{mira}", pinned=True)
    await world.add("Lives in Graz")
    look = {"text": "likes green tea.", "scope": f"bot:{mira}"}
    similar = (await world.ok("POST", "/memories/similar", look))["items"]
    assert [(one["memory"]["id"], one["equal"]) for one in similar] == [(tea["id"], True)]
    assert await world.texts(f"bot:{mira}") == ["Likes green tea"], "a look stores nothing"


async def test_v5_drafts_are_generated_from_a_description_alone_reviewed_and_saved_unpinned(world: World) -> None:
    mira = await world.bot()
    scope, chat = f"bot:{mira}", await world.chat(mira)
    await world.say(chat, "I keep numbats in secret")
    world.upstream.script(say(_drafts("likes tea", "has a cat")))
    drafted = await world.ok("POST", "/drafts", {"description": "tea and a cat", "bot": mira})
    assert "tea and a cat" in world.prompt.text
    assert "numbats" not in world.prompt.text
    assert "no conversation was read" in drafted["note"]
    first, second = drafted["drafts"]
    assert (first["text"], first["pinned"], first["scope"], first["origin"]) == ("likes tea", False, scope, "generated")
    await world.ok("PATCH", f"/drafts/{first['id']}", {"text": "likes green tea"})
    saved = await world.ok("POST", "/drafts/save", {"ids": [first["id"], second["id"]]})
    assert [(one["memory"]["text"], one["memory"]["pinned"]) for one in saved["items"]] == [
        ("likes green tea", False),
        ("has a cat", False),
    ]
    assert {one["origin"] for one in await world.memories(scope)} == {"generated"}


async def test_v5_a_bad_answer_is_asked_for_once_more_with_the_reason_and_then_reported(world: World) -> None:
    asked = len(world.prompts)
    world.upstream.script(say("Gladly! What do you like?"), say('```json\n{"memories": [{"text": "likes tea"}]}\n```'))
    drafted = await world.ok("POST", "/drafts", {"description": "tea"})
    assert [one["text"] for one in drafted["drafts"]] == ["likes tea"]
    assert "could not be used" in world.prompt.text
    world.upstream.script(*(say(_drafts(*(f"fact {number}" for number in range(6)))) for _ in range(2)))
    answer = await world.ask("POST", "/drafts", {"description": "tea"})
    assert (answer.status_code, answer.json()["code"]) == (502, "unusable_drafts")
    assert len(world.prompts) - asked == 4
    await world.ok("DELETE", f"/drafts/{drafted['drafts'][0]['id']}")
    assert (await world.ok("GET", "/drafts"))["items"] == []


async def test_v6_messages_are_saved_as_they_are_pinned_with_their_sources_and_the_room_is_shown(world: World) -> None:
    mira = await world.bot()
    scope, chat = f"bot:{mira}", await world.chat(mira)
    for text in ("I like tea", "I have a cat"):
        await world.say(chat, text, say("I see"))
    said = [message["id"] for message in await world.messages(chat) if message["role"] == "user"]
    asked = len(world.prompts)
    each = await world.ok("POST", "/drafts/from-messages", {"message_ids": said, "how": "each"})
    joined = await world.ok("POST", "/drafts/from-messages", {"message_ids": said, "how": "joined"})
    assert [draft["text"] for draft in each["drafts"]] == ["I like tea", "I have a cat"]
    assert [draft["text"] for draft in joined["drafts"]] == ["I like tea\nI have a cat"]
    assert (each["room"]["pinned"], each["room"]["pinned_limit"], each["charge"]) == (0, 20, None)
    assert len(world.prompts) == asked, "as they are: without a model"
    world.upstream.script(say(_drafts("likes tea", "has a cat")))
    by_model = await world.ok("POST", "/drafts/from-messages", {"message_ids": said})
    assert [draft["text"] for draft in by_model["drafts"]] == ["likes tea", "has a cat"]
    await world.ok("POST", "/drafts/save", {"ids": [draft["id"] for draft in each["drafts"]]})
    memories = {one["text"]: one for one in await world.memories(scope)}
    assert {one["pinned"] for one in memories.values()} == {True}
    assert {one["origin"] for one in memories.values()} == {"conversation"}
    assert [source["message_id"] for source in memories["I like tea"]["evidence"]] == said[:1]
    for left in (*joined["drafts"], *by_model["drafts"]):
        await world.ok("DELETE", f"/drafts/{left['id']}")


async def test_v6_past_500_characters_it_must_be_shortened_first_and_saving_is_all_or_nothing(world: World) -> None:
    mira = await world.bot()
    scope, chat = f"bot:{mira}", await world.chat(mira)
    for text in ("Hello " + "x" * 500, "One", "Two"):
        await world.say(chat, text, say("I see"))
    long, one, two = [message["id"] for message in await world.messages(chat) if message["role"] == "user"]
    refused = await world.refused("POST", "/drafts/from-messages", {"message_ids": [long, one], "how": "each"})
    assert (refused["code"], refused["details"]["size"], refused["details"]["limit"]) == ("text_too_long", 506, 500)
    assert (await world.ok("GET", "/drafts"))["items"] == []
    for number in range(19):
        await world.add(f"pinned {number}", scope, pinned=True)
    drafts = (await world.ok("POST", "/drafts/from-messages", {"message_ids": [one, two], "how": "each"}))["drafts"]
    ids = [draft["id"] for draft in drafts]
    full = await world.refused("POST", "/drafts/save", {"ids": ids})
    assert (full["status"], full["code"], full["details"]["limit"]) == (409, "pin_room_full", 20)
    assert len(await world.memories(scope)) == 19
    await world.ok("PATCH", f"/drafts/{ids[1]}", {"pinned": False})
    assert len((await world.ok("POST", "/drafts/save", {"ids": ids}))["items"]) == 2


async def test_v10_drafts_are_in_no_list_query_prompt_or_count_and_last_7_days(world: World) -> None:
    mira = await world.bot()
    scope, chat = f"bot:{mira}", await world.chat(mira)
    world.upstream.script(say(_drafts("keeps bilbies", "keeps quolls")))
    drafted = await world.ok("POST", "/drafts", {"description": "animals", "bot": mira})
    assert drafted["charge"]["tokens_in"] > 0
    assert drafted["charge"]["tokens_out"] > 0
    kept, left = (draft["id"] for draft in drafted["drafts"])
    await world.say(chat, "Hello")
    assert "bilbies" not in world.prompt.text
    assert await world.memories(scope) == []
    assert await world.found("bilbies quolls") == []
    assert (await world.ok("POST", "/memories/similar", {"text": "keeps bilbies", "scope": scope}))["items"] == []
    assert (await world.ok("GET", "/memories/room", scope=scope))["unpinned"] == 0
    assert "bilbies" not in (await world.ask("GET", f"/bots/{mira}/export")).text
    world.clock.advance(timedelta(days=6, hours=23))
    await world.ok("POST", "/drafts/save", {"ids": [kept]})
    assert await world.texts(scope) == ["keeps bilbies"]
    world.clock.advance(timedelta(hours=1, seconds=1))
    assert (await world.ok("GET", "/drafts"))["items"] == []
    expired = await world.refused("POST", "/drafts/save", {"ids": [left]})
    assert (expired["status"], expired["code"], expired["details"]["draft_id"]) == (410, "draft_expired", left)
    assert await world.texts(scope) == ["keeps bilbies"]
