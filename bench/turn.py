"""Store time of one turn against the bare drivers: `python -m bench.turn [--turns 300] [--postgres URL | none]`.

100 + 20 memories in two scopes (the account and the bot), a conversation of 5,000 messages, production pragmas. Store
time is what passes inside `Store.write` and `Store.read` of a turn: the open write, the gathering read, the settling
write. The floor runs the statements of each turn, as they reached the driver, through the bare driver on a copy of the
database, in turn with the turns themselves.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from pathlib import Path

from bench.figures import beside, median_ms, print_line
from bench.floors import BarePostgres, BareSqlite, Floor
from bench.measured_store import MeasuredStore, Phase
from bench.scratch_postgres import ScratchPostgres, embedded, is_installed
from bench.world import Speech, furnish
from souvenance.app.chat_turn import chat_turn
from souvenance.app.turn import InConversation, TurnRequest
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import LOCAL_ACCOUNT
from souvenance.settings import read_settings
from souvenance.storage.postgres import PostgresStore
from souvenance.storage.sqlite import FILE, SqliteStore
from souvenance.testing import ScriptedModel, say
from souvenance.wiring import House, open_house

MESSAGES = 5_000
WARM_UP = 30
AIM = 2.5
_PHASES = {"turn.opened": "open", "turn.gathered": "gather", "turn.settled": "settle"}
_EPOCH = "INSERT INTO epochs"


@dataclass(frozen=True, slots=True)
class Sample:
    """One turn: its phases and the floor's seconds for the same statements."""

    phases: tuple[Phase, ...]
    floor: float

    @property
    def ours(self) -> float:
        return sum(phase.seconds for phase in self.phases)

    @property
    def began_epoch(self) -> bool:
        return any(s.sql.startswith(_EPOCH) for phase in self.phases for s in phase.statements)


async def measure_sqlite(folder: Path, turns: int) -> dict[str, object]:
    """The figures on SQLite, in this folder."""
    settings = read_settings({"folder": folder}, environment={})
    model = ScriptedModel()
    async with await open_house(settings, models=model) as house:
        conversation = await furnish(house.kit, LOCAL_ACCOUNT, messages=MESSAGES)
        assert isinstance(house.kit.store, SqliteStore)
        measured = MeasuredStore(house.kit.store, house.kit.store.engine)
        await asyncio.to_thread(_copy, folder / FILE, folder / "floor.db")
        async with aclosing(BareSqlite(folder / "floor.db")) as floor:
            return report(await _Bench(house, measured, model, conversation).take(floor, turns))


async def measure_postgres(server: ScratchPostgres, turns: int) -> dict[str, object]:
    """The figures on PostgreSQL, in two databases that are dropped again."""
    model = ScriptedModel()
    async with server.database() as url:
        settings = read_settings({"database_url": url}, environment={})
        async with await open_house(settings, models=model) as house:
            conversation = await furnish(house.kit, LOCAL_ACCOUNT, messages=MESSAGES)
        # A database can be copied only while nobody is connected to it.
        async with server.database(copy_of=url) as copy, await open_house(settings, models=model) as house:
            assert isinstance(house.kit.store, PostgresStore)
            measured = MeasuredStore(house.kit.store, house.kit.store.engine.sync_engine)
            async with aclosing(BarePostgres(await server.connect(copy))) as floor:
                return report(await _Bench(house, measured, model, conversation).take(floor, turns))


def _copy(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as from_, closing(sqlite3.connect(target)) as to:
        from_.backup(to)


class _Bench:
    """Turns in a furnished house, each repeated by the floor before the next begins."""

    def __init__(self, house: House, measured: MeasuredStore, model: ScriptedModel, conversation: Conversation) -> None:
        self._kit = replace(house.kit, store=measured)
        self._measured = measured
        self._model = model
        self._address = InConversation(conversation_id=conversation.conversation_id)
        self._speech = Speech(seed=3)

    async def take(self, floor: Floor, turns: int) -> list[Sample]:
        """This many samples, after the warm-up."""
        for _ in range(WARM_UP):
            await floor.repeat(await self._turn())
        # What was made so far stays: its collection would fall on a turn at random.
        gc.collect()
        gc.freeze()
        samples = []
        for _ in range(turns):
            phases = await self._turn()
            samples.append(Sample(phases, await floor.repeat(phases)))
        gc.unfreeze()
        return samples

    async def _turn(self) -> tuple[Phase, ...]:
        said = self._speech.turn()
        self._model.script(say(*said.reply.split(". ")))
        request = TurnRequest(address=self._address, text=said.user)
        async with aclosing(chat_turn(self._kit, LOCAL_ACCOUNT, request)) as events:
            async for _event in events:
                continue
        phases = tuple(self._measured.take())
        assert [phase.label for phase in phases] == list(_PHASES), "a turn is one write, one read, one write"
        return phases


def report(samples: Sequence[Sample]) -> dict[str, object]:
    """All turns, and apart those that began an epoch, which read every memory anew."""
    epochs = [sample for sample in samples if sample.began_epoch]
    return {
        **beside([s.ours for s in samples], [s.floor for s in samples]),
        "turns": len(samples),
        "phases_ms": {name: median_ms(_of_phase(samples, label)) for label, name in _PHASES.items()},
        "statements": {name: _statements(samples, label) for label, name in _PHASES.items()},
        "epoch_turns": {"turns": len(epochs), **beside([s.ours for s in epochs], [s.floor for s in epochs])},
    }


def _of_phase(samples: Sequence[Sample], label: str) -> list[float]:
    return [phase.seconds for sample in samples for phase in sample.phases if phase.label == label]


def _statements(samples: Sequence[Sample], label: str) -> int:
    """How many statements a phase usually takes."""
    counted = Counter(len(phase.statements) for sample in samples for phase in sample.phases if phase.label == label)
    return counted.most_common(1)[0][0]


def main() -> None:
    """Measure on SQLite and, where there is one, on PostgreSQL; print one JSON line."""
    options = _parser().parse_args()
    with tempfile.TemporaryDirectory(prefix="souvenance-bench-") as folder:
        figures = asyncio.run(measure_sqlite(Path(folder), options.turns))
    postgres = _postgres(options.postgres, options.turns)
    print_line("turn", {"database": "sqlite", "aim": AIM, **figures, "postgres": postgres})


def _postgres(url: str | None, turns: int) -> dict[str, object] | None:
    """None where there is no PostgreSQL, or it is not wanted."""
    if url == "none" or (url is None and not is_installed()):
        return None
    if url is not None:
        return asyncio.run(measure_postgres(ScratchPostgres(url), turns))
    with embedded() as server:
        return asyncio.run(measure_postgres(server, turns))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.turn", description=main.__doc__)
    parser.add_argument("--turns", type=int, default=300, help="turns that count, after the warm-up; 20 or more")
    parser.add_argument("--postgres", help="postgresql://… where databases may be made, or none; else the embedded one")
    return parser


if __name__ == "__main__":
    main()
