"""Kill -9 at random moments of a replay: nothing that was acknowledged is missing or doubled (T6).

Repeat a run with SOUVENANCE_TEST_KILLS=<seed>; the moments of kills follow from it, what they hit does not.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import secrets
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest

from souvenance.testing import ScriptedUpstream
from tests.acceptance.dialogue import exchanges
from tests.acceptance.replay import PIECES, Cut, Fact, Replay
from tests.acceptance.serving import Installation, Server
from tests.acceptance.stored import conversation_ids, listed, make_notebook, messages, read
from tests.counts import times

if TYPE_CHECKING:
    from openai import AsyncOpenAI

KILLS = times(10, full=100)
MESSAGES = times(120, full=300)
BETWEEN = 0.004
WARM_TURNS = 3
SEED = "SOUVENANCE_TEST_KILLS"
PROBED = (sys.executable, "-m", "tests.acceptance.probed_serve")

log = logging.getLogger(__name__)


@pytest.mark.timeout(times(600, full=7_200))
async def test_kills_at_random_moments_lose_and_double_nothing(
    database_url: str | None, upstream: ScriptedUpstream, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    seed = int(os.environ.get(SEED) or secrets.randbelow(10**9))
    boundary = tmp_path / "boundary"
    installation = Installation(
        folder=tmp_path / "data",
        model=upstream.url,
        database_url=database_url,
        command=PROBED,
        environment={"SOUVENANCE_TEST_BOUNDARY": str(boundary)},
    )
    dialogue = exchanges(MESSAGES)
    facts = {at: Fact(key=f"fact_{at}", value=f"told in turn {at}") for at in range(1, len(dialogue), 2)}
    replay = Replay(dialogue=dialogue, model="Ledger", facts=facts, between=BETWEEN)
    upstream.respond_with(replay.answer)
    async with Server(installation) as server:
        async with server.rest() as rest:
            await make_notebook(rest, replay.model)
        killer = Killer(server=server, replay=replay, boundary=boundary, moments=moments(seed, len(dialogue)))
        await killer.go_on_to_the_end()
        async with server.rest() as rest:
            await check_stored(rest, replay)
            await check_written_once(rest)
    hits = ", ".join(f"{hit} {count}" for hit, count in sorted(killer.hits.items()))
    record_property(
        "proof",
        f"kills, {'SQLite' if database_url is None else 'PostgreSQL'}: {KILLS} in {len(replay.messages)} messages, "
        f"seed {seed}; last boundary passed: {hits}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When to kill: `after` of a usual turn's time after so many pieces of turn `turn` were heard, or after its end
    when it has no more pieces than that.
    """

    turn: int
    pieces: int
    after: float


def moments(seed: int, turns: int) -> list[Moment]:
    """Moments that follow from the seed, the last one first; several may fall into one turn."""
    chance = random.Random(seed)
    chosen = sorted(chance.choices(range(WARM_TURNS, turns), k=KILLS), reverse=True)
    return [Moment(turn=turn, pieces=chance.randrange(PIECES), after=chance.uniform(0, 0.4)) for turn in chosen]


@dataclass(slots=True, kw_only=True)
class Killer:
    """Drives the replay, and kills the server at the moments that are left."""

    server: Server
    replay: Replay
    boundary: Path
    moments: list[Moment]
    hits: Counter[str] = field(default_factory=Counter)
    _usual: float = 0.1
    _aimed: bool = False

    async def go_on_to_the_end(self) -> None:
        self.replay.hear = self._hear
        async with self.server.openai() as client:
            while self.moments or self._aimed or not self.replay.is_over:
                if self.replay.is_over or not await self._survives(client):
                    await self._begin_anew()

    def _hear(self, pieces: int) -> None:
        """Aim once it is time to."""
        if self._aimed or not self.moments:
            return
        moment, turn = self.moments[-1], self.replay.turns
        if turn > moment.turn or (turn == moment.turn and pieces >= moment.pieces):
            self.moments.pop()
            self._aimed = True
            asyncio.get_running_loop().call_later(moment.after * self._usual, self.server.strike)

    async def _survives(self, client: AsyncOpenAI) -> bool:
        """Whether the server lived through one turn; how long those take that are not to be killed is learnt."""
        clock = asyncio.get_running_loop().time
        begun = clock()
        try:
            await self.replay.take_turn(client)
        except Cut:
            return False
        if not self._aimed:
            self._usual += (clock() - begun - self._usual) / 2
        self._hear(0)
        return True

    async def _begin_anew(self) -> None:
        """Once the kill has come: say what it hit, start again, and look at once what is stored."""
        assert self._aimed, f"the server ended by itself: {self.server.log()[-2_000:]}"
        await self.server.gone()
        self._aimed = False
        hit = self.boundary.read_text(encoding="utf-8").strip()
        self.hits[hit] += 1
        log.info("killed in turn %d, last boundary %s", self.replay.turns, hit)
        await self.server.start()
        async with self.server.rest() as rest:
            await check_stored(rest, self.replay)
        if self.replay.is_over:
            self._hear(0)


async def check_stored(rest: httpx2.AsyncClient, replay: Replay) -> None:
    """All that was acknowledged is there once, nothing else but the turn in hand, and no turn is half (T6)."""
    conversations = await conversation_ids(rest)
    assert len(conversations) <= 1, "a repeated request never opens a second conversation (I3)"
    found = await messages(rest, conversations[0]) if conversations else []
    assert replay.acknowledged <= len(found) <= 2 * replay.turns + 2
    assert [(message["role"], message["text"]) for message in found] == replay.messages[: len(found)]
    assert {message["state"] for message in found} <= {"whole"}
    if found:
        turn = (await read(rest, f"/turns/{found[-1]['turn_id']}"))["turn"]
        assert turn["state"] == ("whole" if found[-1]["role"] == "bot" else "open")
    kept = {memory["key"]: memory["value"] for memory in await listed(rest, "/memories")}
    assert kept == {fact.key: fact.value for at, fact in replay.facts.items() if at < len(found) // 2}


async def check_written_once(rest: httpx2.AsyncClient) -> None:
    """Every memory has exactly one operation and one source."""
    for memory in await listed(rest, "/memories"):
        history = (await read(rest, f"/memories/{memory['id']}/history"))["items"]
        assert [operation["intent"] for operation in history] == ["add"]
        assert len(memory["evidence"]) == 1
