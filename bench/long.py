"""What a turn costs however long the conversation is: `python -m bench.long [--turns 60] [--data FILE]`.

Conversations of 100, 1,000 and 10,000 turns in one store, their summaries made by the worker with a scripted model;
then turns in each of them, in turn, with the background work of each done in between. Tokens sent stand beside what
the whole history would take. Store time is what passes inside `Store.write` and `Store.read` of a turn; rows and steps
are those of its reading statements on SQLite.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from bench.figures import median_ms, print_line
from bench.measured_store import MeasuredStore
from bench.row_count import Counted, RowCount
from bench.talk import endless
from bench.world import Said, furnish, plant
from souvenance.app.chat_turn import chat_turn
from souvenance.app.conversations import NewConversation, open_conversation
from souvenance.app.due_work import Work, make_due
from souvenance.app.kit import Kit
from souvenance.app.turn import Done, InConversation, TurnRequest
from souvenance.domain.budget import MESSAGE_OVERHEAD
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import LOCAL_ACCOUNT, BotId
from souvenance.domain.summary import Tier
from souvenance.ports.chat_model import ChatRequest
from souvenance.ports.store import Unit
from souvenance.settings import read_settings
from souvenance.storage.sqlite import FILE, SqliteStore
from souvenance.testing import ScriptedModel, say
from souvenance.testing.script import Reply
from souvenance.testing.summaries import summary_answer
from souvenance.wiring import House, open_house

LENGTHS = (100, 1_000, 10_000)
AIM = 1.1
WARM_UP = 12
_UNCAPPED = {"work_spend_hour": 1_000_000_000}


class Voice:
    """The model: says `reply`, and answers the summary's questions."""

    def __init__(self) -> None:
        self.reply = ""

    def __call__(self, request: ChatRequest) -> Reply:
        return say(summary_answer(request.messages) or self.reply)


@dataclass(slots=True, kw_only=True)
class Turns:
    """What was measured in one conversation; `history` are the tokens of all that was said in it so far."""

    conversation: Conversation
    history: int
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    read: list[Counted] = field(default_factory=list)
    worked: list[Counted] = field(default_factory=list)


class LongTalks:
    """The conversations of one house, measured side by side."""

    def __init__(self, house: House, counter: RowCount, voice: Voice, said: Iterator[Said]) -> None:
        assert isinstance(house.kit.store, SqliteStore)
        self._measured = MeasuredStore(house.kit.store, house.kit.store.engine)
        self._kit = replace(house.kit, store=self._measured)
        self._house, self._counter, self._voice, self._said = house, counter, voice, said

    async def begin(self, bot_id: BotId, turns: int) -> Turns:
        """A conversation of this length and its summary, as the worker makes it."""
        kit, said = self._house.kit, list(islice(self._said, turns))
        begun = await open_conversation(kit, LOCAL_ACCOUNT, NewConversation(bot_id=bot_id))
        planted = await plant(kit, LOCAL_ACCOUNT, begun, said)
        here = planted.conversation_id

        def let_summarise(unit: Unit) -> None:
            # Its deeper memory is as good as read: that costs once, whatever comes after.
            unit.conversations.save(replace(planted, deepened_to=planted.last_position))
            make_due(unit, Work.SUMMARY, here, LOCAL_ACCOUNT, kit.clock.now())

        await kit.store.write(LOCAL_ACCOUNT, let_summarise, label="bench.due")
        await self._house.worker().work_off()
        self._measured.take()
        history = sum(_tokens(kit, one.user) + _tokens(kit, one.reply) for one in said)
        return Turns(conversation=planted, history=history)

    async def turn(self, into: Turns, *, counts: bool) -> None:
        """One turn, then what it made due; kept when it counts."""
        said = next(self._said)
        self._voice.reply = said.reply
        address = InConversation(conversation_id=into.conversation.conversation_id)
        sent = 0
        request = TurnRequest(address=address, text=said.user)
        async with aclosing(chat_turn(self._kit, LOCAL_ACCOUNT, request)) as events:
            async for event in events:
                sent = event.tokens_in if isinstance(event, Done) else sent
        phases = self._measured.take()
        read = self._counter.of(phases)
        await self._house.worker().work_off()
        self._measured.take()
        into.history += _tokens(self._kit, said.user)
        if counts:
            into.seconds.append(sum(phase.seconds for phase in phases))
            into.cpu.append(sum(phase.cpu for phase in phases))
            into.sent.append(sent)
            into.whole.append(into.history)
            into.read.append(read)
        into.history += _tokens(self._kit, said.reply)


