"""The steps of background work, each loaded when it is first done: opening a memory does not wait for prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from souvenance.app.due_work import Stepped
from souvenance.app.kit import Kit
from souvenance.domain.due import Due

if TYPE_CHECKING:
    from souvenance.domain.notification import Notification
    from souvenance.ports.store import Unit


async def compact(kit: Kit, due: Due) -> Stepped:
    """`app.compact`."""
    from souvenance.app import compact

    return await compact.compact(kit, due)


async def deepen(kit: Kit, due: Due) -> Stepped:
    """`app.deepen`."""
    from souvenance.app import deepen

    return await deepen.deepen(kit, due)


async def rebuild(kit: Kit, due: Due) -> Stepped:
    """`app.rebuild`."""
    from souvenance.app import rebuild

    return await rebuild.rebuild(kit, due)


def fail_rebuild(kit: Kit, unit: Unit, due: Due, reason: str) -> Notification | None:
    """`app.rebuild`."""
    from souvenance.app import rebuild

    return rebuild.fail_rebuild(kit, unit, due, reason)
