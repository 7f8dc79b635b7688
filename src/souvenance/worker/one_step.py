"""One piece of due work, from its lease to what became of it."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import PurePath
from typing import Any, TypeAlias, assert_never

from souvenance.app.credit import tell_no_credit
from souvenance.app.due_work import Stepped
from souvenance.app.kit import Kit
from souvenance.domain.due import Due
from souvenance.domain.ids import NotificationId
from souvenance.domain.notification import Notification
from souvenance.domain.work_pauses import Park, TryAgain, after_cap, after_failure
from souvenance.errors import LeaseLost, NoCredit, SouvenanceError, SpendCapReached, StoreError
from souvenance.ports.store import Unit
from souvenance.worker.lease import under_lease
from souvenance.worker.pace import Pace

Step: TypeAlias = Callable[[Kit, Due], Coroutine[Any, Any, Stepped]]
"""Does the next step of what is due and commits it with its end (`end_step`); raises what went wrong."""

WhenParked: TypeAlias = Callable[[Kit, Unit, Due, str], Notification | None]
"""What else is to be written when a piece is parked for this reason, in the same transaction; what it returns is told
instead of the usual `work_parked`.
"""

INTERNAL = "internal_error"
"""The reason of a failure that is a bug."""

log = logging.getLogger(__name__)


class Outcome(StrEnum):
    """What became of a claimed piece. LOST: another worker has it; UNRECORDED: the store could not be told."""

    DONE = "done"
    CAPPED = "capped"
    POSTPONED = "postponed"
    PARKED = "parked"
    LOST = "lost"
    UNRECORDED = "unrecorded"


async def do_step(kit: Kit, due: Due, step: Step, pace: Pace, when_parked: WhenParked | None = None) -> Outcome:
    """Do one step of a leased piece. Whatever fails is written down with the piece and logged; nothing is raised.

    Cancelled, it stops the step and gives the lease back, so that any worker may go on at once.
    """
    try:
        stepped = await under_lease(kit, due, step(kit, due), pace)
    except LeaseLost:
        return _noted(due, Outcome.LOST)
    except SpendCapReached as error:
        until = after_cap(error.until, jitter=pace.jitter())
        return await _recorded(due, Outcome.CAPPED, _postpone(kit, due, until, error.code, failed=False))
    except NoCredit as error:
        return await _recorded(due, Outcome.CAPPED, _await_credit(kit, due, error, pace))
    except Exception as error:  # noqa: BLE001 - a bug in one step must not end the others
        _log_failure(due, error)
        return await _fail(kit, due, error, pace, when_parked)
    except asyncio.CancelledError:
        await _recorded(due, Outcome.POSTPONED, _postpone(kit, due, kit.clock.now(), "", failed=False))
        raise
    return _noted(due, Outcome.DONE, more=stepped.more, note=stepped.reason)


async def _fail(kit: Kit, due: Due, error: Exception, pace: Pace, when_parked: WhenParked | None) -> Outcome:
    reason = error.code if isinstance(error, SouvenanceError) else INTERNAL
    now = kit.clock.now()
    match after_failure(due.attempts, now=now, jitter=pace.jitter(), limits=kit.limits):
        case TryAgain(at=at):
            ended = _postpone(kit, due, at, reason, failed=True)
            return await _recorded(due, Outcome.POSTPONED, ended)
        case Park(failures=failures):
            return await _recorded(due, Outcome.PARKED, _park(kit, due, reason, failures, when_parked))
        case never:
            assert_never(never)


async def _postpone(kit: Kit, due: Due, until: datetime, reason: str, *, failed: bool) -> bool:
    return await kit.store.write(
        due.owner_id,
        lambda unit: unit.due.postpone(due, until=until, reason=reason, failed=failed),
        label="due.postponed",
    )


async def _await_credit(kit: Kit, due: Due, error: NoCredit, pace: Pace) -> bool:
    """Look again in an hour whether there is credit; the person is told once (C4)."""
    until = after_cap(kit.clock.now() + timedelta(hours=1), jitter=pace.jitter())

    def work(unit: Unit) -> bool:
        if not unit.due.postpone(due, until=until, reason=error.code, failed=False):
            return False
        if due.reason != error.code:
            tell_no_credit(unit, kit, due.subject, error)
        return True

    return await kit.store.write(due.owner_id, work, label="due.postponed")


async def _park(kit: Kit, due: Due, reason: str, failures: int, when_parked: WhenParked | None) -> bool:
    """Kept until a person restarts it, and that person is told (S1)."""
    now = kit.clock.now()
    told = Notification(
        notification_id=NotificationId(kit.ids.new("ntf")),
        kind="work_parked",
        about={"kind": due.kind, "conversation_id": due.subject, "reason": reason, "failures": failures},
        created_at=now,
    )

    def work(unit: Unit) -> bool:
        if not unit.due.park(due, reason=reason):
            return False
        instead = None if when_parked is None else when_parked(kit, unit, due, reason)
        unit.notifications.put(instead or told)
        return True

    return await kit.store.write(due.owner_id, work, label="due.parked")


async def _recorded(due: Due, outcome: Outcome, recording: Awaitable[bool]) -> Outcome:
    """The outcome if it is written down: not when the piece was lost meanwhile, or the store cannot be used."""
    try:
        stands = await recording
    except StoreError as error:
        return _noted(due, Outcome.UNRECORDED, code=error.code)
    return _noted(due, outcome if stands else Outcome.LOST)


def _noted(due: Due, outcome: Outcome, **more: object) -> Outcome:
    named = {"kind": due.kind, "subject": due.subject, "fence": due.fence}
    log.info("step_ended", extra={"outcome": outcome.value, **named, **more})
    return outcome


def _log_failure(due: Due, error: Exception) -> None:
    """What failed and where; an error's own words may hold what somebody said, and stay out."""
    code = error.code if isinstance(error, SouvenanceError) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    at = " < ".join(f"{PurePath(frame.filename).name}:{frame.lineno}" for frame in reversed(frames[-3:]))
    level = logging.WARNING if isinstance(error, SouvenanceError) else logging.ERROR
    named = {"kind": due.kind, "subject": due.subject, "owner": due.owner_id, "attempt": due.attempts + 1}
    log.log(level, "step_failed", extra={**named, "error": code, "at": at})
