"""Scripted steps whose results are stored, so that what was done can be counted; rests that pass when told to."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from souvenance.app.due_work import Stepped, Work, end_step, make_due
from souvenance.app.kit import Kit
from souvenance.domain.due import Due, DueState
from souvenance.domain.ids import LOCAL_ACCOUNT, ConversationId, NotificationId, OwnerId
from souvenance.domain.notification import Notification
from souvenance.ports.store import Unit
from souvenance.testing import FrozenClock
from souvenance.worker.loop import Worker
from souvenance.worker.one_step import Step
from souvenance.worker.pace import Pace

RESULT = "result"
Meanwhile = Callable[[Due], Awaitable[None]]
"""What a step does between its look and its commit, where others ask a model."""


async def nothing(_: Due) -> None:
    return


class Rests:
    """Real time for a worker: every rest lasts until `passes` names its seconds."""

    def __init__(self) -> None:
        self._resting: list[tuple[float, asyncio.Future[None]]] = []
        self._changed = asyncio.Condition()

    async def __call__(self, seconds: float) -> None:
        rest = asyncio.get_running_loop().create_future()
        self._resting.append((seconds, rest))
        async with self._changed:
            self._changed.notify_all()
        await rest

    async def begun(self, seconds: float) -> None:
        """Once somebody rests so long."""
        async with self._changed, asyncio.timeout(60):
            await self._changed.wait_for(lambda: self._lasting(seconds))

    async def passes(self, seconds: float) -> None:
        """The rests of so many seconds end, once there is one."""
        await self.begun(seconds)
        for rest in self._lasting(seconds):
            rest.set_result(None)

    def _lasting(self, seconds: float) -> list[asyncio.Future[None]]:
        return [rest for long, rest in self._resting if long == seconds and not rest.done()]


def counting_step(meanwhile: Meanwhile = nothing, *, rounds: int = 1) -> Step:
    """Stores results 1 to `rounds` of each piece, one a step; which comes next is derived from what is stored."""

    async def step(kit: Kit, due: Due) -> Stepped:
        done = await kit.store.read(due.owner_id, lambda unit: results_of(unit, due), label="step.looked")
        await meanwhile(due)
        now, notification_id = kit.clock.now(), NotificationId(kit.ids.new("ntf"))

        def work(unit: Unit) -> bool:
            number = done + 1
            about: dict[str, str | int | float] = {"kind": due.kind, "subject": due.subject, "number": number}
            result = Notification(notification_id=notification_id, kind=RESULT, about=about, created_at=now)
            unit.notifications.put(result)
            end_step(unit, due, more=number % rounds != 0, at=now)
            return number % rounds != 0

        return Stepped(more=await kit.store.write(due.owner_id, work, label="step.kept"))

    return step


def results_of(unit: Unit, due: Due) -> int:
    return sum(1 for about in all_results(unit) if (about["kind"], about["subject"]) == (due.kind, due.subject))


def all_results(unit: Unit) -> list[Mapping[str, object]]:
    page = unit.notifications.page(before=None, limit=10_000, unread_only=False)
    return [each.about for each in reversed(page) if each.kind == RESULT]


@dataclass(slots=True, kw_only=True)
class Gate:
    """A step's way through: `entered` once it stands before it, and it goes on when `open` is set."""

    entered: asyncio.Event = field(default_factory=asyncio.Event)
    open: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, _: Due) -> None:
        self.entered.set()
        await self.open.wait()

    async def reached(self) -> None:
        async with asyncio.timeout(60):
            await self.entered.wait()


class Pieces:
    """Due work of the local account: made, worked on, looked at."""

    def __init__(self, kit: Kit, clock: FrozenClock) -> None:
        self.kit = kit
        self.clock = clock
        self.rests = Rests()

    def worker(self, *steps: Step, name: str = "w", kit: Kit | None = None, **pace: object) -> Worker:
        """Summaries are done by the first step, deeper memory by the second."""
        given = Pace(**{"rest": self.rests, "jitter": lambda: 0.0, "grace": 7.0, **pace})  # type: ignore[arg-type]
        by_kind = dict(zip((Work.SUMMARY, Work.DEEPER), steps, strict=False))
        return Worker(kit or self.kit, by_kind, name=name, pace=given)

    async def put(self, *subjects: str, kind: Work = Work.SUMMARY, owner_id: OwnerId = LOCAL_ACCOUNT) -> None:
        now = self.clock.now()

        def work(unit: Unit) -> None:
            for subject in subjects:
                make_due(unit, kind, ConversationId(subject), owner_id, now)

        await self.kit.store.write(owner_id, work, label="piece.due")

    async def results(self, owner_id: OwnerId = LOCAL_ACCOUNT) -> list[Mapping[str, object]]:
        """All that steps have stored, oldest first."""
        return await self.kit.store.read(owner_id, all_results, label="results.read")

    async def counted(self) -> Counter[tuple[object, object, object]]:
        return Counter((about["kind"], about["subject"], about["number"]) for about in await self.results())

    async def left(self, subject: str = "con_1", kind: Work = Work.SUMMARY) -> Due | None:
        return await self.kit.store.read(LOCAL_ACCOUNT, lambda unit: unit.due.get(kind, subject), label="piece.read")

    async def waits(self, subject: str = "con_1") -> Due:
        """The piece, which nobody has."""
        due = await self.left(subject)
        assert due is not None
        assert due.state is DueState.WAITING
        return due

    def seen_from(self, **jump: float) -> Kit:
        """The same house with a clock of its own, which stands elsewhere."""
        return replace(self.kit, clock=FrozenClock(self.clock.now() + timedelta(**jump)))
