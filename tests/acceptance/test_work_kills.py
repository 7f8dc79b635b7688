"""Kill -9 of workers at random moments, two of them on one database: each piece's results are stored exactly once.

Repeat a run with SOUVENANCE_TEST_KILLS=<seed>; the moments of kills follow from it, what they hit does not.
"""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from souvenance.app.due_work import Work, make_due
from souvenance.app.work import list_work
from souvenance.domain.ids import ConversationId
from souvenance.ports.store import Unit
from souvenance.settings import DatabaseUrl, Settings
from souvenance.testing import ScriptedModel
from souvenance.wiring import House, open_house
from tests.acceptance.probed_worker import PACE, ROUNDS, STEPS
from tests.acceptance.serving import ROOT, scrubbed
from tests.counts import times
from tests.flows.worker.pieces import all_results

KILLS = times(4, full=110)
PIECES = 3
"""Conversations that get something of both kinds to do with each kill."""
WORKER = (sys.executable, "-m", "tests.acceptance.probed_worker")


@pytest.mark.timeout(times(600, full=7_200))
async def test_z2_workers_that_are_killed_lose_and_double_nothing(
    database_url: str | None, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    seed = int(os.environ.get("SOUVENANCE_TEST_KILLS") or secrets.randbelow(10**9))
    url = None if database_url is None else DatabaseUrl(database_url)
    settings = Settings(folder=tmp_path, database_url=url, detect_local=False, detect_keys=False)
    async with await open_house(settings, models=ScriptedModel(), steps=STEPS, pace=PACE) as house:
        put, hits = await kill_workers(house, random.Random(seed))
        await work_to_the_end(house)
        results = await house.kit.store.read(house.owner_id, all_results, label="results.read")
    kinds, numbers = ("summary", "deeper"), range(1, ROUNDS + 1)
    once = Counter((kind, chat, number) for kind in kinds for chat in put for number in numbers)
    assert Counter((each["kind"], each["subject"], each["number"]) for each in results) == once
    listed = ", ".join(f"{hit} {count}" for hit, count in sorted(hits.items()))
    where = "SQLite" if database_url is None else "PostgreSQL"
    record_property(
        "proof", f"kills of workers, {where}: {KILLS}, {len(results)} results, seed {seed}; last boundary: {listed}"
    )


async def kill_workers(house: House, chance: random.Random) -> tuple[list[ConversationId], Counter[str]]:
    """Two workers, one of which is killed after a few of its commit boundaries and replaced, again and again; what was
    put before them, and the last boundaries of the killed.
    """
    put: list[ConversationId] = []
    hits: Counter[str] = Counter()
    crew = [await start(house.settings), await start(house.settings)]
    try:
        for kill in range(KILLS):
            new = [ConversationId(f"con_{kill}x{number}") for number in range(PIECES)]
            await put_due(house, new)
            put += new
            victim = crew.pop(0)
            hits[await passed(victim, chance.randrange(1, 12))] += 1
            victim.kill()
            crew.append(await start(house.settings))
            await victim.communicate()
    finally:
        for one in crew:
            one.kill()
            await one.communicate()
    return put, hits


async def start(settings: Settings) -> Process:
    database = {} if settings.database_url is None else {"SOUVENANCE_DATABASE_URL": str(settings.database_url)}
    variables = {"SOUVENANCE_FOLDER": str(settings.folder), **database}
    return await asyncio.create_subprocess_exec(
        *WORKER, cwd=ROOT, env=scrubbed(settings.folder, variables), stdin=DEVNULL, stdout=PIPE
    )


async def passed(worker: Process, boundaries: int) -> str:
    """The last of so many commit boundaries that it passes from now on, or of fewer when there is nothing to do."""
    assert worker.stdout is not None
    last = "none"
    with suppress(TimeoutError):
        async with asyncio.timeout(10):
            for _ in range(boundaries):
                line = await worker.stdout.readline()
                assert line, "the worker ended by itself"
                last = line.decode().strip()
    return last


async def put_due(house: House, chats: list[ConversationId]) -> None:
    now = house.kit.clock.now()

    def work(unit: Unit) -> None:
        for chat in chats:
            make_due(unit, Work.SUMMARY, chat, house.owner_id, now)
            make_due(unit, Work.DEEPER, chat, house.owner_id, now)

    await house.kit.store.write(house.owner_id, work, label="work.due")


async def work_to_the_end(house: House) -> None:
    """A worker of this process takes over what the killed ones had, until nothing is left."""
    stop = asyncio.Event()
    running = asyncio.create_task(house.worker().run(stop))
    async with asyncio.timeout(300):
        while (await list_work(house.kit, house.owner_id)).items:
            await asyncio.wait({running}, timeout=PACE.idle)
    stop.set()
    await running
