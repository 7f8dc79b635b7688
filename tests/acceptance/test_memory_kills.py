"""Kill -9 while memories are written, undone and erased: every call is done whole or not at all (T1-T7, M14).

Repeat a run with SOUVENANCE_TEST_KILLS=<seed>; steps and moments of kills follow from it, what they hit does not.
"""

from __future__ import annotations

import asyncio
import os
import random
import secrets
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from souvenance.testing import ScriptedUpstream
from tests.acceptance.everything import everything_stored
from tests.acceptance.memory_life import Life, Step
from tests.acceptance.serving import Installation, Server
from tests.acceptance.test_kills import PROBED, SEED
from tests.counts import times
from tests.undo.world import Speaker

KILLS = times(10, full=100)
STEPS_BETWEEN = 6
PURGED_SECONDS = 60.0


@pytest.mark.timeout(times(600, full=7_200))
async def test_kills_leave_no_half_undo_and_no_erased_word(
    database_url: str | None, upstream: ScriptedUpstream, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    seed = int(os.environ.get(SEED) or secrets.randbelow(10**9))
    speaker = Speaker()
    upstream.respond_with(speaker)
    installation = Installation(
        folder=tmp_path / "data",
        model=upstream.url,
        database_url=database_url,
        command=PROBED,
        environment={"SOUVENANCE_TEST_BOUNDARY": str(tmp_path / "boundary")},
    )
    async with Server(installation) as server:
        async with server.rest() as rest:
            life = await begin(rest, random.Random(seed), speaker)
        hits = await live(server, life)
        async with server.rest() as rest:
            await life.settle(rest, [life.plain])
        await no_marker_is_left(installation, life.markers)
    told = ", ".join(f"{name} {count}" for name, count in sorted(hits.items()))
    record_property(
        "proof",
        f"kills among memories, {'SQLite' if database_url is None else 'PostgreSQL'}: {KILLS}, seed {seed}, "
        f"{len(life.markers)} erased words found nowhere; cut off: {told}",
    )


async def begin(rest: httpx2.AsyncClient, chance: random.Random, speaker: Speaker) -> Life:
    """A companion that writes by tools and text calls, and two chats with it."""
    bot = {"name": "Mira", "preset": "companion", "settings": {"text_calls": True}}
    made = (await rest.post("/bots", json=bot)).raise_for_status().json()
    life = Life(bot_id=made["id"], chance=chance, speaker=speaker)
    for _ in range(2):
        chat = (await rest.post("/conversations", json={"bot": "Mira"})).raise_for_status().json()
        life.plain.chats[chat["id"]] = []
    return life


async def live(server: Server, life: Life) -> Counter[str]:
    """Steps with a kill in one of every few; what each kill cut off."""
    hits: Counter[str] = Counter()
    usual: dict[str, float] = {}
    while sum(hits.values()) < KILLS:
        aimed = life.chance.randrange(STEPS_BETWEEN)
        for number in range(aimed + 1):
            async with server.rest() as rest:
                step = await life.next_step(rest)
            after = usual.get(step.name, 0.05) * life.chance.uniform(0, 1.1) if number == aimed else None
            seconds, answered = await take(server, step, after)
            if after is None:
                assert answered, f"{step.name} was not answered: {server.log()[-2_000:]}"
                usual[step.name] = seconds
            else:
                await server.restart()
                hits[f"{step.name} {'answered' if answered else 'in flight'}"] += 1
            async with server.rest() as rest:
                before = life.plain
                await life.settle(rest, step.worlds[-1:] if answered else step.worlds)
            if step.erased and life.plain is not before:
                life.markers.append(step.erased)
    return hits


async def take(server: Server, step: Step, after: float | None) -> tuple[float, bool]:
    """Send a step; with `after` the server is killed so many seconds later. How long it took, and whether it was
    answered; what is answered otherwise than by success is an error of the test.
    """
    loop = asyncio.get_running_loop()
    begun = loop.time()
    kill = None if after is None else loop.call_later(after, server.strike)
    answered = False
    async with server.rest() as rest:
        with suppress(httpx2.TransportError):
            answer = await step.send(rest)
            assert answer.is_success, f"{step.name}: {answer.text}"
            answered = True
    seconds = loop.time() - begun
    if kill is not None:
        await server.gone()
    return seconds, answered


async def no_marker_is_left(installation: Installation, markers: list[str]) -> None:
    """Once the offers have ended, what was erased is in no table and no file."""
    assert markers, "something was erased"
    async with asyncio.timeout(PURGED_SECONDS):
        while _left(markers, await everything_stored(installation)):
            continue


def _left(markers: list[str], stored: bytes) -> list[str]:
    return [marker for marker in markers if marker.encode() in stored]
