"""S7 and S8 through public doors: a summary written anew beside the one that serves, and swapped in at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from souvenance.settings import Settings
from souvenance.testing import Fault, Hang
from tests.acceptance.rules.summing import SMALL, Summed, answering, answers
from tests.acceptance.rules.world import World, events, world_of
from tests.counts import times
from tests.flows.serving import served

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def limits() -> Mapping[str, float]:
    return SMALL


async def _rebuild(one: Summed, method: str, path: str = "", body: object = None) -> dict[str, Any]:
    told: dict[str, Any] = await one.world.ok(method, f"/conversations/{one.chat}/rebuild{path}", body)
    return told


async def _told(one: Summed) -> list[str]:
    """The kinds of what the person was told about this conversation, newest first."""
    items = (await one.world.ok("GET", "/notifications"))["items"]
    return [each["kind"] for each in items if each["about"].get("conversation_id") == one.chat]


async def test_s7_s8_a_rebuild_says_what_it_costs_runs_behind_and_is_swapped_in_at_once(world: World) -> None:
    one = await Summed.brought(world, turns=11)
    old = await one.nodes()
    await one.ask("PUT", f"/nodes/{old[-1]['id']}", {"text": "## State\n- Edited.", "seen": old[-1]["version"]})
    assert (await one.level("key_events"))["rebuild_offered"] is True
    await one.settled()
    old, summarised = await one.nodes(), (await one.counts())["summarised"]
    asked = len(world.upstream.requests)
    estimate = await _rebuild(one, "GET", "/estimate")
    assert len(world.upstream.requests) == asked, "nothing is sent for it"
    assert (estimate["level"], estimate["messages"], estimate["edited"]) == ("key_events", summarised, 1)
    world.upstream.respond_with(answering("rules_in_force", lambda shown: Hang()))
    begun = await _rebuild(one, "POST")
    await world.upstream.arrived(asked + 1)
    assert (begun["state"], await one.nodes()) == ("running", old), "until then the old summary serves"
    assert old[0]["text"].splitlines()[-1] in (await _while_it_runs(one, "Still there?")).system
    world.upstream.respond_with(answers)
    world.upstream.release()
    await one.settled()
    await one.worked_off(after=timedelta(hours=1))
    done = await _rebuild(one, "GET")
    assert (done["state"], done["level"]) == ("done", "key_events")
    assert abs(done["spent_in"] - estimate["tokens_in"]) <= 0.15 * done["spent_in"]
    assert done["spent_out"] <= estimate["tokens_out"]
    new = await one.nodes()
    assert {node["level"] for node in new} == {"key_events"}
    assert {node["id"] for node in new}.isdisjoint(node["id"] for node in old)
    assert not any(node["edited"] for node in new)
    assert (await _told(one))[0] == "rebuild_done"
    heard = events((await world.ask("GET", f"/conversations/{one.chat}/rebuild/stream")).text)
    assert (heard[-1][0], heard[-1][1]["state"]) == ("rebuild", "done")


async def _while_it_runs(one: Summed, text: str) -> Any:
    await one.world.say(one.chat, text)
    return one.sent(text)


async def test_s7_a_paused_rebuild_outlives_the_server_and_goes_on_without_paying_twice(
    world: World, settings: Settings
) -> None:
    one = await Summed.brought(world, turns=11)
    since = len(one.questions("rules_in_force"))
    turns = iter(range(3))
    world.upstream.respond_with(lambda request: answers(request) if next(turns, None) is not None else Hang())
    await _rebuild(one, "POST")
    await world.upstream.arrived(len(world.upstream.requests) + 1)
    paused = await _rebuild(one, "POST", "/pause")
    assert paused["state"] == "paused"
    world.upstream.respond_with(answers)
    world.upstream.release()
    await one.settled()
    await one.worked_off(after=timedelta(hours=1))
    assert (await _rebuild(one, "GET"))["state"] == "paused"
    async with served(settings, clock=world.clock) as server:
        there = replace(one, world=world_of(server, world.upstream, world.clock))
        await _rebuild(there, "POST", "/resume")
        await there.worked_off()
        assert (await _rebuild(there, "GET"))["state"] == "done"
    firsts = [shown["messages"][0]["text"] for shown in one.questions("rules_in_force")[since:]]
    assert len(firsts) - len(set(firsts)) <= 1, "only the step that was in hand is asked again"


async def test_s7_cancelled_it_leaves_the_old_summary_and_it_can_be_started_over(world: World) -> None:
    one = await Summed.brought(world, turns=11)
    old = await one.nodes()
    world.upstream.respond_with(answering("rules_in_force", lambda shown: Fault(status=503)))
    first = await _rebuild(one, "POST")
    assert (await world.refused("POST", f"/conversations/{one.chat}/rebuild"))["code"] == "rebuild_running"
    again = await _rebuild(one, "POST", "/start-over", {"level": "detailed"})
    assert (again["id"] != first["id"], again["level"]) == (True, "detailed")
    assert (await _rebuild(one, "DELETE"))["state"] == "cancelled"
    assert await one.nodes() == old
    assert (await world.refused("POST", f"/conversations/{one.chat}/rebuild/resume"))["code"] == "no_rebuild_runs"


async def test_s7_when_the_model_stays_away_the_person_is_told_and_may_resume_it(world: World) -> None:
    one = await Summed.brought(world, turns=11)
    world.upstream.respond_with(answering("rules_in_force", lambda shown: Fault(status=503)))
    await _rebuild(one, "POST")
    await one.settled()
    for _ in range(5):
        await one.worked_off(after=timedelta(days=1))
    failed = await _rebuild(one, "GET")
    assert (failed["state"], failed["reason"], (await _told(one))[0]) == ("failed", "model_refused", "rebuild_failed")
    world.upstream.respond_with(answers)
    await _rebuild(one, "POST", "/resume")
    await one.settled()
    assert (await _rebuild(one, "GET"))["state"] == "done"


async def test_s7_new_messages_are_summarised_only_if_it_must_be_and_what_was_said_since_is_kept(world: World) -> None:
    one = await Summed.brought(world, turns=11)
    world.upstream.respond_with(answering("rules_in_force", lambda shown: Fault(status=503)))
    rebuild = await _rebuild(one, "POST")
    await one.talk(3, "Since {number}.")
    assert all(node["last"] <= rebuild["up_to"] for node in await one.nodes())
    world.upstream.respond_with(answers)
    await one.worked_off(after=timedelta(hours=1))
    await one.worked_off(after=timedelta(hours=1))
    assert (await _rebuild(one, "GET"))["state"] == "done"
    nodes, prompt = await one.nodes(), await one.prompt()
    assert all(earlier["last"] + 1 == later["first"] for earlier, later in pairwise(nodes))
    for number in range(3):
        in_window = ("user", f"Since {number}.") in prompt.window
        assert in_window != (f"] Since {number}." in prompt.system)


async def test_bad_input_of_nothing_nothing_is_rebuilt_nor_at_a_level_that_does_not_exist(world: World) -> None:
    one = await Summed.begun(world)
    path = f"/conversations/{one.chat}/rebuild"
    assert (await world.refused("POST", path))["code"] == "nothing_to_rebuild"
    assert (await world.refused("GET", f"{path}/estimate"))["code"] == "nothing_to_rebuild"
    assert (await world.refused("GET", path))["status"] == 404
    assert (await world.refused("POST", path, {"level": "everything"}))["status"] == 422
    await one.talk(1)
    assert (await world.refused("POST", path))["code"] == "nothing_to_rebuild"


async def test_bad_input_one_enormous_message_and_a_very_long_conversation_are_rebuilt(world: World) -> None:
    huge = await Summed.brought(world, "word " * 8_000, turns=7)
    assert (await huge.rebuilt())["state"] == "done"
    long = await Summed.brought(world, turns=times(14, full=5_000))
    done = await long.rebuilt()
    assert done["up_to"] >= times(14, full=5_000) - 5
    nodes = await long.nodes()
    assert all(earlier["last"] + 1 == later["first"] for earlier, later in pairwise(nodes))
