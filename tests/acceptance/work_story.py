"""A story of background work for processes that die in it, and how others find and end it; for tests only.

A summary of two steps, and a reading for deeper memory that fails until it was parked and a person restarts it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

from souvenance.app.browse import list_notifications
from souvenance.app.due_work import Stepped, Work, make_due
from souvenance.app.kit import Kit
from souvenance.app.work import list_work, restart_work
from souvenance.domain.due import Due, DueState
from souvenance.domain.ids import ConversationId
from souvenance.domain.notification import Notification
from souvenance.errors import ModelUnreachable
from souvenance.ports.store import Unit
from souvenance.testing import FrozenClock
from souvenance.wiring import House
from souvenance.worker.one_step import Step
from tests.flows.worker.pieces import counting_step

LIMITS = {"work_failures": 2.0}
CHAT = ConversationId("con_1")
LATER = timedelta(days=1)
"""After which every lease has expired and every pause has passed."""


async def _deepen(kit: Kit, due: Due) -> Stepped:
    told = (await list_notifications(kit, due.owner_id, unread_only=False, cursor=None, limit=None)).items
    if not any(each.kind == "work_parked" for each in told):
        raise ModelUnreachable("llama", reason="connection refused")
    return await counting_step()(kit, due)


STEPS: Mapping[Work, Step] = {Work.SUMMARY: counting_step(rounds=2), Work.DEEPER: _deepen}


async def live(house: House, clock: FrozenClock, tell: Callable[[], Awaitable[None]]) -> None:
    """Make it due and see it through, day after day, as the next process does that finds it."""

    def work(unit: Unit) -> None:
        for kind in (Work.SUMMARY, Work.DEEPER):
            make_due(unit, kind, CHAT, house.owner_id, clock.now())

    await house.kit.store.write(house.owner_id, work, label="work.due")
    await tell()
    await see_through(house, clock)


async def see_through(house: House, clock: FrozenClock) -> None:
    """Until nothing is left: work, let a day pass, start again what is parked."""
    while due := (await list_work(house.kit, house.owner_id)).items:
        for piece in due:
            if piece.state is DueState.PARKED:
                await restart_work(house.kit, house.owner_id, piece.kind, CHAT)
        await house.worker().work_off()
        clock.advance(LATER)


async def left_behind(house: House) -> list[Notification]:
    """Results and words to the person, oldest first."""
    page = await list_notifications(house.kit, house.owner_id, unread_only=False, cursor=None, limit=200)
    return list(reversed(page.items))
