"""T1 to T4, T6 and T7 through public doors: exact undo of what turns wrote, branches, and replies cut off.

T5 is the state machine of `tests/undo`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from souvenance.settings import Settings
from souvenance.testing import Fault, HalfStream, Hang, ScriptedUpstream, ToolCalls, say
from tests.acceptance.rules.world import MovedClock, World, events
from tests.acceptance.serving import Installation, Server
from tests.flows.app.house import called, calls
from tests.flows.serving import served

pytestmark = pytest.mark.asyncio(loop_scope="module")


def _remembers(*texts: str) -> ToolCalls:
    return calls(*(called("remember", text=text) for text in texts))


def _turn(told: dict[str, Any]) -> str:
    return str(told["done"]["turn"]["id"])


def _reply(told: dict[str, Any]) -> str:
    return str(told["done"]["message"]["id"])


async def test_t1_a_reply_is_asked_again_as_if_what_it_wrote_were_undone(world: World) -> None:
    mira = await world.bot()
    scope, chat = f"bot:{mira}", await world.chat(mira)
    await world.learn(chat, ["lives in Graz", "likes tea"])
    told = await world.say(chat, "I moved", calls(called("forget", id=1), called("remember", text="moved")), say("One"))
    asked = world.prompts[-2]
    typed = await world.add("typed meanwhile", scope)
    moved = next(one for one in await world.memories(scope) if one["text"] == "moved")
    await world.ok("PUT", f"/memories/{moved['id']}/pin", {"pinned": True})
    assert await world.texts(scope) == ["likes tea", "moved", "typed meanwhile"]
    again = await world.again(_turn(told), _remembers("lives in Turin"), say("Two"))
    prompt = world.prompts[-2]
    assert (again["text"], prompt.newest, prompt.window) == ("Two", asked.newest, asked.window)
    assert "lives in Graz" in prompt.system + prompt.since, "its deletion is undone in the prompt already"
    assert await world.texts(scope) == ["likes tea", "lives in Graz", "lives in Turin", "moved", "typed meanwhile"]
    kept = {one["id"]: one["pinned"] for one in await world.memories(scope)}
    assert (kept[moved["id"]], kept[typed["id"]]) == (True, False), "what is pinned and a person's is never undone"
    assert (await world.said(chat))[-1] == ("bot", "Two")


async def test_t1_a_model_that_fails_leaves_the_old_reply_and_what_it_wrote(world: World) -> None:
    mira = await world.bot()
    scope, chat = f"bot:{mira}", await world.chat(mira)
    told = await world.say(chat, "I keep bees", _remembers("keeps bees"), say("One"))
    (before,) = await world.memories(scope)
    world.upstream.script(_remembers("half done"), Fault(status=500))
    answer = await world.ask("POST", f"/turns/{_turn(told)}/regenerate", {"stream": False})
    assert (answer.status_code, answer.json()["code"]) == (502, "model_refused")
    (after,) = await world.memories(scope)
    assert {**after, "version": 0} == {**before, "version": 0}
    assert await world.said(chat) == [("user", "I keep bees"), ("bot", "One")]
    later = await world.say(chat, "Go on")
    assert (await world.refused("POST", f"/turns/{_turn(told)}/regenerate"))["code"] == "not_last_turn"
    assert (await world.again(_turn(later), say("Again")))["text"] == "Again"


async def test_t1_in_a_group_one_reply_is_asked_again_and_the_others_stay(world: World) -> None:
    ada, bob = await world.bot(), await world.bot()
    chat = await world.chat(ada, members=[bob])
    told = await world.say(
        chat, "Hello", _remembers("by Ada"), say("A"), _remembers("by Bob"), say("B"), speakers=[ada, bob]
    )
    await world.again(_turn(told), say("C"), part=1)
    assert await world.said(chat) == [("user", "Hello"), ("bot", "C"), ("bot", "B")]
    assert (await world.texts(f"bot:{ada}"), await world.texts(f"bot:{bob}")) == ([], ["by Bob"])


async def test_t2_a_rewind_removes_later_turns_and_what_they_wrote(world: World) -> None:
    mira = await world.bot()
    scope, chat = f"bot:{mira}", await world.chat(mira)
    first = await world.say(chat, "One", _remembers("keeps bees"), say("1"))
    await world.say(chat, "Two", calls(called("update_memory", id=1, text="keeps wasps")), say("2"))
    await world.say(chat, "Three", _remembers("likes tea"), say("3"))
    assert await world.texts(scope) == ["keeps wasps", "likes tea"]
    await world.ok("POST", f"/conversations/{chat}/rewind", {"after_turn": _turn(first)})
    assert await world.said(chat) == [("user", "One"), ("bot", "1")]
    assert await world.texts(scope) == ["keeps bees"]
    await world.say(chat, "And now?")
    assert "wasps" not in world.prompt.text
    assert "Three" not in world.prompt.text


async def test_t3_another_variant_takes_its_own_writes_and_leaves_those_of_the_other(world: World) -> None:
    mira = await world.bot()
    scope, chat = f"bot:{mira}", await world.chat(mira)
    turn = _turn(await world.say(chat, "Who am I?", _remembers("is called Ada"), say("Ada")))
    await world.again(turn, _remembers("is called Bo"), say("Bo"))
    assert await world.texts(scope) == ["is called Bo"]
    variants = [(one["variant"], one["text"], one["chosen"]) for one in (await world.turn(turn))["messages"][1:]]
    assert variants == [(0, "Ada", False), (1, "Bo", True)]
    for variant, text, remembered in (
        (0, "Ada", "is called Ada"),
        (1, "Bo", "is called Bo"),
        (0, "Ada", "is called Ada"),
    ):
        assert (await world.ok("PUT", f"/turns/{turn}/choice", {"variant": variant}))["text"] == text
        assert await world.texts(scope) == [remembered]
        assert (await world.said(chat))[-1] == ("bot", text)


async def test_t4_what_was_written_stands_while_any_branch_holds_its_turn_and_after_its_last_holder_is_deleted(
    world: World,
) -> None:
    mira = await world.bot()
    scope, chat = f"bot:{mira}", await world.chat(mira)
    first = await world.say(chat, "One", _remembers("keeps bees"), say("1"))
    await world.say(chat, "Two", _remembers("likes tea"), say("2"))
    fork = await world.ok("POST", f"/conversations/{chat}/fork", {"message_id": _reply(first)})
    assert fork["parent_id"] == chat
    assert await world.said(fork["id"]) == [("user", "One"), ("bot", "1")]
    originals, copies = await world.messages(chat), await world.messages(fork["id"])
    assert [one["origin_id"] for one in copies] == [one["id"] for one in originals[:2]]
    await world.say(fork["id"], "Other", _remembers("fears wasps"), say("3"))
    await world.ok("POST", f"/conversations/{chat}/rewind", {"after_turn": None})
    assert await world.texts(scope) == ["fears wasps", "keeps bees"], "the fork still holds the first turn"
    await world.ok("DELETE", f"/conversations/{chat}")
    await world.ok("DELETE", f"/conversations/{fork['id']}")
    assert await world.texts(scope) == ["fears wasps", "keeps bees"], "deleted, not rewound"
    assert (await world.refused("GET", f"/conversations/{fork['id']}"))["status"] == 404


async def test_t4_a_rewind_of_the_last_holder_undoes_and_a_choice_in_one_branch_leaves_the_other(world: World) -> None:
    mira = await world.bot()
    scope, chat = f"bot:{mira}", await world.chat(mira)
    told = await world.say(chat, "One", _remembers("keeps bees"), say("1"))
    fork = (await world.ok("POST", f"/conversations/{chat}/fork", {"message_id": _reply(told)}))["id"]
    await world.again(_turn(told), say("none"))
    assert await world.texts(scope) == ["keeps bees"], "it stands by the fork, where its variant is chosen"
    await world.ok("POST", f"/conversations/{fork}/rewind", {"after_turn": None})
    assert await world.texts(scope) == []


async def test_t6_a_reply_cut_off_is_kept_its_whole_calls_count_and_it_can_be_continued_or_asked_again(
    world: World,
) -> None:
    bot = await world.bot(preset="notebook")
    scope, chat = f"bot:{bot}", await world.chat(bot)
    half = HalfStream(chunks=("Once upon", ' a time bcz_remember("a", "1")', ' there bcz_remember("b", "2'))
    heard = await world.streamed(chat, "Tell me", half)
    assert (heard[0][0], heard[-1][0], heard[-1][1]["code"]) == ("opened", "error", "model_broken")
    turn = str(heard[0][1]["turn"]["id"])
    (reply,) = (await world.turn(turn))["messages"][1:]
    assert (reply["state"], reply["text"].startswith("Once upon a time")) == ("cut_off", True)
    assert {one["key"]: one["value"] for one in await world.memories(scope)} == {"a": "1"}
    world.upstream.script(say(' lived a queen. bcz_remember("c", "3")'))
    went_on = await world.ok("POST", f"/turns/{turn}/continue", {"stream": False})
    assert went_on["text"].strip() == "lived a queen."
    (whole,) = (await world.turn(turn))["messages"][1:]
    assert (whole["id"], whole["state"]) == (reply["id"], "whole")
    assert whole["text"].startswith("Once upon a time")
    assert whole["text"].endswith("lived a queen.")
    assert {one["key"] for one in await world.memories(scope)} == {"a", "c"}
    await world.again(turn, say("No."))
    assert await world.memories(scope) == []
    assert (await world.refused("POST", f"/turns/{turn}/continue"))["code"] == "nothing_to_continue"


async def test_t6_a_message_is_kept_from_the_first_byte_and_a_crash_leaves_its_turn_open_and_answerable(
    tmp_path: Path, database_url: str | None, upstream: ScriptedUpstream
) -> None:
    made = Installation(folder=tmp_path / "data", model=upstream.url, database_url=database_url)
    async with Server(made) as server:
        async with server.rest() as rest, server.openai() as client:
            world = World(rest=rest, client=client, upstream=upstream, clock=MovedClock())
            mira = await world.bot("Sibyl")
            chat = await world.chat(mira)
            upstream.script(Hang(after=("Once upon", " a time")))
            async with rest.stream("POST", f"/conversations/{chat}/turns", json={"text": "Tell me"}) as answer:
                async for _ in answer.aiter_bytes():
                    break
                server.strike()
        await server.restart()
        async with server.rest() as rest, server.openai() as client:
            world = World(rest=rest, client=client, upstream=upstream, clock=MovedClock())
            (message,) = await world.messages(chat)
            assert (message["role"], message["text"]) == ("user", "Tell me")
            assert (await world.turn(message["turn_id"]))["turn"]["state"] == "open"
            await world.again(message["turn_id"], _remembers("likes tales"), say("There was a queen."))
            assert await world.said(chat) == [("user", "Tell me"), ("bot", "There was a queen.")]
            assert await world.texts(f"bot:{mira}") == ["likes tales"]


async def test_t6_a_fault_in_memory_never_breaks_a_chat_and_the_reply_says_so(
    world: World, settings: Settings, upstream: ScriptedUpstream
) -> None:
    mira = await world.bot()
    chat = await world.chat(mira)
    async with served(settings) as server:
        await server.house.kit.store.close()
        upstream.script(say("Hello Ada."))
        answer = await server.rest.post(f"/conversations/{chat}/turns", json={"text": "I am Ada", "model": "scripted"})
    heard = events(answer.text)
    assert "".join(data["text"] for name, data in heard if name == "delta").startswith("Hello Ada.")
    assert heard[-1][1]["memory_unavailable"] is True
    assert await world.said(chat) == []


async def test_t7_editing_or_deleting_a_message_in_place_revokes_what_was_drawn_from_it_alone(world: World) -> None:
    mira = await world.bot()
    scope, chat = f"bot:{mira}", await world.chat(mira)
    await world.say(chat, "I keep bees", _remembers("keeps bees", "has a hive"), say("1"))
    await world.say(chat, "Yes, a hive", _remembers("has a hive", "likes honey"), say("2"))
    await world.say(chat, "And wasps", _remembers("fears wasps"), say("3"))
    first, _, _, second, third, _ = [message["id"] for message in await world.messages(chat)]
    await world.ok("PATCH", f"/messages/{first}", {"text": "I keep ants"})
    assert await world.texts(scope) == ["fears wasps", "has a hive", "likes honey"], "a hive has another source"
    await world.ok("DELETE", f"/messages/{third}")
    await world.ok("DELETE", f"/messages/{second}")
    assert await world.texts(scope) == []
    assert await world.said(chat) == [
        ("user", "I keep ants"),
        ("bot", "1"),
        ("user", "Yes, a hive"),
        ("bot", "3"),
    ]
    await world.say(chat, "And now?")
    assert "And wasps" not in world.prompt.text
    assert "I keep ants" in world.prompt.text


async def test_t7_edit_and_resend_is_a_rewind_and_a_new_turn(world: World) -> None:
    mira = await world.bot()
    scope, chat = f"bot:{mira}", await world.chat(mira)
    told = await world.say(chat, "I keep bees", _remembers("keeps bees"), say("1"))
    await world.say(chat, "And honey", _remembers("likes honey"), say("2"))
    await world.say(chat, "I keep ants", _remembers("keeps ants"), say("3"), replaces=_turn(told))
    assert await world.said(chat) == [("user", "I keep ants"), ("bot", "3")]
    assert await world.texts(scope) == ["keeps ants"]
