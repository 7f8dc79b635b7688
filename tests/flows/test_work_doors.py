"""Background work through every door: REST, the library, commands, the worker beside a server (HOUSE, journey 2)."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import souvenance
from souvenance.app.due_work import Stepped, Work, make_due
from souvenance.app.kit import Kit
from souvenance.domain.due import Due
from souvenance.domain.ids import ConversationId
from souvenance.errors import ModelUnreachable, NotFound
from souvenance.library import Souvenance as Memory
from souvenance.settings import Settings
from souvenance.testing import ScriptedModel
from souvenance.wiring import House, open_house
from souvenance.worker.pace import Pace
from tests.flows.commands import Souvenance
from tests.flows.serving import Served, settings_for
from tests.flows.test_cli import program
from tests.flows.worker.pieces import Gate, all_results, counting_step

CHAT = ConversationId("con_1")
PROGRAM = (sys.executable, "-c", "import sys; from souvenance.cli import main; sys.exit(main())")


async def put(house: House, kind: Work = Work.SUMMARY) -> None:
    now = house.kit.clock.now()
    await house.kit.store.write(
        house.owner_id, lambda unit: make_due(unit, kind, CHAT, house.owner_id, now), label="work.due"
    )


async def park(house: House) -> None:
    """Due work that failed too often."""

    async def fail(_: Kit, __: Due) -> Stepped:
        raise ModelUnreachable("llama", reason="connection refused")

    await put(house)
    once = replace(house.kit, limits=replace(house.kit.limits, work_failures=1))
    failing = House(kit=once, settings=house.settings, detected=None, steps={Work.SUMMARY: fail})
    await failing.worker().work_off()


async def test_s1_parked_work_is_seen_told_of_and_started_again_over_rest(both: Served) -> None:
    await park(both.house)
    (parked,) = (await both.rest.get("/work")).json()["items"]
    assert (parked["kind"], parked["conversation_id"], parked["state"]) == ("summary", CHAT, "parked")
    assert (parked["reason"], parked["lease_until"]) == ("model_unreachable", None)
    (told,) = (await both.rest.get("/notifications")).json()["items"]
    assert (told["kind"], told["about"]["conversation_id"]) == ("work_parked", CHAT)
    restarted = await both.rest.post(f"/work/summary/{CHAT}/restart")
    assert (restarted.status_code, restarted.json()["state"], restarted.json()["failures"]) == (200, "waiting", 0)
    again = await both.rest.post(f"/work/summary/{CHAT}/restart")
    assert (again.status_code, again.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("path", ["summary/con_404", "nonsense/con_1", "summary/What?", "summary/" + "x" * 300])
async def test_starting_again_what_is_not_there_is_no_such_thing(server: Served, path: str) -> None:
    answer = await server.rest.post(f"/work/{path}/restart")
    assert answer.status_code == 404


async def test_a_cursor_of_another_list_is_refused(server: Served) -> None:
    answer = await server.rest.get("/work", params={"cursor": "bm9uc2Vuc2U"})
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_value")


@asynccontextmanager
async def memory_on(house: House) -> AsyncIterator[Memory]:
    """The library over an opened house, with a worker beside it as `souvenance.open` has it."""
    async with house.at_work(grace=0.0):
        yield Memory(house)


async def opened(settings: Settings, gate: Gate) -> House:
    return await open_house(
        settings, models=ScriptedModel(), steps={Work.SUMMARY: counting_step(gate)}, pace=Pace(at_once=1)
    )


async def test_the_opened_library_works_beside_and_closing_gives_back_what_is_in_hand(
    both_settings: Settings,
) -> None:
    gate = Gate()
    async with await opened(both_settings, gate) as house:
        async with memory_on(house):
            await put(house)
            await gate.reached()
        async with await opened(replace(both_settings, work=False), Gate()) as other:
            (given_back,) = [due async for due in Memory(other).work.list()]
            assert (given_back.state, given_back.attempts) == ("waiting", 0)


async def test_a_script_that_works_by_itself_does_what_is_due_and_reads_the_counts(both_settings: Settings) -> None:
    gate = Gate()
    gate.open.set()
    async with await opened(replace(both_settings, work=False), gate) as house:
        await put(house)
        async with memory_on(house) as memory:
            assert await memory.work.now() == {"done": 1}
            assert await memory.work.now() == {}
            with pytest.raises(NotFound):
                await memory.work.restart(Work.SUMMARY, CHAT)
        assert len(await house.kit.store.read(house.owner_id, all_results, label="results.read")) == 1


async def test_souvenance_open_does_what_is_due_unless_told_not_to(tmp_path: Path) -> None:
    folder = settings_for(tmp_path / "data").folder
    for work in (False, True):
        async with await open_house(settings_for(folder), models=ScriptedModel()) as house:
            await put(house)  # A summary of a conversation that is gone: there is nothing to do but to end it.
        async with souvenance.open(folder, model=ScriptedModel(), work=work) as memory:
            if work:
                async with asyncio.timeout(60):
                    while [due async for due in memory.work.list()]:
                        await memory.work.now()
            else:
                assert len([due async for due in memory.work.list()]) == 1


def test_work_is_listed_and_restarted_by_commands(run: Souvenance, tmp_path: Path) -> None:
    async def prepare() -> None:
        async with await open_house(settings_for(tmp_path / "data"), models=ScriptedModel()) as house:
            await park(house)

    asyncio.run(prepare())
    assert run("work", "list").out.split("\t")[:3] == ["summary", CHAT, "parked"]
    assert [piece["reason"] for piece in run("work", "list", "--json").json] == ["model_unreachable"]
    assert run("work", "restart", "summary", CHAT).out == f"summary\t{CHAT}\tdue again\n"
    refused = run("work", "restart", "summary", CHAT)
    assert (refused.code, "no parked or postponed work" in refused.err) == (2, True)


async def worker(environment: dict[str, str], *arguments: str) -> Process:
    """The command, in a process of its own: it sets up that process's log."""
    return await asyncio.create_subprocess_exec(
        *PROGRAM, "worker", *arguments, env=environment, stdout=PIPE, stderr=PIPE
    )


