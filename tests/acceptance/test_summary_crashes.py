"""A crash before and after the commits of a summary: whoever comes next ends it, nothing is lost or doubled (S1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

import pytest

from souvenance.testing import CountedIds, FrozenClock
from souvenance.testing.clock import START
from souvenance.wiring import open_house
from tests.acceptance import summary_story
from tests.acceptance.crash_story import Order, settings_of
from tests.acceptance.test_crash_points import Place, make_account, places, teller
from tests.acceptance.test_work_crashes import check_died
from tests.acceptance.work_story import LATER
from tests.counts import PROVING, times

__all__ = ["places"]

LABELS = {"summary.batch_kept", "summary.rolled_up", "summary.refreshed", "deeper.stored", "work.rested"} | {
    "rebuild.begun",
    "rebuild.stepped",
    "rebuild.swapped",
}


@pytest.mark.timeout(times(600, full=7_200))
async def test_s1_s7_a_crash_at_any_commit_of_a_summary_loses_and_doubles_nothing(
    places: Callable[[str], AbstractAsyncContextManager[Place]], record_property: Callable[[str, object], None]
) -> None:
    async with teller() as lives:
        async with places("whole") as place:
            await make_account(place)
            whole = await lives(_order(place, None))
            assert whole.status == 0
            ended = await seen_through(place)
        assert {boundary.partition(":")[0] for boundary in whole.boundaries} >= LABELS
        chosen = points(whole.boundaries)
        for number in chosen:
            async with places(f"point{number}") as place:
                await make_account(place)
                check_died(await lives(_order(place, number)), whole, number)
                assert await seen_through(place) == ended, whole.boundaries[number]
    where = "SQLite" if place[1] is None else "PostgreSQL"
    record_property("proof", f"crash points of a summary, {where}: {len(chosen)} of {len(whole.boundaries)} boundaries")


def points(boundaries: Sequence[str]) -> list[int]:
    """All from the first turn's end on; in `make test` after the first commit of each label, which is where the
    next step begins; before it the step is only done again.
    """
    first = boundaries.index("summary.batch_kept:before")
    if PROVING:
        return list(range(first, len(boundaries)))
    ends = {at for label in LABELS for at in _ends(boundaries, label)}
    return sorted(ends)


def _ends(boundaries: Sequence[str], label: str) -> list[int]:
    at = [number for number, boundary in enumerate(boundaries) if boundary.partition(":")[0] == label]
    return at[1:2]


async def seen_through(place: Place) -> dict[str, object]:
    """What is there once somebody has ended, a day later, what the dead one left."""
    clock, ids = FrozenClock(START + LATER), CountedIds(10**6)
    async with await open_house(
        settings_of(_order(place, None)), models=summary_story.model(), clock=clock, ids=ids
    ) as house:
        await summary_story.live(house, _nobody)
        return await summary_story.ended(house)


async def _nobody() -> None:
    return


def _order(place: Place, dies_at: int | None) -> Order:
    return Order(folder=str(place[0]), database_url=place[1], dies_at=dies_at, story="summary")
