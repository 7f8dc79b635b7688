"""Memories against the bare drivers: `python -m bench.memories [--samples N] [--others N] [--postgres URL | none]`.

Adding one at a time and in batches of 100, the newest page of 50, the read of both scopes for a turn, and folding a
scope with 10,000 operations, all of them values said anew (`fold`) or of every kind (`fold_mixed`): each alone and
beside the memories of other owners. The floor runs the same statements, as they reached the driver, through the bare
driver on a copy of the database, in turn with what is measured. It fetches every row and makes nothing of it.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sqlite3
import statistics
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from pathlib import Path

from bench.crowd import add_owner, crowd
from bench.figures import beside, print_line
from bench.floors import BarePostgres, BareSqlite, Floor
from bench.measured_store import MeasuredStore
from bench.scratch_postgres import ScratchPostgres, embedded, is_installed
from bench.world import Speech, furnish
from souvenance.app.browse import list_memories
from souvenance.app.kit import Kit
from souvenance.app.remember import NewMemory, remember, remember_many
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import BotId, MemoryId, OwnerId
from souvenance.domain.journal import (
    Actor,
    Add,
    Archive,
    Content,
    Intent,
    Operation,
    Pin,
    Restore,
    Unpin,
    Update,
    fold,
)
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory, Scope
from souvenance.ports.store import Unit
from souvenance.settings import read_settings
from souvenance.storage.postgres import PostgresStore
from souvenance.storage.sqlite import FILE, SqliteStore
from souvenance.testing import ScriptedModel
from souvenance.wiring import House, open_house

AIM, AIM_CROWDED = 2.5, 1.2
BATCH = 100
FOLDED, OPERATIONS_EACH = 100, 100
WARM_UP = 10
ALONE, CROWDED = OwnerId("own_alone"), OwnerId("own_crowded")

Figures = dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing that is measured: what to do, on how many memories at once. A fifth of the samples of a `long` one."""

    name: str
    run: Callable[[], Awaitable[object]]
    memories: int = 1
    long: bool = False