async def test_the_worker_command_does_once_what_is_due(environment: dict[str, str], tmp_path: Path) -> None:
    async with await open_house(settings_for(tmp_path / "data"), models=ScriptedModel()) as house:
        await put(house)
    for arguments, said in ((("--json",), '{"done":1}\n'), ((), "nothing was due\n")):
        out, _ = await (await worker(environment, "--once", *arguments)).communicate()
        assert out.decode() == said


async def test_the_worker_command_works_until_it_is_told_to_stop(environment: dict[str, str], tmp_path: Path) -> None:
    async with await open_house(settings_for(tmp_path / "data"), models=ScriptedModel()) as house:
        await put(house)
        process = await worker(environment, "--json")
        assert process.stderr is not None
        async with asyncio.timeout(60):
            while b"step_ended" not in await process.stderr.readline():
                continue
        process.send_signal(signal.SIGTERM)
        out, _ = await process.communicate()
        assert (process.returncode, json.loads(out)) == (0, {"done": 1})


@pytest.mark.parametrize("works", [True, False])
def test_a_worker_works_inside_serve_unless_it_is_switched_off(
    environment: dict[str, str], run: Souvenance, tmp_path: Path, *, works: bool
) -> None:
    async def prepare() -> None:
        async with await open_house(settings_for(tmp_path / "data"), models=ScriptedModel()) as house:
            await put(house)

    asyncio.run(prepare())
    with program(environment, "serve", "--port", "0", "--work" if works else "--no-work") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        while works and "step_ended" not in process.stderr.readline():
            continue
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
    left = [(piece["kind"], piece["state"]) for piece in run("work", "list", "--json").json]
    assert left == ([] if works else [("summary", "waiting")])
