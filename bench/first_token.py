"""Time to first token while a summariser hangs, against none at work (S1): `python -m bench.first_token [--pairs 8]`.

`souvenance serve` with its worker, and a scripted upstream that answers chats and leaves every summary question without
an answer. Pairs of conversations with the same words: one at the level `balanced`, whose oldest turns are due, one at
`detailed`, whose window has room for them. Turns in both, in turn; the windows stay alike, since nothing leaves one
before it is summarised (W4).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, closing
from itertools import islice
from pathlib import Path
from typing import Any

from bench.figures import median_ms, p95_ms, print_line
from bench.proxy import served
from bench.rest import Rest
from bench.talk import endless
from bench.world import PINNED, UNPINNED, Said, Speech, plant
from souvenance.app.bots import NewBot, create_bot
from souvenance.app.conversations import NewConversation, open_conversation
from souvenance.app.due_work import Work, make_due
from souvenance.app.kit import Kit
from souvenance.app.remember import NewMemory, remember_many
from souvenance.domain.ids import LOCAL_ACCOUNT, BotId, ConversationId
from souvenance.domain.limits import Level
from souvenance.domain.memory import ACCOUNT_SCOPE
from souvenance.ports.store import Unit
from souvenance.settings import read_settings
from souvenance.testing import RecordedRequest, ScriptedModel, ScriptedUpstream
from souvenance.testing.script import Hang, Reply, Text
from souvenance.testing.summaries import summary_answer
from souvenance.wiring import open_house

AIM_APART_MS = 50
BEGUN, TURNS = 21, 12
"""From one turn past the room of `balanced` to one before that of `detailed` is gone."""
WARM_UP = 2
LEVELS = {"due": Level.BALANCED, "none_due": Level.DETAILED}


class HangingSummariser:
    """A responder: `asked` counts the summary questions, none of which it answers."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, request: RecordedRequest) -> Reply:
        messages: list[dict[str, Any]] = json.loads(request.body)["messages"]
        if summary_answer(messages) is None:
            return Text(chunks=tuple(f"word{at} " for at in range(20)))
        self.asked += 1
        return Hang()


Pair = dict[str, ConversationId]
"""Two conversations with the same words, by whether anything of them is due."""


async def prepare(folder: Path, pairs: int, said: Sequence[Said]) -> list[Pair]:
    """The account's memories and the conversations, those that are due marked so."""
    speech = Speech(seed=2)
    settings = read_settings({"folder": folder}, environment={})
    async with await open_house(settings, models=ScriptedModel()) as house:
        facts = [
            NewMemory(text=speech.fact(number), scope=ACCOUNT_SCOPE, pinned=number < PINNED)
            for number in range(PINNED + UNPINNED)
        ]
        await remember_many(house.kit, LOCAL_ACCOUNT, facts)
        bots = {name: await _bot(house.kit, name, level) for name, level in LEVELS.items()}
        return [
            {name: await _talk(house.kit, bot_id, name, said) for name, bot_id in bots.items()} for _ in range(pairs)
        ]


async def _bot(kit: Kit, name: str, level: Level) -> BotId:
    bot = await create_bot(kit, LOCAL_ACCOUNT, NewBot(name=name, system_prompt="You are Maren, of a small museum."))
    await kit.store.write(LOCAL_ACCOUNT, lambda unit: unit.levels.set(bot.bot_id, level), label="bench.level")
    return bot.bot_id


async def _talk(kit: Kit, bot_id: BotId, name: str, said: Sequence[Said]) -> ConversationId:
    begun = await open_conversation(kit, LOCAL_ACCOUNT, NewConversation(bot_id=bot_id))
    here = (await plant(kit, LOCAL_ACCOUNT, begun, said)).conversation_id

    def make(unit: Unit) -> None:
        make_due(unit, Work.SUMMARY, here, LOCAL_ACCOUNT, kit.clock.now())

    if name == "due":
        await kit.store.write(LOCAL_ACCOUNT, make, label="bench.due")
    return here


def measure(rest: Rest, pairs: Sequence[Pair], said: Sequence[Said]) -> dict[str, list[float]]:
    """Seconds to the first token by what is due, the first of two changing sides."""
    taken: dict[str, list[float]] = {name: [] for name in LEVELS}
    for pair in pairs:
        for number, turn in enumerate(said):
            for name in sorted(LEVELS, reverse=bool(number % 2)):
                passed = rest.first_token(pair[name], turn.user)
                if number >= WARM_UP:
                    taken[name].append(passed)
    return taken


def report(taken: dict[str, list[float]], *, asked: int) -> dict[str, object]:
    """`apart_ms` is the difference of the medians, `apart_p95_ms` the 95th percentile of the pairs' differences."""
    due, none = taken["due"], taken["none_due"]
    return {
        "apart_ms": round((statistics.median(due) - statistics.median(none)) * 1_000, 2),
        "apart_p95_ms": p95_ms([one - other for one, other in zip(due, none, strict=True)]),
        "due_median_ms": median_ms(due),
        "due_p95_ms": p95_ms(due),
        "none_due_median_ms": median_ms(none),
        "none_due_p95_ms": p95_ms(none),
        "turns": len(due),
        "summary_questions_left_hanging": asked,
    }


def main() -> None:
    """Measure and print one JSON line."""
    parser = argparse.ArgumentParser(prog="python -m bench.first_token", description=main.__doc__)
    parser.add_argument("--pairs", type=int, default=8, help="pairs of conversations, ten turns that count in each")
    options = parser.parse_args()
    summariser = HangingSummariser()
    talk = list(islice(endless(None), BEGUN + TURNS))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="souvenance-bench-")))
        pairs = asyncio.run(prepare(folder, options.pairs, talk[:BEGUN]))
        upstream = stack.enter_context(ScriptedUpstream().respond_with(summariser))
        context = {"SOUVENANCE_UPSTREAMS_BENCH_CONTEXT": "128000"}
        address = stack.enter_context(served(folder, upstream.url, settings=context))
        rest = stack.enter_context(closing(Rest(address)))
        taken = measure(rest, pairs, talk[BEGUN:])
        still_due = len(rest.call("GET", "/work")["items"])
    if not summariser.asked or still_due < options.pairs:
        raise SystemExit(f"{summariser.asked} summary questions came, {still_due} pieces are due: nothing was compared")
    print_line("first_token", {"aim_apart_ms": AIM_APART_MS, **report(taken, asked=summariser.asked)})


if __name__ == "__main__":
    main()
