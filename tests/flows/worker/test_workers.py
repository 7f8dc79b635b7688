"""Several workers on one database: each piece once, in order within a conversation, fair across owners (HOUSE)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import event

from souvenance.app.due_work import Work
from souvenance.domain.due import Due
from souvenance.domain.ids import OwnerId
from souvenance.errors import StoreUnavailable
from souvenance.ports.store import Store
from souvenance.storage.postgres import PostgresStore
from souvenance.storage.sqlite import SqliteStore
from souvenance.testing import CountedIds
from souvenance.worker.pace import USUAL
from tests.conformance.conftest import engine_of
from tests.conformance.rows import owner
from tests.flows.app.stores import FailingStore
from tests.flows.worker.pieces import Gate, Pieces, counting_step
from tests.flows.worker.test_leases import at_work

OTHER = OwnerId("own_other")


class Watched:
    """What runs at the same time, noted by steps themselves."""

    def __init__(self) -> None:
        self.now: Counter[str] = Counter()
        self.doubled: list[str] = []
        self.most = 0

    async def __call__(self, due: Due) -> None:
        self.now[due.subject] += 1
        if self.now[due.subject] > 1:
            self.doubled.append(due.subject)
        self.most = max(self.most, self.now.total())
        for _ in range(5):
            await asyncio.sleep(0)
        self.now[due.subject] -= 1


@pytest.mark.parametrize("workers", [2, 3])
async def test_workers_on_one_database_do_each_step_once_and_keep_order_in_a_conversation(
    pieces: Pieces, workers: int
) -> None:
    subjects = [f"con_{number}" for number in range(8)]
    await pieces.put(*subjects)
    pieces.clock.advance(seconds=1)
    await pieces.put(*subjects, kind=Work.DEEPER)
    watched = Watched()
    steps = (counting_step(watched, rounds=3), counting_step(watched, rounds=2))
    kits = [replace(pieces.kit, ids=CountedIds(10**6 * number)) for number in range(1, workers + 1)]
    crew = [pieces.worker(*steps, name=f"w{number}", kit=kit) for number, kit in enumerate(kits)]
    for _ in range(3):  # A round that one has just let go of is nobody's for a moment.
        await asyncio.gather(*(one.work_off() for one in crew))
    assert watched.doubled == []
    assert watched.most <= 2 * workers
    results = [(about["subject"], about["kind"], about["number"]) for about in await pieces.results()]
    assert Counter(results) == Counter(
        (subject, kind, number)
        for subject in subjects
        for kind, last in (("summary", 3), ("deeper", 2))
        for number in range(1, last + 1)
    )
    assert sum(one.outcomes["done"] for one in crew) == len(results)
    assert not sum(one.outcomes["lost"] for one in crew)


async def test_conversations_are_worked_on_side_by_side_as_many_as_the_pace_says(pieces: Pieces) -> None:
    await pieces.put("con_1", "con_2", "con_3")
    all_three = asyncio.Barrier(3)

    async def meet(_: Due) -> None:
        async with asyncio.timeout(60):
            await all_three.wait()

    worker = pieces.worker(counting_step(meet), at_once=3)
    await worker.work_off()
    assert worker.outcomes == {"done": 3}


async def test_a_thousand_pieces_of_one_owner_do_not_delay_anothers(pieces: Pieces) -> None:
    await pieces.kit.store.write(OTHER, lambda unit: unit.owners.create(owner(OTHER)), label="owner.created")
    await pieces.put(*(f"con_{number:04}" for number in range(1_000)))
    await pieces.put("con_other", owner_id=OTHER)
    done: list[OwnerId] = []
    enough = asyncio.Event()

    async def note(due: Due) -> None:
        done.append(due.owner_id)
        if len(done) == 3:
            enough.set()
            await asyncio.Event().wait()

    async with at_work(pieces.worker(counting_step(note), at_once=1, grace=7.0)) as stop:
        async with asyncio.timeout(60):
            await enough.wait()
        stop.set()
        await pieces.rests.passes(7.0)
    assert OTHER in done


async def test_what_becomes_due_while_a_worker_has_it_is_done_once_more(pieces: Pieces) -> None:
    await pieces.put("con_1")
    gate = Gate()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(pieces.worker(counting_step(gate)).work_off())
        await gate.reached()
        await pieces.put("con_1")
        gate.open.set()
    assert await pieces.counted() == {("summary", "con_1", 1): 1, ("summary", "con_1", 2): 1}
    assert await pieces.left() is None


async def test_a_worker_at_rest_is_woken_by_the_commit_that_makes_something_due(pieces: Pieces) -> None:
    gate = Gate()
    async with at_work(pieces.worker(counting_step(gate))):
        await pieces.rests.begun(USUAL.idle)
        await pieces.put("con_1")
        await gate.reached()
        gate.open.set()
    assert await pieces.counted() == {("summary", "con_1", 1): 1}


async def test_z2_a_worker_of_another_process_is_woken_on_postgresql_and_looks_by_itself_on_sqlite(
    pieces: Pieces, real_store: SqliteStore | PostgresStore
) -> None:
    on_postgres = isinstance(real_store, PostgresStore)
    other = await (
        PostgresStore.open(real_store.engine.url.render_as_string(hide_password=False))
        if isinstance(real_store, PostgresStore)
        else SqliteStore.open(real_store._path)
    )
    gate = Gate()
    try:
        async with at_work(pieces.worker(counting_step(gate), kit=replace(pieces.kit, store=other))):
            await pieces.rests.begun(USUAL.idle)
            await pieces.put("con_1")
            if not on_postgres:
                await pieces.rests.passes(USUAL.idle)
            await gate.reached()
            gate.open.set()
    finally:
        await other.close()
    assert await pieces.counted() == {("summary", "con_1", 1): 1}


async def test_z3_an_idle_worker_says_one_small_statement_each_time_it_looks(
    pieces: Pieces, real_store: SqliteStore | PostgresStore
) -> None:
    async with at_work(pieces.worker(counting_step())):
        await pieces.rests.begun(USUAL.idle)
        said: list[str] = []
        event.listen(engine_of(real_store), "before_cursor_execute", lambda *call: said.append(call[2]))
        for _ in range(3):
            await pieces.rests.passes(USUAL.idle)
            await pieces.rests.begun(USUAL.idle)
        assert len(said) == 3


async def test_a_worker_does_only_what_it_has_steps_for(pieces: Pieces) -> None:
    await pieces.put("con_1", kind=Work.DEEPER)
    worker = pieces.worker(counting_step())
    await worker.work_off()
    assert worker.outcomes == {}


@pytest.mark.parametrize("trouble", [StoreUnavailable("locked"), ZeroDivisionError("a bug")])
async def test_a_worker_that_cannot_claim_looks_again_later(pieces: Pieces, trouble: Exception) -> None:
    await pieces.put("con_1")
    gate, store = Gate(), UnclaimedStore(pieces.kit.store, trouble)
    async with at_work(pieces.worker(counting_step(gate), kit=replace(pieces.kit, store=store))):
        await pieces.rests.begun(USUAL.idle)
        store.trouble = None
        await pieces.rests.passes(USUAL.idle)
        await gate.reached()
        gate.open.set()
    assert await pieces.counted() == {("summary", "con_1", 1): 1}


class UnclaimedStore(FailingStore):
    """Nothing can be claimed of it while there is trouble."""

    def __init__(self, store: Store, trouble: Exception | None) -> None:
        super().__init__(store)
        self.trouble = trouble

    async def claim(self, *, worker: str, now: datetime, lease: timedelta, kinds: Sequence[str]) -> Due | None:
        if self.trouble is not None:
            raise self.trouble
        return await super().claim(worker=worker, now=now, lease=lease, kinds=kinds)
