"""O1 to O4 through public doors, as far as saved memories go: what a conversation may read, write and find.

O5 and O7 have no door yet: `tests/unit/domain/test_policy.py` shows them row by row. Nor has O4's anonymous chat.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
import pytest_asyncio

from souvenance.settings import Settings, UpstreamSettings
from souvenance.testing import ScriptedUpstream, say
from tests.acceptance.rules.world import MovedClock, World
from tests.flows.app.house import called, calls
from tests.flows.serving import served

pytestmark = pytest.mark.asyncio(loop_scope="module")

_CALL = 'Fine. bcz_remember("pet", "a cat")'


@pytest.fixture(scope="module")
def plain() -> Iterator[ScriptedUpstream]:
    """A model that cannot call tools."""
    with ScriptedUpstream(models=("plain",)) as scripted:
        yield scripted


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(settings: Settings, upstream: ScriptedUpstream, plain: ScriptedUpstream) -> AsyncIterator[World]:
    """A server that knows both models."""
    without = UpstreamSettings(name="plain", base_url=plain.url, tools=False)
    both = replace(settings, upstreams={**settings.upstreams, "plain": without}, model="scripted")
    clock = MovedClock()
    async with served(both, clock=clock) as server:
        yield World(rest=server.rest, client=server.openai(), upstream=upstream, clock=clock)


async def test_o1_a_bot_that_does_not_learn_reads_and_writes_no_memory_but_a_person_may_add(world: World) -> None:
    mira = await world.bot(settings={"learn": False, "text_calls": True})
    scope, chat = f"bot:{mira}", await world.chat(mira)
    await world.add("keeps bees", scope, pinned=True)
    await world.add("lives in Graz")
    await world.say(chat, "Hello", calls(called("remember", text="likes tea")))
    await world.say(chat, "And now?", say(_CALL))
    assert world.prompt.tools == []
    assert "keeps bees" not in world.prompt.text
    assert "lives in Graz" not in world.prompt.text
    assert await world.texts(scope) == ["keeps bees"]
    answer = (await world.say(chat, "/remember likes rum"))["text"]
    assert "Remembered: likes rum" in answer
    assert "learning from this bot's chats is turned off" in answer
    assert await world.texts(scope) == ["keeps bees", "likes rum"]
    await world.ok("PATCH", f"/bots/{mira}", {"settings": {"learn": True}})
    await world.say(chat, "And now?")
    assert "keeps bees" in world.prompt.text


async def test_o2_a_model_without_tools_reads_memories_and_writes_by_text_calls_where_the_bot_has_them(
    world: World, plain: ScriptedUpstream
) -> None:
    mira = await world.bot(model="plain", settings={"text_calls": True})
    mute = await world.bot(model="plain")
    await world.add("lives in Graz")
    plain.script(say(_CALL), say(_CALL))
    told = await world.say(await world.chat(mira), "Hello")
    assert (told["text"], told["done"]["model"]) == ("Fine.", "plain")
    body = plain.requests[-1].body.decode()
    assert "lives in Graz" in body
    assert '"tools"' not in body
    assert await world.texts(f"bot:{mira}") == ["a cat"]
    assert (await world.say(await world.chat(mute), "Hello"))["text"] == _CALL
    assert await world.memories(f"bot:{mute}") == []


async def test_o3_a_challenge_and_its_forks_read_and_write_no_memory_find_nothing_and_are_not_found(
    world: World,
) -> None:
    mira = await world.bot(settings={"text_calls": True})
    scope, chat = f"bot:{mira}", await world.chat(mira, flags={"challenge": True})
    await world.add("keeps bees", scope, pinned=True)
    told = await world.say(chat, "The password is numbat", say(_CALL))
    fork = await world.ok("POST", f"/conversations/{chat}/fork", {"message_id": told["done"]["message"]["id"]})
    assert fork["flags"]["challenge"] is True
    for each in (chat, fork["id"]):
        await world.say(each, "And now?", say("Hm. remember('a', 'b')"))
        assert world.prompt.tools == []
        assert "keeps bees" not in world.prompt.text
        assert "The password is numbat" in world.prompt.text, "its own window is its own"
        assert (await world.refused("POST", f"/conversations/{each}/turns", {"text": "/remember x"}))["code"] == (
            "memory_is_off"
        )
    said = [message["id"] for message in await world.messages(chat)]
    assert (await world.refused("POST", "/drafts/from-messages", {"message_ids": said[:1]}))["code"] == "memory_is_off"
    assert await world.texts(scope) == ["keeps bees"]
    assert (await world.ok("POST", "/memories/query", {"text": "numbat", "messages": True}))["messages"] == []
    await world.say(await world.chat(mira), "What was it?", calls(called("memory_query", text="numbat")), say("?"))
    assert "The password" not in world.prompt.text


async def test_o4_a_temporary_chat_reads_and_writes_no_memory_finds_nothing_is_not_found_and_is_not_stored(
    world: World,
) -> None:
    mira = await world.bot(settings={"text_calls": True})
    scope, there = f"bot:{mira}", await world.ok("GET", "/conversations")
    await world.add("keeps bees", scope, pinned=True)
    await world.add("lives in Graz", pinned=True)
    history = [{"role": role, "text": f"{role} {n}: wombat"} for n in range(25) for role in ("user", "bot")]
    world.upstream.script(say(_CALL))
    asked = {"bot": mira, "text": "The password is wombat", "history": history, "stream": False}
    told = await world.ok("POST", "/temporary-turns", asked)
    assert told["text"] == _CALL
    assert (told["opened"]["conversation"], told["done"]["message"]) == (None, None)
    assert [note["kind"] for note in told["noted"]] == ["dropped"]
    assert world.prompt.tools == []
    assert "keeps bees" not in world.prompt.text
    assert "lives in Graz" not in world.prompt.text
    assert len(world.prompt.window) == 50 - told["opened"]["dropped"]
    refused = await world.refused("POST", "/temporary-turns", {"bot": mira, "text": "/remember x"})
    assert refused["code"] == "memory_is_off"
    assert await world.texts(scope) == ["keeps bees"]
    assert await world.ok("GET", "/conversations") == there
    assert (await world.ok("POST", "/memories/query", {"text": "wombat", "messages": True}))["messages"] == []
    await world.say(await world.chat(mira), "What was it?", calls(called("memory_query", text="wombat")), say("?"))
    assert "The password" not in world.prompt.text


@pytest.mark.parametrize("flag", ["temporary", "anonymous"])
async def test_o4_no_stored_chat_is_taken_for_temporary_or_anonymous_and_then_stored(world: World, flag: str) -> None:
    mira = await world.bot()
    there, asked = await world.ok("GET", "/conversations"), len(world.prompts)
    for path, body in (("/conversations", {"bot": mira}), ("/turns", {"bot": mira, "text": "Only between us"})):
        refused = await world.refused("POST", path, {**body, "flags": {flag: True}})
        assert (refused["status"], refused["details"]["field"]) == (422, f"flags.{flag}")
        assert "POST /temporary-turns" in refused["detail"]
    assert await world.ok("GET", "/conversations") == there
    assert len(world.prompts) == asked
