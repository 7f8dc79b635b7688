"""A rebuild through every door, and in processes that die in the midst of it (S7, S8)."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from souvenance import blocking
from souvenance.domain.ids import ConversationId
from souvenance.errors import NoRebuildRuns
from souvenance.library import Souvenance as Memory
from souvenance.server.pace import Pace
from souvenance.settings import Settings
from souvenance.testing import Fault, FrozenClock, Hang, ScriptedUpstream, say
from souvenance.testing.http_exchange import RecordedRequest
from souvenance.testing.script import Reply
from souvenance.testing.summaries import summary_answer
from souvenance.wiring import House, open_house
from tests.flows.commands import Souvenance
from tests.flows.serving import Served, served, settings_for
from tests.flows.test_work_doors import worker

SMALL = {"balanced_messages": 6.0}
TURNS = 6


def answers(request: RecordedRequest) -> Reply:
    return say(summary_answer(json.loads(request.body)["messages"]) or "I see.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A conversation of which some turns are summarised."""

    server: Served
    path: str

    async def ask(self, method: str, path: str = "", body: object = None) -> tuple[int, dict[str, Any]]:
        answer = await self.server.rest.request(method, f"{self.path}{path}", json=body)
        return answer.status_code, answer.json()

    async def work(self) -> None:
        await self.server.house.worker().work_off()


@pytest_asyncio.fixture
async def chat(both_settings: Settings, upstream: ScriptedUpstream) -> AsyncIterator[Chat]:
    upstream.respond_with(answers)
    async with served(replace(both_settings, limits=SMALL), pace=Pace(poll=0.01, patience=30.0)) as server:
        await server.bot()
        chat_id = (await server.rest.post("/conversations", json={"bot": "Mira"})).json()["id"]
        begun = Chat(server=server, path=f"/conversations/{chat_id}/rebuild")
        assert (await begun.ask("POST"))[1]["code"] == "nothing_to_rebuild"
        for number in range(TURNS):
            body = {"text": f"Message {number}.", "stream": False}
            assert (await server.rest.post(f"/conversations/{chat_id}/turns", json=body)).status_code == 200
        await begun.work()
        yield begun


async def test_s7_over_rest_it_is_estimated_begun_followed_and_done(chat: Chat) -> None:
    _, estimate = await chat.ask("GET", "/estimate?level=detailed")
    assert (estimate["level"], estimate["model"], estimate["price"]) == ("detailed", "scripted", None)
    assert (await chat.ask("GET"))[0] == 404
    status, begun = await chat.ask("POST", body={"level": "detailed"})
    assert (status, begun["state"], begun["level"], begun["steps"]) == (201, "running", "detailed", 0)
    assert begun["estimated_in"] == estimate["tokens_in"]
    status, refused = await chat.ask("POST")
    assert (status, refused["code"]) == (409, "rebuild_running")
    async with chat.server.rest.stream("GET", f"{chat.path}/stream") as stream:
        working = asyncio.create_task(chat.work())
        lines = [line async for line in stream.aiter_lines()]
        await working
    seen = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    assert {line for line in lines if line.startswith("event: ")} == {"event: rebuild"}
    assert seen[-1]["state"] == "done"
    assert [one["steps"] for one in seen] == sorted(one["steps"] for one in seen)
    assert seen[-1]["steps"] == estimate["steps"]
    assert (await chat.ask("GET"))[1] == seen[-1]
    (told, *_) = (await chat.server.rest.get("/notifications")).json()["items"]
    assert (told["kind"], told["about"]["rebuild_id"]) == ("rebuild_done", begun["id"])


async def test_s7_over_rest_it_is_paused_resumed_started_over_and_cancelled(chat: Chat) -> None:
    for path in ("/pause", "/resume", "/start-over"):
        assert (await chat.ask("POST", path))[1]["code"] == "no_rebuild_runs"
    _, first = await chat.ask("POST")
    assert (await chat.ask("POST", "/pause"))[1]["state"] == "paused"
    assert (await chat.ask("POST", "/resume"))[1]["state"] == "running"
    status, second = await chat.ask("POST", "/start-over", {"level": "key_events"})
    assert (status, second["level"], second["id"] != first["id"]) == (201, "key_events", True)
    status, last = await chat.ask("DELETE")
    assert (status, last["state"], last["id"]) == (200, "cancelled", second["id"])
    status, refused = await chat.ask("POST", body={"level": "everything"})
    assert (status, refused["code"]) == (422, "invalid_input")
    status, _ = await chat.ask("GET", "/estimate?level=everything")
    assert status == 422


