"""W1 to W7 through public doors: what every prompt holds of a conversation word for word, and what gives way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from souvenance.settings import Settings
from souvenance.testing import Fault, say
from tests.acceptance.rules.summing import SMALL, Summed, answering, answers
from tests.acceptance.rules.world import World, world_of
from tests.flows.app.house import Prompt
from tests.flows.serving import served

pytestmark = pytest.mark.asyncio(loop_scope="module")

LINE = "the boat called Aurora leaves the harbour at dawn with five sailors"


@pytest.fixture(scope="module")
def limits() -> Mapping[str, float]:
    return SMALL


def _held(prompt: Prompt) -> int:
    """Messages word for word, the newest one with them, which W1 counts too."""
    return len(prompt.window) + 1


async def test_w2_the_level_is_kept_for_the_bot_and_holds_in_all_its_conversations(world: World) -> None:
    one = await Summed.begun(world)
    await world.ok("PUT", f"/bots/{one.bot}/level", {"level": "key_events"})
    other = Summed(world=world, chat=await world.chat(one.bot, channel="web"))
    group = Summed(world=world, chat=await world.chat(one.bot, members=[await world.bot()]))
    apart = await Summed.begun(world)
    for chat, most in ((one, 6), (other, 6), (group, 6), (apart, 10)):
        await chat.talk(6)
        assert (await chat.ask("GET"))["level"] == ("key_events" if most == 6 else "balanced")
        assert most - 2 <= _held(await chat.prompt()) <= most


async def test_w3_a_new_level_holds_from_the_next_message_on_and_never_moves_the_windows_start_back(
    world: World,
) -> None:
    one = await Summed.begun(world)
    await one.talk(7)
    first = (await one.prompt("Before")).window[0]
    written = await one.nodes()
    await one.level("detailed")
    assert (await one.prompt("Wider")).window[0] == first, "the start stays"
    for number in range(2):
        assert (await one.prompt(f"More {number}")).window[0] == first, "there is room now"
    assert await one.nodes() == written, "what was written keeps its level"
    await one.level("key_events")
    assert _held(await one.prompt("Narrower")) <= 9, "key_events, and half as much again until it is summed up (W4)"
    await one.talk(1)
    assert _held(await one.prompt("Narrow")) <= 6
    levels = [node["level"] for node in await one.nodes()]
    assert levels == sorted(levels, key=["balanced", "key_events"].index)
    assert {"balanced", "key_events"} == set(levels) or "merged" in [node["tier"] for node in await one.nodes()]


async def test_w4_while_summarising_lags_no_message_is_in_neither_layer_but_those_that_wait(world: World) -> None:
    one = await Summed.begun(world)
    world.upstream.respond_with(answering("rules_in_force", lambda shown: Fault(status=503)))
    await one.talk(1, "The lighthouse keeper is called Odalric.")
    await one.talk(11)
    prompt, counts = await one.prompt(), await one.counts()
    assert 10 < _held(prompt) <= 15, "half as much again"
    assert (counts["summarised"], counts["waiting"] + counts["in_window"]) == (0, counts["messages"])
    assert counts["waiting"] > 0
    assert "Odalric" not in prompt.text
    found = await world.ok("POST", "/memories/query", {"text": "Odalric", "messages": True})
    assert found["messages"][0]["message"]["text"] == "The lighthouse keeper is called Odalric."
    world.upstream.respond_with(answers)
    await one.worked_off(after=timedelta(hours=1))
    counts = await one.counts()
    assert (counts["waiting"], counts["messages"]) == (0, 26)
    assert "Odalric" in (await one.prompt("And now?")).system


async def test_w4_a_message_leaves_the_window_only_once_its_node_is_stored(world: World) -> None:
    one = await Summed.begun(world)
    for number in range(12):
        prompt = await one.prompt(f"Message {number}.")
        for earlier in range(number):
            in_window = ("user", f"Message {earlier}.") in prompt.window
            assert in_window != (f"] Message {earlier}." in prompt.system), "in exactly one layer"


async def test_w5_the_newest_message_and_the_turn_before_it_are_whole_whatever_w1_says(world: World) -> None:
    one = await Summed.begun(world)
    long = "word " * 11_000
    await one.talk(3)
    prompt = await one.prompt(f"{long}1")
    assert prompt.newest == f"{long}1"
    prompt = await one.prompt(f"{long}2")
    assert (prompt.newest, prompt.window) == (f"{long}2", [("user", f"{long}1"), ("assistant", f"You said: {long}1")])


async def test_w5_a_message_that_cannot_fit_is_refused_with_both_sizes_and_nothing_is_stored(world: World) -> None:
    one = await Summed.begun(world)
    await one.talk(1)
    before = await world.messages(one.chat)
    problem = await world.refused("POST", f"/conversations/{one.chat}/turns", {"text": "word " * 70_000})
    assert problem["code"] == "prompt_too_large"
    assert problem["details"]["needed"] > problem["details"]["available"] > 60_000
    assert await world.messages(one.chat) == before


async def test_w6_the_windows_start_moves_by_whole_turns_in_batches_and_rests_at_three_quarters(world: World) -> None:
    one = await Summed.begun(world)
    prompts = [await one.prompt(f"Message {number}.") for number in range(14)]
    starts = [int(prompt.window[0][1].removeprefix("Message ").rstrip(".")) for prompt in prompts[1:]]
    assert [prompt.window[0][0] for prompt in prompts[1:]] == ["user"] * 13, "it begins with a turn"
    assert {after - before for before, after in pairwise(starts)} == {0, 2}, "two batches of one turn, or none"
    assert [_held(prompt) for prompt in prompts[5:]] == [7, 9] * 4 + [7], "due from 10 on, at rest with 6"
    recent = [node for node in await one.nodes() if node["tier"] == "recent"]
    assert all(node["first"] == node["last"] for node in recent), "a fifth of ten messages is one turn"


async def test_w7_what_gives_way_goes_whole_layer_by_layer_oldest_first_and_is_listed(
    world: World, settings: Settings
) -> None:
    bot: dict[str, Any] = {"settings": {"tools": False}, "system_prompt": "Be kind to all. " * 100}
    one = await Summed.brought(world, "From now on, always answer in rhyme.", turns=25, **bot)
    for number in range(3):
        await world.add(f"Fact {number} {LINE}", f"bot:{one.bot}")
    for number in range(8):
        await world.add(f"Pinned {number} {LINE}", f"bot:{one.bot}", pinned=True)
    assert {node["tier"] for node in await one.nodes()} == {"recent", "merged", "long_term"}
    async with served(replace(settings, limits={**SMALL, "unknown_context": 3_000, "window_share": 0.9})) as server:
        small = Summed(world=world_of(server, world.upstream), chat=one.chat, bot=one.bot)
        problem = await small.world.refused("POST", f"/conversations/{one.chat}/turns", {"text": "zebra " * 1_500})
        over = problem["details"]
        most = "zebra " * (1_500 - (over["needed"] - over["available"]) - 60)
        wholly = await _left_out(small, most)
        prompt = small.world.prompts[-1]
        partly = await _left_out(small, most[:-1_800])
    assert 0 < len(partly) < len(wholly)
    assert _places(partly) == sorted(_places(partly))
    assert _places(wholly) == sorted(_places(wholly))
    assert {one["layer"] for one in wholly} == set(_GIVE_WAY)
    memories = {each["id"]: each["text"] for each in await world.memories(f"bot:{one.bot}")}
    unpinned = [memories[each["item"]][:6] for each in wholly if each["layer"] == "unpinned"]
    assert unpinned == ["Fact 0", "Fact 1", "Fact 2"]
    assert prompt.newest == most
    assert "Pinned 7" in prompt.system, "pinned ones go last of all, the oldest first"


_GIVE_WAY = ("unpinned", "merged", "long_term", "window", "recent", "rules", "pinned")


def _places(left_out: list[dict[str, Any]]) -> list[int]:
    return [_GIVE_WAY.index(each["layer"]) for each in left_out]


async def _left_out(chat: Summed, text: str) -> list[dict[str, Any]]:
    told = await chat.world.say(chat.chat, text, say("Yes."))
    reply = told["done"]["message"]["id"]
    (sent,) = (await chat.world.ok("GET", f"/messages/{reply}/prompts"))["items"]
    left: list[dict[str, Any]] = sent["left_out"]
    return left
