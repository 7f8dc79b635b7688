"""M1 to M7 through public doors: where memories belong, how many, how long, and what of them is sent."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

import souvenance
from souvenance.errors import TextTooLong
from souvenance.settings import Settings
from souvenance.testing import say
from tests.acceptance.rules.world import World
from tests.flows.app.house import called, calls

pytestmark = pytest.mark.asyncio(loop_scope="module")

_UNPINNED, _PINNED = 100, 20


async def test_m1_what_a_scope_holds_is_in_the_next_prompt_of_every_conversation_in_it(world: World) -> None:
    mira, otto = await world.bot(), await world.bot()
    mask = (await world.ok("POST", "/personas", {"name": "Captain"}))["id"]
    chats = [await world.chat(mira), await world.chat(mira, persona_id=mask), await world.chat(otto)]
    for chat in chats:
        await world.say(chat, "Hello")
    await world.add("keeps bees")
    await world.say(chats[0], "Hi", calls(called("remember", text="is called Renko")), say("Noted"))
    seen = []
    for chat in chats:
        await world.say(chat, "And now?")
        seen.append(("keeps bees" in world.prompt.text, "is called Renko" in world.prompt.text))
    assert seen == [(True, True), (True, True), (True, False)]
    assert await world.texts() == ["keeps bees"]
    assert await world.texts(f"bot:{mira}") == ["is called Renko"]


async def test_m1_session_memory_is_its_conversations_a_fork_copies_it_and_it_ends_with_it(world: World) -> None:
    helper = await world.bot(preset="assistant")
    chat, other = await world.chat(helper), await world.chat(helper)
    noted = calls(called("remember", text="the draft is due on Friday", this_conversation_only=True))
    first = await world.say(chat, "Only here: the draft is due on Friday", noted, say("Noted"))
    await world.say(other, "What is due?")
    assert "due on Friday" not in world.prompt.text
    fork = await world.ok("POST", f"/conversations/{chat}/fork", {"message_id": first["done"]["message"]["id"]})
    await world.ok("DELETE", f"/conversations/{chat}")
    await world.say(fork["id"], "When is it due?")
    assert "the draft is due on Friday" in world.prompt.system + world.prompt.since
    await world.ok("DELETE", f"/conversations/{fork['id']}")
    assert await world.found("draft due Friday") == []


async def test_m2_a_scope_has_room_for_100_unpinned_and_20_pinned_and_the_rest_is_archived(world: World) -> None:
    mira = await world.bot()
    scope = f"bot:{mira}"
    pinned = [await world.add(f"pinned fact {number}", scope, pinned=True) for number in range(_PINNED)]
    chat, names = await world.chat(mira), [f"fact {number:03}" for number in range(_UNPINNED + 4)]
    await world.learn(chat, names[:52])
    await world.learn(chat, names[52:])
    facts = sorted(await world.memories(scope), key=lambda memory: str(memory["text"]))
    problem = await world.refused("PUT", f"/memories/{facts[0]['id']}/pin", {"pinned": True})
    assert (problem["status"], problem["code"]) == (409, "pin_room_full")
    assert problem["details"] == {"scope": scope, "pinned": _PINNED, "limit": _PINNED}
    assert (await world.refused("POST", "/memories", {"text": "x", "scope": scope, "pinned": True}))["status"] == 409
    assert await world.texts(scope, "archived") == names[:4]
    room = await world.ok("GET", "/memories/room", scope=scope)
    assert (room["unpinned"], room["archived"], room["pinned"]) == (_UNPINNED, 4, _PINNED)
    assert await world.found("fact 002", scopes=[scope], limit=1) == ["fact 002"]
    assert [one["intent"] for one in await world.history(facts[0]["id"])] == ["add"], "derived, never an event"
    await world.say(await world.chat(mira), "Hello")
    assert "fact 003" not in world.prompt.text
    assert "fact 004" in world.prompt.text
    # To unpin, to restore and to confirm are updates, each of which puts the next in line away.
    await world.ok("PUT", f"/memories/{pinned[0]['id']}/pin", {"pinned": False})
    await world.ok("PUT", f"/memories/{facts[0]['id']}/archived", {"archived": False})
    await world.ok("POST", "/memories", {"text": "Fact 001", "scope": scope})
    active = await world.texts(scope, "active")
    assert {"pinned fact 0", "fact 000", "fact 001"} <= set(active)
    assert await world.texts(scope, "archived") == names[2:7]


async def test_m2_archiving_by_hand_is_an_operation(world: World) -> None:
    memory = await world.add("had a cold in May")
    await world.ok("PUT", f"/memories/{memory['id']}/archived", {"archived": True})
    assert await world.texts(shelf="archived") == ["had a cold in May"]
    assert [one["intent"] for one in await world.history(memory["id"])] == ["add", "archive"]


async def test_m3_a_text_has_1_to_500_characters_at_every_door_and_is_never_cut(
    world: World, settings: Settings
) -> None:
    longest, too_long = "🐝" * 500, "🐝" * 501
    assert (await world.add(longest))["text"] == longest
    problem = await world.refused("POST", "/memories", {"text": too_long})
    assert (problem["status"], problem["code"]) == (422, "text_too_long")
    assert problem["details"] == {"field": "text", "size": 501, "limit": 500, "unit": "characters"}
    assert (await world.refused("POST", "/memories", {"text": " \n"}))["code"] == "empty_text"
    name = world.name()
    await world.bot(name)
    assert "501 characters; the limit is 500" in await world.hear(name, f"/remember {too_long}")
    url = None if settings.database_url is None else str(settings.database_url)
    async with souvenance.open(settings.folder, database_url=url, detect_local=False, detect_keys=False) as memory:
        with pytest.raises(TextTooLong, match="501 characters; the limit is 500"):
            await memory.remember(too_long)
    assert await world.texts() == [longest]


async def test_m3_a_key_is_trimmed_case_sensitive_unique_and_its_value_is_any_text(world: World) -> None:
    bot = await world.bot(preset="notebook")
    scope = f"bot:{bot}"
    value = "line one\n  line two\t" + "v" * 9_979
    assert len(value) == 10_000 - 1
    await world.add(value, scope, key="  name  ")
    await world.add("other", scope, key="Name")
    await world.add("longest", scope, key="k" * 128)
    assert {one["key"]: one["value"] for one in await world.memories(scope)} == {
        "name": value,
        "Name": "other",
        "k" * 128: "longest",
    }
    for key, text, code, size in (
        ("k" * 129, "x", "text_too_long", 129),
        ("two\nlines", "x", "unusable_text", None),
        (" ", "x", "empty_text", None),
        ("long", "v" * 10_001, "text_too_long", 10_001),
        ("name", "another", "key_taken", None),
    ):
        problem = await world.refused("POST", "/memories", {"text": text, "scope": scope, "key": key})
        assert (problem["code"], problem["details"].get("size")) == (code, size)
    assert len(await world.memories(scope)) == 3


async def test_m4_each_has_its_scope_text_origin_confidence_sources_and_times(world: World) -> None:
    mira = await world.bot(settings={"text_calls": True})
    scope, chat = f"bot:{mira}", await world.chat(mira)
    typed = await world.add("likes tea", scope, subject="Ada")
    assert (typed["origin"], typed["confidence"], typed["subject"], typed["version"]) == ("manual", 1.0, "Ada", 1)
    assert typed["created_at"] == typed["updated_at"] == typed["evidence"][0]["at"]
    told = await world.say(
        chat, "I keep bees", calls(called("remember", text="keeps bees")), say('Fine. remember("pet", "a cat")')
    )
    by_text = {one["text"]: one for one in await world.memories(scope)}
    said = told["opened"]["message"]
    for text in ("keeps bees", "a cat"):
        assert (by_text[text]["origin"], by_text[text]["scope"]) == ("model", scope)
        assert by_text[text]["confidence"] <= 0.9
        source = {"at": said["created_at"], "conversation_id": chat, "message_id": said["id"]}
        assert by_text[text]["evidence"] == [source]
    again = await world.ok("POST", "/memories", {"text": "Keeps bees.", "scope": scope})
    assert (again["created"], again["memory"]["id"]) == (False, by_text["keeps bees"]["id"])
    assert again["memory"]["confidence"] == 1.0, "of several sources the highest"
    assert len(again["memory"]["evidence"]) == 2
    assert again["memory"]["created_at"] < again["memory"]["updated_at"]


async def test_m5_a_pinned_one_is_sent_whole_apart_and_no_model_changes_it(world: World) -> None:
    mira = await world.bot(settings={"text_calls": True})
    scope, chat = f"bot:{mira}", await world.chat(mira)
    pinned = await world.add("call me Alex", scope, pinned=True)
    keyed = await world.add("walnuts", scope, key="allergy", pinned=True)
    other = await world.add("likes tea", scope)
    await world.say(chat, "Hello")
    marked = [one for one in await world.memories(scope) if one["pinned"]]
    before, after = world.prompt.system.split("</pinned_memories>")
    assert "call me Alex" in before.split("<pinned_memories>")[1]
    assert "[1] (recent) likes tea" in after
    told: dict[str, Any] = {}
    for number in (0, 2, 3):
        tried = calls(called("update_memory", id=number, text="call me Bob"), called("forget", id=number))
        told = await world.say(chat, "Call me Bob", tried, say('No. remember("allergy", "none")'))
        assert [one["kind"] for one in told["noted"]] == ["refused"] * 3
    await world.ok("POST", f"/turns/{told['done']['turn']['id']}/regenerate", {"stream": False})
    await world.ok("POST", f"/conversations/{chat}/rewind", {"after_turn": None})
    cleared = await world.ok("DELETE", "/memories", scope=scope)
    assert (cleared["erasure"]["memory_ids"], cleared["pinned"]) == ([other["id"]], 2)
    assert await world.memories(scope) == marked
    assert {one["id"] for one in marked} == {pinned["id"], keyed["id"]}


async def test_m6_all_pinned_and_100_unpinned_are_dealt_in_turn_newest_first_and_the_recent_marked(
    world: World,
) -> None:
    mira = await world.bot()
    scope = f"bot:{mira}"
    await world.add("an old fact", scope)
    world.clock.advance(timedelta(days=7, seconds=1))
    await world.learn(await world.chat(None), [f"account fact {number:02}" for number in range(60)])
    await world.learn(await world.chat(mira), [f"bot fact {number:02}" for number in range(54)])
    await asyncio.gather(*(world.add(f"pinned for all {number}", pinned=True) for number in range(3)))
    await world.say(await world.chat(mira), "Hello")
    lines = world.prompt.system.splitlines()
    assert sum("pinned for all" in line for line in lines) == 3
    assert sum("account fact" in line for line in lines) == sum("bot fact" in line for line in lines) == 50
    for first_in, last_out in (("account fact 10", "account fact 09"), ("bot fact 04", "bot fact 03")):
        assert first_in in world.prompt.system
        assert last_out not in world.prompt.system
    assert all("(recent)" in line for line in lines if line.startswith("- "))


async def test_m6_what_was_updated_more_than_7_days_ago_is_not_marked(world: World) -> None:
    mira = await world.bot()
    await world.add("an old fact", f"bot:{mira}")
    world.clock.advance(timedelta(days=7, seconds=1))
    await world.add("a new fact", f"bot:{mira}")
    await world.say(await world.chat(mira), "Hello")
    assert "] (recent) a new fact" in world.prompt.system
    assert "] an old fact" in world.prompt.system


async def test_m7_in_a_group_the_speaker_reads_what_its_members_know_and_writes_to_its_own(world: World) -> None:
    names = [world.name() for _ in range(4)]
    made: list[dict[str, Any]] = [
        await world.ok("POST", "/bots", {"name": names[0]}),
        await world.ok("POST", "/bots", {"name": names[1]}),
        await world.ok("POST", "/bots", {"name": names[2], "preset": "notebook"}),
        await world.ok("POST", "/bots", {"name": names[3], "settings": {"learn": False}}),
    ]
    ada, bob, notes, deaf = (bot["id"] for bot in made)
    await world.add("the account knows the sea")
    await world.add("Ada knows the harbour", f"bot:{ada}")
    await world.add("Bob knows the mountain", f"bot:{bob}")
    await world.add("the forest", f"bot:{notes}", key="notes_know")
    await world.add("the deaf one knows the desert", f"bot:{deaf}")
    chat = await world.chat(ada, members=[bob, notes, deaf])
    known: dict[str, set[str]] = {}
    for bot in (ada, bob, notes, deaf):
        script = [calls(called("remember", text="was in the group")), say("Noted")] if bot == bob else [say("Yes")]
        await world.say(chat, "What do you know?", *script, speakers=[bot])
        places = ("sea", "harbour", "mountain", "forest", "desert")
        known[bot] = {place for place in places if f"the {place}" in world.prompt.system}
    assert known == {
        ada: {"sea", "harbour", "mountain"},
        bob: {"sea", "harbour", "mountain"},
        notes: {"forest"},
        deaf: set(),
    }
    assert await world.texts(f"bot:{bob}") == ["Bob knows the mountain", "was in the group"]
    assert await world.texts(f"bot:{ada}") == ["Ada knows the harbour"]
