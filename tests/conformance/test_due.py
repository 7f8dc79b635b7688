"""Due work and its claim on both databases (HOUSE, journey 2)."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import event

from souvenance.domain.due import Due, DueState
from souvenance.domain.ids import ConversationId, OwnerId
from souvenance.errors import NotFound
from souvenance.ports.store import Store, Unit
from souvenance.storage.postgres import PostgresStore
from souvenance.storage.sqlite import SqliteStore
from tests.conformance import rows
from tests.conformance.conftest import Place, engine_of
from tests.conformance.rows import ALICE, BOB, NOW, each, later

LEASE = timedelta(seconds=30)


async def put(store: Store, *work: Due) -> None:
    for due in work:
        await store.write(due.owner_id, each(lambda unit: unit.due.put, [due]), label="due.put")


def put_and_fail(unit: Unit) -> None:
    unit.due.put(rows.due())
    raise ZeroDivisionError


async def claim(store: Store, now: datetime = NOW, *, worker: str = "w1", kinds: tuple[str, ...] = ("compact",)) -> Due:
    due = await store.claim(worker=worker, now=now, lease=LEASE, kinds=kinds)
    assert due is not None
    return due


async def nothing_due(store: Store, now: datetime = NOW, kinds: tuple[str, ...] = ("compact",)) -> bool:
    return await store.claim(worker="w1", now=now, lease=LEASE, kinds=kinds) is None


async def stored(store: Store, due: Due) -> Due | None:
    return await store.read(due.owner_id, lambda unit: unit.due.get(due.kind, due.subject), label="due.read")


def restart(unit: Unit, subject: str) -> None:
    unit.due.restart("compact", subject, at=later(5))


async def finish(store: Store, due: Due) -> bool:
    return await store.write(due.owner_id, lambda unit: unit.due.finish(due), label="due.done")


async def test_a_claim_leases_what_is_due_with_the_next_fence(store: Store) -> None:
    await put(store, rows.due(conversation_id=ConversationId("con_1")))
    claimed = await claim(store)
    assert claimed == rows.due(
        conversation_id=ConversationId("con_1"), state=DueState.LEASED, lease_until=NOW + LEASE, fence=1, holder="w1"
    )
    assert await stored(store, claimed) == claimed
    assert await nothing_due(store, later(29))


async def test_nothing_is_claimed_before_its_time_or_of_another_kind(store: Store) -> None:
    await put(store, rows.due(due_at=later(10)))
    assert await nothing_due(store, later(9))
    assert await nothing_due(store, later(10), kinds=("deepen",))
    assert (await claim(store, later(10), kinds=("deepen", "compact"))).subject == "con_1"


async def test_an_expired_lease_is_taken_over_and_the_first_worker_cannot_commit(store: Store) -> None:
    await put(store, rows.due())
    slow = await claim(store, worker="slow")
    quick = await claim(store, later(30), worker="quick")
    assert (slow.fence, quick.fence) == (1, 2)
    assert not await finish(store, slow)
    postponed = await store.write(
        ALICE, lambda unit: unit.due.postpone(slow, until=later(99), reason="busy"), label="due.postponed"
    )
    parked = await store.write(ALICE, lambda unit: unit.due.park(slow, reason="bad"), label="due.parked")
    assert not postponed
    assert not parked
    assert await stored(store, quick) == quick
    assert await finish(store, quick)
    assert await stored(store, quick) is None


async def test_what_is_postponed_comes_back_with_one_attempt_more(store: Store) -> None:
    await put(store, rows.due())
    due = await claim(store)
    assert await store.write(
        ALICE, lambda unit: unit.due.postpone(due, until=later(60), reason="model down"), label="due.postponed"
    )
    waiting = await store.read(ALICE, lambda unit: unit.due.waiting(), label="due.listed")
    assert waiting == [rows.due(due_at=later(60), fence=1, attempts=1, reason="model down")]
    assert await nothing_due(store, later(59))
    assert (await claim(store, later(60))).attempts == 1


async def test_what_is_parked_stays_visible_and_is_not_claimed_again(store: Store) -> None:
    await put(store, rows.due())
    due = await claim(store)
    assert await store.write(ALICE, lambda unit: unit.due.park(due, reason="bad JSON"), label="due.parked")
    await put(store, rows.due())
    parked = await stored(store, due)
    assert parked is not None
    assert (parked.state, parked.reason) == (DueState.PARKED, "bad JSON")
    assert await nothing_due(store, later(9_999))


async def test_putting_it_again_makes_it_due_no_later(store: Store) -> None:
    await put(store, rows.due(due_at=later(50)), rows.due(due_at=later(20)), rows.due(due_at=later(80)))
    waiting = await store.read(ALICE, lambda unit: unit.due.waiting(), label="due.listed")
    assert waiting == [rows.due(due_at=later(20))]


async def test_putting_it_again_ends_no_pause(store: Store) -> None:
    await put(store, rows.due())
    due = await claim(store)
    await store.write(
        ALICE, lambda unit: unit.due.postpone(due, until=later(60), reason="model down"), label="due.postponed"
    )
    await put(store, rows.due(due_at=later(1)))
    assert await nothing_due(store, later(59))
    assert (await claim(store, later(60))).attempts == 1


async def test_what_becomes_due_again_while_a_worker_has_it_is_not_lost(store: Store) -> None:
    await put(store, rows.due())
    first = await claim(store)
    await put(store, rows.due(due_at=later(5)))
    assert await nothing_due(store, later(5))
    assert await finish(store, first)
    again = await claim(store, later(5))
    assert again.fence == 2
    assert await finish(store, again)
    assert await stored(store, again) is None


async def test_work_of_one_conversation_is_done_in_order_and_one_at_a_time(store: Store) -> None:
    chat, other = ConversationId("con_1"), ConversationId("con_2")
    await put(
        store,
        rows.due("b", due_at=later(-10), conversation_id=chat),
        rows.due("a", due_at=later(-20), conversation_id=chat, kind="deepen"),
        rows.due("c", due_at=later(-5), conversation_id=other),
    )
    both = ("compact", "deepen")
    first, second = await claim(store, kinds=both), await claim(store, kinds=both)
    assert {first.subject, second.subject} == {"a", "c"}
    assert await nothing_due(store, kinds=both)
    held = first if first.subject == "a" else second
    assert await finish(store, held)
    assert (await claim(store, kinds=both)).subject == "b"


async def test_an_older_piece_of_a_kind_this_worker_does_not_do_holds_its_conversation_back(store: Store) -> None:
    chat = ConversationId("con_1")
    await put(
        store,
        rows.due("a", due_at=later(-20), conversation_id=chat, kind="deepen"),
        rows.due("b", due_at=later(-10), conversation_id=chat),
    )
    assert await nothing_due(store)
    assert (await claim(store, kinds=("deepen",))).subject == "a"


async def test_the_same_conversation_id_of_two_owners_holds_neither_back(store: Store) -> None:
    chat = ConversationId("con_1")
    await put(store, rows.due(conversation_id=chat), rows.due(owner_id=BOB, conversation_id=chat))
    assert {(await claim(store)).owner_id, (await claim(store)).owner_id} == {ALICE, BOB}


async def test_an_owner_with_a_thousand_pieces_delays_no_other(store: Store) -> None:
    many = [rows.due(f"s{n:04}") for n in range(1_000)]
    await store.write(ALICE, each(lambda unit: unit.due.put, many), label="due.put")
    await put(store, rows.due("late", owner_id=BOB, due_at=later(1)))
    owners = [(await claim(store, later(2))).owner_id for _ in range(3)]
    assert Counter(owners) == {ALICE: 2, BOB: 1}


async def test_looking_for_work_when_there_is_none_is_one_statement(bare_store: SqliteStore | PostgresStore) -> None:
    said: list[str] = []
    event.listen(engine_of(bare_store), "before_cursor_execute", lambda *call: said.append(call[2]))
    assert await nothing_due(bare_store)
    assert len(said) == 1


async def test_ranks_follow_what_its_owner_has_waiting(store: Store) -> None:
    await put(store, *(rows.due(f"s{n}") for n in range(3)), rows.due(owner_id=BOB))
    ranks = await store.read(ALICE, lambda unit: [due.rank for due in unit.due.waiting()], label="due.listed")
    of_bob = await store.read(BOB, lambda unit: [due.rank for due in unit.due.waiting()], label="due.listed")
    assert (ranks, of_bob) == ([0, 1, 2], [0])


async def test_workers_that_claim_at_once_never_get_the_same_piece(store: Store) -> None:
    await put(store, *(rows.due(f"s{n:02}") for n in range(12)))
    claims = await asyncio.gather(
        *(store.claim(worker=f"w{n}", now=NOW, lease=LEASE, kinds=("compact",)) for n in range(20))
    )
    subjects = [due.subject for due in claims if due is not None]
    assert sorted(subjects) == [f"s{n:02}" for n in range(12)]


async def test_due_work_of_another_owner_cannot_be_seen_or_finished(store: Store) -> None:
    await put(store, rows.due())
    claimed = await claim(store)
    assert await store.read(BOB, lambda unit: unit.due.get("compact", "con_1"), label="due.read") is None
    assert await store.read(BOB, lambda unit: unit.due.waiting(), label="due.listed") == []
    assert not await finish(store, replace(claimed, owner_id=OwnerId(BOB)))
    assert await stored(store, claimed) == claimed


async def test_a_lease_that_is_extended_ends_later_unless_it_was_taken_over(store: Store) -> None:
    await put(store, rows.due())
    held = await claim(store)
    assert await store.write(ALICE, lambda unit: unit.due.extend(held, until=later(90)), label="due.extended")
    assert await nothing_due(store, later(89))
    taken = await claim(store, later(90), worker="quick")
    assert not await store.write(ALICE, lambda unit: unit.due.extend(held, until=later(900)), label="due.extended")
    assert await stored(store, taken) == taken
    assert await store.write(
        ALICE, lambda unit: unit.due.postpone(taken, until=later(99), reason=""), label="due.postponed"
    )
    assert not await store.write(ALICE, lambda unit: unit.due.extend(taken, until=later(900)), label="due.extended")


async def test_parked_work_is_restarted_by_a_person_with_its_failures_forgotten(store: Store) -> None:
    await put(store, rows.due(attempts=4), rows.due("con_2"))
    due = await claim(store)
    assert await store.write(ALICE, lambda unit: unit.due.park(due, reason="bad JSON"), label="due.parked")
    for owner, subject in ((ALICE, "con_2"), (ALICE, "con_9"), (BOB, due.subject)):
        with pytest.raises(NotFound, match="parked or postponed work"):
            await store.write(owner, partial(restart, subject=subject), label="due.restarted")
    await store.write(ALICE, partial(restart, subject=due.subject), label="due.restarted")
    every = await store.read(ALICE, lambda unit: unit.due.every(), label="due.listed")
    assert [(one.subject, one.state, one.attempts, one.reason) for one in every] == [
        ("con_2", DueState.WAITING, 0, ""),
        ("con_1", DueState.WAITING, 0, ""),
    ]
    assert (await claim(store, later(5))).subject == "con_2"
    assert (await claim(store, later(5))).fence == 2


async def test_what_waits_for_a_reason_is_restarted_by_a_person_without_its_pause(store: Store) -> None:
    await put(store, rows.due())
    due = await claim(store)
    put_off = partial(_put_off, due=due)
    assert await store.write(ALICE, put_off, label="due.postponed")
    assert await nothing_due(store, later(5))
    await store.write(ALICE, partial(restart, subject=due.subject), label="due.restarted")
    again = await claim(store, later(5))
    assert (again.subject, again.fence, again.attempts) == (due.subject, 2, 0)


def _put_off(unit: Unit, due: Due) -> bool:
    return unit.due.postpone(due, until=later(3_600), reason="no_credit", failed=False)


async def test_every_piece_is_told_in_whatever_state(store: Store) -> None:
    await put(store, rows.due("a"), rows.due("b", due_at=later(-5)), rows.due("c", due_at=later(9)))
    parked, leased = await claim(store), await claim(store)
    assert await store.write(ALICE, lambda unit: unit.due.park(parked, reason="bad"), label="due.parked")
    every = await store.read(ALICE, lambda unit: unit.due.every(), label="due.listed")
    states = {one.subject: one.state for one in every}
    assert states == {parked.subject: DueState.PARKED, leased.subject: DueState.LEASED, "c": DueState.WAITING}
    assert [one.subject for one in every] == ["b", "a", "c"]
    assert await store.read(BOB, lambda unit: unit.due.every(), label="due.listed") == []


async def test_a_late_commit_is_refused_though_its_fence_counts_anew_for_what_became_due_again(store: Store) -> None:
    await put(store, rows.due())
    late = await claim(store, worker="late")
    assert await finish(store, await claim(store, later(30), worker="quick"))
    await put(store, rows.due())
    other = await claim(store, worker="other")
    assert other.fence == late.fence
    assert not await finish(store, late)
    assert await stored(store, other) == other


async def test_what_is_postponed_without_a_failure_counts_none(store: Store) -> None:
    await put(store, rows.due())
    due = await claim(store)
    assert await store.write(
        ALICE, lambda unit: unit.due.postpone(due, until=later(9), reason="spend_cap", failed=False), label="due.later"
    )
    waiting = await store.read(ALICE, lambda unit: unit.due.waiting(), label="due.listed")
    assert waiting == [rows.due(due_at=later(9), fence=1, reason="spend_cap")]


async def test_whoever_listens_is_told_once_something_due_is_committed(place: Place, store: Store) -> None:
    told = asyncio.Event()
    async with store.listening(told.set), asyncio.timeout(60):
        if place.folder is None:
            await told.wait()  # Once, when the database is listened to.
            told.clear()
        with suppress(ZeroDivisionError):
            await store.write(ALICE, put_and_fail, label="due.put")
        await store.write(ALICE, lambda unit: unit.owners.next_place(), label="place.taken")
        await asyncio.sleep(0)
        assert not told.is_set()
        await put(store, rows.due())
        await told.wait()


async def test_other_processes_are_told_where_the_database_can_tell(place: Place, store: Store) -> None:
    other, told = await place.open(), asyncio.Event()
    try:
        async with other.listening(told.set), asyncio.timeout(60):
            if place.folder is None:
                await told.wait()
                told.clear()
            await put(store, rows.due())
            if place.folder is None:
                await told.wait()
            else:
                await nothing_else(store)
                assert not told.is_set(), "on SQLite others look from time to time"
    finally:
        await other.close()


async def nothing_else(store: Store) -> None:
    await store.read(ALICE, lambda unit: unit.due.waiting(), label="due.listed")
