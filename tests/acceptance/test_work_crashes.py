"""A crash before and after every commit of background work: whoever comes next ends it, each result stored once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from souvenance.testing import CountedIds, FrozenClock, ScriptedModel
from souvenance.testing.clock import START
from souvenance.wiring import open_house
from tests.acceptance import work_story
from tests.acceptance.crash_story import KILLED, Life, Order, settings_of
from tests.acceptance.test_crash_points import Place, make_account, places, teller
from tests.acceptance.work_story import LATER
from tests.counts import times

__all__ = ["places"]

ENDED = Counter(
    [("result", "summary", 1), ("result", "summary", 2), ("result", "deeper", 1), ("work_parked", "deeper", 0)]
)


@pytest.mark.timeout(times(600, full=7_200))
async def test_s1_a_crash_at_any_commit_of_background_work_loses_and_doubles_nothing(
    places: Callable[[str], AbstractAsyncContextManager[Place]], record_property: Callable[[str, object], None]
) -> None:
    async with teller() as lives:
        async with places("whole") as place:
            await make_account(place)
            whole = await lives(_order(place, None))
            assert whole.status == 0
            assert await see_through(place, putting=False) == ENDED
        first = whole.boundaries.index("work.due:before")
        for number in range(first, len(whole.boundaries)):
            async with places(f"point{number}") as place:
                await make_account(place)
                life = await lives(_order(place, number))
                check_died(life, whole, number)
                ended = await see_through(place, putting=number == first)
                assert ended == ENDED, whole.boundaries[number]
    labels = {boundary.partition(":")[0] for boundary in whole.boundaries[first:]}
    assert {"due.claimed", "step.kept", "due.postponed", "due.parked", "work.restarted"} <= labels
    where = "SQLite" if place[1] is None else "PostgreSQL"
    commits = (len(whole.boundaries) - first) // 2
    record_property("proof", f"crash points of work, {where}: before and after each of {commits} commits, once")


def check_died(life: Life, whole: Life, number: int) -> None:
    assert life.status == KILLED
    assert life.boundaries == whole.boundaries[: number + 1]


async def see_through(place: Place, *, putting: bool) -> Counter[tuple[str, object, object]]:
    """What is there once somebody has ended, a day later, what the dead one left; it is put anew if that was lost."""
    clock = FrozenClock(START + LATER)
    settings, ids = settings_of(_order(place, None)), CountedIds(10**6)
    async with await open_house(
        settings, models=ScriptedModel(), clock=clock, ids=ids, steps=work_story.STEPS
    ) as house:
        if putting:
            await work_story.live(house, clock, _nobody)
        await work_story.see_through(house, clock)
        left = await work_story.left_behind(house)
    return Counter((each.kind, each.about["kind"], each.about.get("number", 0)) for each in left)


async def _nobody() -> None:
    return


def _order(place: Place, dies_at: int | None) -> Order:
    return Order(folder=str(place[0]), database_url=place[1], dies_at=dies_at, story="work")