class Measured:
    """One owner's memories behind a store that is listened to."""

    def __init__(self, kit: Kit, store: MeasuredStore, owner_id: OwnerId, bot_id: BotId) -> None:
        self._kit = replace(kit, store=store)
        self._store, self._owner = store, owner_id
        self._scopes = (ACCOUNT_SCOPE, Scope.of_bot(bot_id))
        self._speech = Speech(seed=7)
        self._told = 0

    async def take(self, floor: Floor, samples: int) -> Figures:
        """The figures of every case, each sample repeated by the floor at once."""
        return {case.name: await self._sampled(case, floor, samples) for case in self._cases()}

    def _cases(self) -> Sequence[Case]:
        return (
            Case(name="add_one", run=self._add_one),
            Case(name="add_batch", run=self._add_batch, memories=BATCH, long=True),
            Case(name="newest_page", run=self._page),
            Case(name="turn_read", run=self._read_scopes),
            Case(name="fold", run=lambda: self._fold(_folded), long=True),
            Case(name="fold_mixed", run=lambda: self._fold(_mixed), long=True),
        )

    async def _sampled(self, case: Case, floor: Floor, samples: int) -> dict[str, float]:
        ours, bare = [], []
        gc.collect()
        for number in range(WARM_UP + (samples // 5 if case.long else samples)):
            self._store.take()
            await case.run()
            phases = self._store.take()
            repeated = await floor.repeat(phases)
            if number >= WARM_UP:
                ours.append(sum(phase.seconds for phase in phases))
                bare.append(repeated)
        rate = {"per_second": round(case.memories / statistics.median(ours))} if case.name.startswith("add") else {}
        return {**beside(ours, bare), **rate}

    def _new(self) -> NewMemory:
        self._told += 1
        return NewMemory(text=self._speech.fact(1_000 + self._told), scope=self._scopes[self._told % 2])

    async def _add_one(self) -> None:
        await remember(self._kit, self._owner, self._new())

    async def _add_batch(self) -> None:
        await remember_many(self._kit, self._owner, [self._new() for _ in range(BATCH)])

    async def _page(self) -> None:
        await list_memories(self._kit, self._owner, limit=50)

    async def _read_scopes(self) -> None:
        most = self._kit.limits.unpinned_in_prompt

        def work(unit: Unit) -> int:
            read = ((unit.memories.pinned(s), unit.memories.newest_unpinned(s, limit=most)) for s in self._scopes)
            return sum(len(pinned) + len(newest) for pinned, newest in read)

        await self._store.read(self._owner, work, label="bench.turn_read")

    async def _fold(self, named: Callable[[int], MemoryId]) -> None:
        ids = [named(number) for number in range(FOLDED)]

        def work(unit: Unit) -> list[Memory | None]:
            return [fold(operations) for operations in unit.journal.counting(ids).values()]

        assert len(await self._store.read(self._owner, work, label="bench.folded")) == FOLDED


def _folded(number: int) -> MemoryId:
    return MemoryId(f"mem_folded{number}")


def _mixed(number: int) -> MemoryId:
    return MemoryId(f"mem_mixed{number}")


def _value(done: int, content: Content) -> Intent:
    return Update(content=content) if done else Add(content=content)


def _any(done: int, content: Content) -> Intent:
    """In ten: five values said anew, one said again, one each of pinning, unpinning, archiving, restoring."""
    others: dict[int, Intent] = {
        3: Add(content=content),
        5: Pin(content=content),
        6: Unpin(),
        7: Archive(),
        8: Restore(),
    }
    return others.get(done % 10) or _value(done, content)


async def prepare(house: House, owner_id: OwnerId) -> BotId:
    """A new owner with full memories in two scopes, and twice 10,000 operations."""
    kit = house.kit
    await add_owner(kit, owner_id)
    conversation: Conversation = await furnish(kit, owner_id, messages=0)
    assert conversation.bot_id is not None
    scope, now, speech = Scope.of_bot(conversation.bot_id), kit.clock.now(), Speech(seed=11)
    count = FOLDED * OPERATIONS_EACH

    def work(unit: Unit) -> None:
        for named, done in ((_folded, _value), (_mixed, _any)):
            first = unit.owners.next_place(count) - count + 1
            unit.journal.append_all(
                [
                    Operation(
                        place=first + number,
                        memory_id=named(number % FOLDED),
                        scope=scope,
                        actor=Actor.PERSON,
                        intent=done(number // FOLDED, Content(text=speech.fact(number))),
                        at=now,
                    )
                    for number in range(count)
                ]
            )

    await kit.store.write(owner_id, work, label="bench.operations")
    return conversation.bot_id


async def measure_sqlite(folder: Path, samples: int, others: int) -> dict[str, object]:
    """The figures on SQLite, in this folder."""
    settings = read_settings({"folder": folder}, environment={})
    async with await open_house(settings, models=ScriptedModel()) as house:

        async def taken(owner_id: OwnerId, bot_id: BotId) -> Figures:
            # A store of its own: a second listener to the statements of one would slow each of them.
            store = await SqliteStore.open(folder)
            await asyncio.to_thread(_copy, folder / FILE, folder / "floor.db")
            async with aclosing(BareSqlite(folder / "floor.db")) as bare:
                measured = Measured(house.kit, MeasuredStore(store, store.engine), owner_id, bot_id)
                figures = await measured.take(bare, samples)
            await store.close()
            (folder / "floor.db").unlink()
            return figures

        alone, crowded = await prepare(house, ALONE), await prepare(house, CROWDED)
        figures = await taken(ALONE, alone)
        await asyncio.to_thread(_execute, folder / FILE, await crowd(house.kit, others))
        return report(figures, await taken(CROWDED, crowded), others)


def _execute(path: Path, statements: Sequence[str]) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def _copy(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as from_, closing(sqlite3.connect(target)) as to:
        from_.backup(to)


async def measure_postgres(server: ScratchPostgres, samples: int, others: int) -> dict[str, object]:
    """The figures on PostgreSQL, in databases that are dropped again."""
    async with server.database() as url:
        settings = read_settings({"database_url": url}, environment={})

        async def taken(owner_id: OwnerId, bot_id: BotId) -> Figures:
            # A database can be copied only while nobody is connected to it.
            async with (
                server.database(copy_of=url) as copy,
                await open_house(settings, models=ScriptedModel()) as house,
                aclosing(BarePostgres(await server.connect(copy))) as bare,
            ):
                assert isinstance(house.kit.store, PostgresStore)
                store = MeasuredStore(house.kit.store, house.kit.store.engine.sync_engine)
                return await Measured(house.kit, store, owner_id, bot_id).take(bare, samples)

        async with await open_house(settings, models=ScriptedModel()) as house:
            alone, crowded = await prepare(house, ALONE), await prepare(house, CROWDED)
        figures = await taken(ALONE, alone)
        async with await open_house(settings, models=ScriptedModel()) as house:
            statements = await crowd(house.kit, others)
        async with aclosing(BarePostgres(await server.connect(url))) as bare:
            await bare.execute([*statements, "ANALYZE"])
        return report(figures, await taken(CROWDED, crowded), others)


def report(alone: Figures, crowded: Figures, others: int) -> dict[str, object]:
    """Both passes; `beside_alone` is how many times as long a case takes with the memories of others in the store."""
    slower = {name: round(crowded[name]["median_ms"] / alone[name]["median_ms"], 2) for name in alone}
    return {"alone": alone, "crowded": crowded, "others": others, "crowded_to_alone": slower}


def main() -> None:
    """Measure on SQLite and, where there is one, on PostgreSQL; print one JSON line."""
    options = _parser().parse_args()
    with tempfile.TemporaryDirectory(prefix="souvenance-bench-") as folder:
        figures = asyncio.run(measure_sqlite(Path(folder), options.samples, options.others))
    postgres = _postgres(options.postgres, options.samples, options.others)
    print_line("memories", {"aim": AIM, "aim_crowded": AIM_CROWDED, "sqlite": figures, "postgres": postgres})


def _postgres(url: str | None, samples: int, others: int) -> dict[str, object] | None:
    """None where there is no PostgreSQL, or it is not wanted."""
    if url == "none" or (url is None and not is_installed()):
        return None
    if url is not None:
        return asyncio.run(measure_postgres(ScratchPostgres(url), samples, others))
    with embedded() as server:
        return asyncio.run(measure_postgres(server, samples, others))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.memories", description=main.__doc__)
    parser.add_argument(
        "--samples", type=int, default=100, help="samples of each case, a fifth of the long ones; 100 up"
    )
    parser.add_argument("--others", type=int, default=100_000, help="memories of other owners in the crowded pass")
    parser.add_argument("--postgres", help="postgresql://… where databases may be made, or none; else the embedded one")
    return parser


if __name__ == "__main__":
    main()
