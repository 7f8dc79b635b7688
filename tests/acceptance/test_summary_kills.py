"""Kill -9 of a server that sums up while it talks: no turn is lost or told twice, and every rule is kept once (S1, S4).

Repeat a run with SOUVENANCE_TEST_KILLS=<seed>; the moments of kills follow from it, what they hit does not.
"""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from souvenance.domain.ids import ConversationId
from souvenance.settings import DatabaseUrl, Settings
from souvenance.testing import FrozenClock, ScriptedModel, ScriptedUpstream
from souvenance.wiring import open_house
from tests.acceptance.dialogue import Exchange, exchanges
from tests.acceptance.replay import PIECES, Replay
from tests.acceptance.serving import Installation, Server
from tests.acceptance.stored import conversation_ids
from tests.acceptance.test_kills import BETWEEN, PROBED, SEED, WARM_TURNS, Killer, Moment
from tests.counts import times
from tests.flows.app.house import House
from tests.flows.app.summarising import answers
from tests.flows.app.test_summary_story import every_turn_stands_once

KILLS = times(2, full=100)
MESSAGES = times(30, full=300)
LIMITS = {"BALANCED_MESSAGES": "10", "BATCH_MESSAGES": "2", "NODES_MERGED": "2"}
RULES = ("From now on, always answer in one sentence.", "Never mention the sea again, whatever I say!")
LATER = datetime.now(UTC) + timedelta(days=1)
"""After which every lease has expired and every pause has passed."""


@pytest.mark.timeout(times(600, full=7_200))
async def test_s1_s4_kills_of_a_server_that_sums_up_lose_and_double_nothing(
    database_url: str | None, upstream: ScriptedUpstream, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    seed = int(os.environ.get(SEED) or secrets.randbelow(10**9))
    boundary = tmp_path / "boundary"
    limits = {f"SOUVENANCE_LIMITS_{name}": figure for name, figure in LIMITS.items()}
    installation = Installation(
        folder=tmp_path / "data",
        model=upstream.url,
        database_url=database_url,
        command=PROBED,
        environment={"SOUVENANCE_TEST_BOUNDARY": str(boundary), **limits},
    )
    replay = Replay(dialogue=ruled(exchanges()[: MESSAGES // 2]), model="scripted@Mira", between=BETWEEN)
    upstream.respond_with(replay.answer)
    async with Server(installation) as server:
        killer = Killer(server=server, replay=replay, boundary=boundary, moments=moments(seed))
        await killer.go_on_to_the_end()
        async with server.rest() as rest:
            (chat,) = await conversation_ids(rest)
    nodes = await check_summary(installation, ConversationId(chat), replay)
    hits = ", ".join(f"{hit} {count}" for hit, count in sorted(killer.hits.items()))
    where = "SQLite" if database_url is None else "PostgreSQL"
    record_property("proof", f"kills while summing up, {where}: {KILLS}, {nodes} nodes, seed {seed}; last: {hits}")


def ruled(dialogue: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """The dialogue, in which the user first gives the rules."""
    return (*(replace(turn, said=rule) for turn, rule in zip(dialogue, RULES, strict=False)), *dialogue[len(RULES) :])


def moments(seed: int) -> list[Moment]:
    """Moments that follow from the seed, the last one first: in a reply, or in what is done after it."""
    chance = random.Random(seed)
    chosen = sorted(chance.choices(range(WARM_TURNS, MESSAGES // 2), k=KILLS), reverse=True)
    return [Moment(turn=turn, pieces=chance.randrange(PIECES), after=chance.uniform(0, 2)) for turn in chosen]


async def check_summary(installation: Installation, chat: ConversationId, replay: Replay) -> int:
    """Once what was left is done, every turn stands in one place and each rule was found once; how many nodes."""
    url = None if installation.database_url is None else DatabaseUrl(installation.database_url)
    limits = {name.lower(): float(figure) for name, figure in LIMITS.items()}
    settings = Settings(
        folder=installation.folder, database_url=url, detect_local=False, detect_keys=False, limits=limits
    )
    async with await open_house(settings, models=ScriptedModel(respond=answers), clock=FrozenClock(LATER)) as opened:
        await opened.worker().work_off()
        house = House(kit=opened.kit, model=ScriptedModel(), clock=FrozenClock(), owner=opened.owner_id)
        conversation = await house.read(lambda unit: unit.conversations.get(chat))
        await every_turn_stands_once(house, conversation)
        assert (conversation.messages, conversation.waiting) == (len(replay.messages), 0)
        rules = await house.read(lambda unit: unit.summaries.rules(chat))
        told = [rule for rule in rules if rule.text in RULES]
        assert [(rule.text, len(rule.sources)) for rule in told] == [(text, 1) for text in RULES]
        assert await house.read(lambda unit: unit.due.every()) == []
        return len(await house.read(lambda unit: unit.summaries.all(chat)))
