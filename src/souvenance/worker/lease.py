"""A step under its lease: extended while it runs, cancelled once it is lost."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from datetime import datetime
from typing import Any

from souvenance.app.due_work import Stepped
from souvenance.app.kit import Kit
from souvenance.domain.due import Due
from souvenance.errors import LeaseLost, StoreError
from souvenance.worker.pace import Pace

log = logging.getLogger(__name__)


async def under_lease(kit: Kit, due: Due, step: Coroutine[Any, Any, Stepped], pace: Pace) -> Stepped:
    """What `step` returns or raises. Raises LeaseLost, the step cancelled, when another worker took the piece over.

    When the caller is cancelled, the step has ended by the time that this is raised.
    """
    running = asyncio.create_task(step, name=f"{due.kind} of {due.subject}")
    keeping = asyncio.create_task(_keep(kit, due, pace))
    try:
        done, _ = await asyncio.wait({running, keeping}, return_when=asyncio.FIRST_COMPLETED)
        if running not in done:
            keeping.result()
            raise LeaseLost(due.kind, due.subject)
        if running.cancelled():
            raise RuntimeError("the step cancelled itself")
        return running.result()
    finally:
        await _end(running, keeping)


async def _keep(kit: Kit, due: Due, pace: Pace) -> None:
    """Extend the lease again and again; returns once it is lost.

    While the store cannot be used nobody can take it over there either, and a late commit is refused by its fence.
    """
    while True:
        await pace.rest(pace.renewal)
        try:
            if not await _extend(kit, due, kit.clock.now() + pace.lease):
                return
        except StoreError as error:
            log.warning("lease_not_extended", extra={"kind": due.kind, "subject": due.subject, "code": error.code})


async def _extend(kit: Kit, due: Due, until: datetime) -> bool:
    return await kit.store.write(due.owner_id, lambda unit: unit.due.extend(due, until=until), label="due.extended")


async def _end(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(Exception, asyncio.CancelledError):
            await task
