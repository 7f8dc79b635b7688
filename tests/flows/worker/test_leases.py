"""Leases on both databases: extended while a step runs, lost without harm, given back at the end (HOUSE, journey 2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from souvenance.domain.due import Due, DueState
from souvenance.worker.loop import Worker
from souvenance.worker.pace import USUAL
from tests.flows.worker.pieces import Gate, Pieces, counting_step

LEASE = USUAL.lease
ONCE = {("summary", "con_1", 1): 1}


@asynccontextmanager
async def at_work(worker: Worker) -> AsyncIterator[asyncio.Event]:
    """The worker runs beside; yields what stops it."""
    stop = asyncio.Event()
    running = asyncio.create_task(worker.run(stop))
    try:
        yield stop
    finally:
        stop.set()
        async with asyncio.timeout(60):
            await running


async def test_a_late_commit_of_a_worker_whose_lease_expired_is_refused(pieces: Pieces) -> None:
    await pieces.put("con_1")
    gate = Gate()
    slow, quick = pieces.worker(counting_step(gate), name="slow"), pieces.worker(counting_step(), name="quick")
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(slow.work_off())
        await gate.reached()
        pieces.clock.advance(LEASE)
        await quick.work_off()
        gate.open.set()
    assert (slow.outcomes, quick.outcomes) == ({"lost": 1}, {"done": 1})
    assert await pieces.counted() == ONCE
    assert await pieces.left() is None


async def test_a_late_commit_is_refused_though_the_piece_was_finished_and_became_due_again(pieces: Pieces) -> None:
    await pieces.put("con_1")
    first, second = Gate(), Gate()
    slow, other = pieces.worker(counting_step(first), name="slow"), pieces.worker(counting_step(second), name="other")
    async with asyncio.TaskGroup() as tasks:
        late = tasks.create_task(slow.work_off())
        await first.reached()
        pieces.clock.advance(LEASE)
        await pieces.worker(counting_step()).work_off()
        await pieces.put("con_1")
        tasks.create_task(other.work_off())
        await second.reached()
        first.open.set()
        await late
        assert await pieces.counted() == ONCE
        second.open.set()
    assert (slow.outcomes, other.outcomes) == ({"lost": 1}, {"done": 1})
    assert await pieces.counted() == {**ONCE, ("summary", "con_1", 2): 1}


async def test_a_lease_is_extended_while_its_step_runs(pieces: Pieces) -> None:
    await pieces.put("con_1")
    gate, other = Gate(), pieces.worker(counting_step())
    async with asyncio.TaskGroup() as tasks:
        slow = pieces.worker(counting_step(gate), name="slow")
        tasks.create_task(slow.work_off())
        await gate.reached()
        for _ in range(4):
            pieces.clock.advance(seconds=USUAL.renewal)
            await pieces.rests.passes(USUAL.renewal)
            await pieces.rests.begun(USUAL.renewal)
        await other.work_off()
        gate.open.set()
    assert (slow.outcomes, other.outcomes) == ({"done": 1}, {})
    assert await pieces.counted() == ONCE


async def test_a_step_is_cancelled_once_its_lease_is_lost(pieces: Pieces) -> None:
    await pieces.put("con_1")
    gate, cancelled = Gate(), asyncio.Event()

    async def hang(due: Due) -> None:
        try:
            await gate(due)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    slow = pieces.worker(counting_step(hang), name="slow")
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(slow.work_off())
        await gate.reached()
        pieces.clock.advance(LEASE)
        await pieces.worker(counting_step()).work_off()
        await pieces.rests.passes(USUAL.renewal)
    assert cancelled.is_set()
    assert slow.outcomes == {"lost": 1}
    assert await pieces.counted() == ONCE


async def test_stopping_lets_a_running_step_end_and_claims_nothing_more(pieces: Pieces) -> None:
    await pieces.put("con_1", "con_2")
    gate = Gate()
    worker = pieces.worker(counting_step(gate), at_once=1)
    async with at_work(worker) as stop:
        await gate.reached()
        stop.set()
        await pieces.rests.begun(7.0)
        gate.open.set()
    assert worker.outcomes == {"done": 1}
    assert await pieces.counted() == ONCE
    assert (await pieces.waits("con_2")).fence == 0


async def test_a_step_that_outlives_the_grace_is_given_back_for_others_to_take_at_once(pieces: Pieces) -> None:
    await pieces.put("con_1")
    gate = Gate()
    async with at_work(pieces.worker(counting_step(gate))) as stop:
        await gate.reached()
        stop.set()
        await pieces.rests.passes(7.0)
    given_back = await pieces.waits()
    assert (given_back.attempts, given_back.reason) == (0, "")
    await pieces.worker(counting_step()).work_off()
    assert await pieces.counted() == ONCE


async def test_a_clock_that_jumps_forward_loses_leases_but_doubles_nothing(pieces: Pieces) -> None:
    await pieces.put("con_1")
    gate = Gate()
    slow = pieces.worker(counting_step(gate), name="slow")
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(slow.work_off())
        await gate.reached()
        await pieces.worker(counting_step(), kit=pieces.seen_from(days=1)).work_off()
        gate.open.set()
    assert slow.outcomes == {"lost": 1}
    assert await pieces.counted() == ONCE


async def test_a_step_whose_own_clock_jumps_keeps_its_piece_when_nobody_took_it(pieces: Pieces) -> None:
    for hours in (24, -48):
        await pieces.put("con_1")
        pieces.clock.advance(timedelta(seconds=1))
        gate = Gate()
        async with asyncio.TaskGroup() as tasks:
            worker = pieces.worker(counting_step(gate))
            tasks.create_task(worker.work_off())
            await gate.reached()
            pieces.clock.advance(timedelta(hours=hours))
            await pieces.rests.passes(USUAL.renewal)
            await pieces.rests.begun(USUAL.renewal)
            leased = await pieces.left()
            assert leased is not None
            assert leased.state is DueState.LEASED
            assert leased.lease_until == pieces.clock.now() + LEASE
            gate.open.set()
        assert worker.outcomes == {"done": 1}
    assert await pieces.counted() == {**ONCE, ("summary", "con_1", 2): 1}


async def test_a_worker_whose_clock_is_behind_waits_for_what_is_due_in_its_future(
    pieces: Pieces,
) -> None:
    await pieces.put("con_1")
    behind = pieces.seen_from(hours=-1)
    await pieces.worker(counting_step(), kit=behind).work_off()
    assert await pieces.counted() == {}
    await pieces.worker(counting_step()).work_off()
    assert await pieces.counted() == ONCE
