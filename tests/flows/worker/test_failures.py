"""What fails is tried again after growing pauses, then parked and told; the spend cap holds (S1, C4)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from souvenance.app.browse import list_notifications
from souvenance.app.due_work import Stepped, Work
from souvenance.app.kit import Kit
from souvenance.app.spend import add_spending, check_spending, hour_of
from souvenance.app.work import list_work, restart_work
from souvenance.domain.due import Due, DueState
from souvenance.domain.ids import LOCAL_ACCOUNT, ConversationId
from souvenance.errors import ModelUnreachable, NotFound, StoreUnavailable
from souvenance.worker.one_step import Step
from tests.flows.app.stores import FailingStore
from tests.flows.worker.pieces import Pieces, counting_step

SECRET = "the user whispered this"


def fails_with(make: Callable[[], Exception]) -> Step:
    async def step(kit: Kit, due: Due) -> Stepped:
        raise make()

    return step


def unreachable() -> Exception:
    return ModelUnreachable("llama", reason="connection refused")


async def test_s1_a_failure_is_tried_again_after_pauses_that_grow_and_the_fifth_parks_it(pieces: Pieces) -> None:
    await pieces.put("con_1")
    worker, pauses = pieces.worker(fails_with(unreachable)), []
    for _ in range(4):
        await worker.work_off()
        waits = await pieces.waits()
        pauses.append((waits.due_at - pieces.clock.now()).total_seconds())
        pieces.clock.set(waits.due_at)
    await worker.work_off()
    parked = await pieces.left()
    assert parked is not None
    assert (pauses, worker.outcomes) == ([60, 240, 960, 3_840], {"postponed": 4, "parked": 1})
    assert (parked.state, parked.reason) == (DueState.PARKED, "model_unreachable")
    told = (await list_notifications(pieces.kit, LOCAL_ACCOUNT, unread_only=True, cursor=None, limit=None)).items
    about = {"kind": "summary", "conversation_id": "con_1", "reason": "model_unreachable", "failures": 5}
    assert [(each.kind, each.about) for each in told] == [("work_parked", about)]


async def test_what_failed_together_does_not_come_back_together(pieces: Pieces) -> None:
    await pieces.put("con_1", "con_2")
    numbers = iter((0.0, 1.0))
    await pieces.worker(fails_with(unreachable), at_once=1, jitter=lambda: next(numbers)).work_off()
    apart = (await pieces.waits("con_2")).due_at - (await pieces.waits("con_1")).due_at
    assert abs(apart) == timedelta(seconds=15)


async def test_s1_what_was_parked_is_started_again_by_a_person_and_has_failed_never(pieces: Pieces) -> None:
    await park(pieces)
    await pieces.put("con_1")
    await pieces.worker(counting_step()).work_off()
    assert await pieces.counted() == {}, "nothing but a person starts it again"
    restarted = await restart_work(pieces.kit, LOCAL_ACCOUNT, Work.SUMMARY, ConversationId("con_1"))
    assert (restarted.state, restarted.attempts, restarted.reason) == (DueState.WAITING, 0, "")
    await pieces.worker(counting_step()).work_off()
    assert await pieces.counted() == {("summary", "con_1", 1): 1}


async def test_only_what_is_parked_is_started_again(pieces: Pieces) -> None:
    await pieces.put("con_1")
    for kind, subject in (("summary", "con_1"), ("summary", "con_2"), ("nonsense", "con_1")):
        with pytest.raises(NotFound):
            await restart_work(pieces.kit, LOCAL_ACCOUNT, kind, ConversationId(subject))


async def park(pieces: Pieces) -> None:
    await pieces.put("con_1")
    once = replace(pieces.kit, limits=replace(pieces.kit.limits, work_failures=1))
    await pieces.worker(fails_with(unreachable), kit=once).work_off()


async def test_what_is_due_is_listed_page_by_page_with_its_reason(pieces: Pieces) -> None:
    await park(pieces)
    pieces.clock.advance(seconds=1)
    await pieces.put("con_2", "con_3")
    seen: list[tuple[str, str, str]] = []
    cursor: str | None = None
    while True:
        page = await list_work(pieces.kit, LOCAL_ACCOUNT, cursor=cursor, limit=2)
        seen += [(due.subject, due.state, due.reason) for due in page.items]
        if (cursor := page.next) is None:
            break
    assert seen == [("con_1", "parked", "model_unreachable"), ("con_2", "waiting", ""), ("con_3", "waiting", "")]


async def test_a_bug_in_a_step_counts_as_a_failure_and_no_log_holds_its_words(
    pieces: Pieces, caplog: pytest.LogCaptureFixture
) -> None:
    await pieces.put("con_1")
    with caplog.at_level(logging.DEBUG):
        await pieces.worker(fails_with(lambda: ValueError(SECRET)), counting_step()).work_off()
    waits = await pieces.waits()
    assert (waits.attempts, waits.reason) == (1, "internal_error")
    failed = next(record for record in caplog.records if record.message == "step_failed")
    assert vars(failed)["subject"] == "con_1"
    assert vars(failed)["error"] == "ValueError"
    assert SECRET not in "".join(repr(vars(record)) for record in caplog.records)


async def test_a_store_that_fails_while_a_failure_is_written_down_leaves_the_lease_to_expire(pieces: Pieces) -> None:
    await pieces.put("con_1")
    store = FailingStore(pieces.kit.store, "due.postponed")
    worker = pieces.worker(fails_with(lambda: StoreUnavailable("disk full")), kit=replace(pieces.kit, store=store))
    await worker.work_off()
    assert worker.outcomes == {"unrecorded": 1}
    pieces.clock.advance(minutes(1))
    await pieces.worker(counting_step()).work_off()
    assert await pieces.counted() == {("summary", "con_1", 1): 1}


def minutes(count: int) -> timedelta:
    return timedelta(minutes=count)


async def spends(kit: Kit, due: Due, tokens: int = 100) -> Stepped:
    """A step that asks a model once."""
    await check_spending(kit, due.owner_id, tokens=tokens)
    now = kit.clock.now()
    await kit.store.write(
        due.owner_id,
        lambda unit: add_spending(unit, due.kind, at=now, calls=1, tokens_in=tokens - 1, tokens_out=1),
        label="step.spent",
    )
    return await counting_step()(kit, due)


def capped(pieces: Pieces, cap: int) -> Kit:
    return replace(pieces.kit, limits=replace(pieces.kit.limits, work_spend_hour=cap))


async def spent_in(pieces: Pieces, at: datetime) -> int:
    return await pieces.kit.store.read(
        LOCAL_ACCOUNT, lambda unit: unit.spending.in_hour(hour_of(at)), label="spending.read"
    )


async def test_c4_past_the_cap_of_an_hour_work_waits_for_the_next_and_has_not_failed(pieces: Pieces) -> None:
    begun = pieces.clock.now()
    await pieces.put(*(f"con_{number}" for number in range(5)))
    worker = pieces.worker(spends, kit=capped(pieces, 200), at_once=1, jitter=lambda: 0.5)
    await worker.work_off()
    assert worker.outcomes == {"done": 2, "capped": 3}
    waiting = (await list_work(pieces.kit, LOCAL_ACCOUNT)).items
    assert {(due.attempts, due.reason, due.due_at) for due in waiting} == {
        (0, "spend_cap", begun + timedelta(hours=1, seconds=30))
    }
    pieces.clock.advance(timedelta(hours=1, seconds=30))
    await worker.work_off()
    assert worker.outcomes["done"] == 4
    assert (await spent_in(pieces, begun), await spent_in(pieces, pieces.clock.now())) == (200, 200)


async def test_c4_a_call_larger_than_the_cap_is_the_only_one_of_its_hour(pieces: Pieces) -> None:
    await pieces.put("con_1", "con_2")
    worker = pieces.worker(spends, kit=capped(pieces, 50), at_once=1)
    await worker.work_off()
    assert worker.outcomes == {"done": 1, "capped": 1}


async def test_c4_a_model_that_comes_back_after_an_hour_does_not_make_all_spend_at_once(pieces: Pieces) -> None:
    await pieces.put(*(f"con_{number:02}" for number in range(20)))
    down = pieces.worker(fails_with(unreachable))
    back = pieces.clock.now() + timedelta(hours=1)
    while pieces.clock.now() < back:
        await down.work_off()
        pieces.clock.advance(minutes(5))
    up, hours = pieces.worker(spends, kit=capped(pieces, 600), at_once=1), []
    assert "parked" not in down.outcomes
    while (await list_work(pieces.kit, LOCAL_ACCOUNT)).items:
        await up.work_off()
        pieces.clock.advance(minutes(20))
        hours.append(await spent_in(pieces, pieces.clock.now()))
    assert max(hours) <= 600
    assert set((await pieces.counted()).values()) == {1}
    assert len(await pieces.results()) == 20