def _tokens(kit: Kit, text: str) -> int:
    return kit.tokenizer.count(text) + MESSAGE_OVERHEAD


async def nodes(kit: Kit, conversation: Conversation) -> dict[str, object]:
    """The live nodes by tier, their tokens, and how many lie under them."""
    here = conversation.conversation_id
    live = await kit.store.read(LOCAL_ACCOUNT, lambda unit: unit.summaries.live(here), label="bench.nodes")
    every = await kit.store.read(LOCAL_ACCOUNT, lambda unit: unit.summaries.all(here), label="bench.nodes")
    return {
        **{tier.value: sum(node.tier is tier for node in live) for tier in Tier},
        "tokens": sum(node.tokens for node in live),
        "under_others": len(every) - len(live),
        "tokens_under_others": sum(node.tokens for node in every) - sum(node.tokens for node in live),
    }


def figures(turns: Turns) -> dict[str, object]:
    """Of one length: means, and of times the medians."""
    return {
        "tokens_sent": round(statistics.fmean(turns.sent)),
        "whole_history_tokens": round(statistics.fmean(turns.whole)),
        "store_ms": median_ms(turns.seconds),
        "store_cpu_ms": median_ms(turns.cpu),
        "statements": _mean([one.statements for one in turns.read]),
        "rows_read": _mean([one.rows for one in turns.read]),
        "steps": _mean([one.steps for one in turns.read]),
    }


def _mean(counts: Sequence[int]) -> float:
    return round(statistics.fmean(counts), 1)


async def measure(folder: Path, turns: int, data: Path | None) -> dict[str, object]:
    """Every length's figures, and the quotients of the longest and the one before."""
    settings = read_settings({"folder": folder, "limits": _UNCAPPED}, environment={})
    voice = Voice()
    model = ScriptedModel(respond=voice)
    async with await open_house(settings, models=model) as house:
        furnished = await furnish(house.kit, LOCAL_ACCOUNT, messages=0)
        assert furnished.bot_id is not None
        with RowCount(folder / FILE) as counter:
            talks = LongTalks(house, counter, voice, endless(data))
            long = {length: await talks.begin(furnished.bot_id, length) for length in LENGTHS}
            model.requests.clear()
            gc.collect()
            for number in range(WARM_UP + turns):
                # Each length comes first, second and last in turn: what one leaves behind falls on the next.
                for place in range(len(LENGTHS)):
                    one = long[LENGTHS[(place + number) % len(LENGTHS)]]
                    await talks.turn(one, counts=number >= WARM_UP)
        grown = {length: await nodes(house.kit, one.conversation) for length, one in long.items()}
    told = {length: {**figures(one), "summary": grown[length]} for length, one in long.items()}
    return {"turns": turns, "ratio": _ratio(long[LENGTHS[1]], long[LENGTHS[2]]), **{str(n): f for n, f in told.items()}}


def _ratio(shorter: Turns, longer: Turns) -> dict[str, float]:
    """The longest conversation's figures divided by those of the one before."""
    pairs = {
        "tokens_sent": (statistics.fmean(longer.sent), statistics.fmean(shorter.sent)),
        "store_time": (statistics.median(longer.seconds), statistics.median(shorter.seconds)),
        "store_cpu": (statistics.median(longer.cpu), statistics.median(shorter.cpu)),
        "statements": (_mean([one.statements for one in longer.read]), _mean([one.statements for one in shorter.read])),
        "rows_read": (_mean([one.rows for one in longer.read]), _mean([one.rows for one in shorter.read])),
        "steps": (_mean([one.steps for one in longer.read]), _mean([one.steps for one in shorter.read])),
    }
    return {name: round(one / other, 3) for name, (one, other) in pairs.items()}


def main() -> None:
    """Measure on SQLite and print one JSON line."""
    parser = argparse.ArgumentParser(prog="python -m bench.long", description=main.__doc__)
    parser.add_argument("--turns", type=int, default=60, help="turns of each length that count; 20 or more")
    parser.add_argument("--data", type=Path, help="a JSON file of long conversations; else the demo's life")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="souvenance-bench-") as folder:
        told = asyncio.run(measure(Path(folder), options.turns, options.data))
    print_line("long", {"aim_ratio": AIM, **told})


if __name__ == "__main__":
    main()