async def test_s7_one_that_cannot_go_on_is_failed_told_of_and_resumed(chat: Chat, upstream: ScriptedUpstream) -> None:
    await chat.ask("POST")
    upstream.respond_with(lambda _: Fault(status=500))
    house = chat.server.house
    once = replace(house.kit, limits=replace(house.kit.limits, work_failures=1))
    await House(kit=once, settings=house.settings, detected=None).worker().work_off()
    _, failed = await chat.ask("GET")
    assert (failed["state"], failed["steps"], bool(failed["reason"])) == ("failed", 0, True)
    (told, *_) = (await chat.server.rest.get("/notifications")).json()["items"]
    assert (told["kind"], told["about"]["reason"]) == ("rebuild_failed", failed["reason"])
    upstream.respond_with(answers)
    assert (await chat.ask("POST", "/resume"))[1]["state"] == "running"
    await chat.work()
    assert (await chat.ask("GET"))[1]["state"] == "done"


@pytest.fixture
def begun(environment: dict[str, str], upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch) -> ConversationId:
    """The id of a conversation whose first turns are summed up, in the installation of the commands."""
    upstream.respond_with(answers)
    for where in (environment.__setitem__, monkeypatch.setenv):
        where("SOUVENANCE_LIMITS_BALANCED_MESSAGES", "6")
    with blocking.open(work=False) as memory:
        talk = memory.begin(bot="Mira")
        for number in range(TURNS):
            memory.say(f"Message {number}.", bot="Mira", conversation=talk)
        memory.work.now()
        return talk.conversation_id


def test_s7_a_command_shows_the_cost_asks_and_rebuilds(
    run: Souvenance, begun: ConversationId, monkeypatch: pytest.MonkeyPatch
) -> None:
    (estimate,) = run("summary", "rebuild", begun, "estimate", "--json").json
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    asked = run("summary", "rebuild", begun)
    assert asked.code == 1
    assert f"scripted gets {estimate['tokens_in']} tokens" in asked.err
    assert run("summary", "rebuild", begun, "status").code == 2
    done = run("summary", "rebuild", begun, "--yes")
    steps = estimate["steps"]
    assert f"\tdone\t{steps} of {steps} steps\t" in done.out
    assert [one["state"] for one in run("summary", "rebuild", begun, "status", "--json").json] == ["done"]
    assert run("summary", "rebuild", begun, "cancel").code == 1


def test_s7_a_script_steers_a_rebuild_and_watches_it(environment: dict[str, str], begun: ConversationId) -> None:
    with blocking.open(work=False) as memory:
        rebuilds = memory.rebuilds
        assert rebuilds.estimate(begun).steps == rebuilds.begin(begun).steps_estimated
        assert rebuilds.pause(begun).state == "paused"
        assert [one.state for one in rebuilds.watch(begun)] == ["paused"]
        assert rebuilds.resume(begun).state == "running"
        assert rebuilds.start_over(begun, level="detailed").level == "detailed"
        memory.work.now()
        assert [one.state for one in rebuilds.watch(begun)] == ["done"]
        with pytest.raises(NoRebuildRuns):
            rebuilds.cancel(begun)
        assert rebuilds.read(begun).level == "detailed"


async def test_s7_killed_in_the_midst_of_a_step_another_process_ends_it_and_pays_only_for_that_step_again(
    environment: dict[str, str], begun: ConversationId, upstream: ScriptedUpstream
) -> None:
    settings = settings_for(Path(environment["SOUVENANCE_FOLDER"]), upstream=upstream, limits=SMALL)
    before, stuck = len(upstream.requests), threading.Event()

    def sticks_at_the_third(request: RecordedRequest) -> Reply:
        if len(upstream.requests) - before == 3 and not stuck.is_set():
            stuck.set()
            return Hang(after=("{",))
        return answers(request)

    upstream.respond_with(sticks_at_the_third)
    async with await open_house(settings) as house:
        estimate = await Memory(house).rebuilds.estimate(begun)
        await Memory(house).rebuilds.begin(begun)
    process = await worker(environment, "--once")
    await asyncio.to_thread(stuck.wait, 60)
    process.kill()
    await process.communicate()
    tomorrow = FrozenClock(datetime.now(UTC) + timedelta(days=1))
    async with await open_house(settings, clock=tomorrow) as house:
        half = await Memory(house).rebuilds.read(begun)
        assert (half.state, half.steps) == ("running", 2)
        await house.worker().work_off()
        done = await Memory(house).rebuilds.read(begun)
    assert (done.state, done.steps) == ("done", estimate.steps)
    assert len(upstream.requests) - before == estimate.steps + 1
