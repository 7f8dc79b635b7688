"""The steps of background work, each loaded when it is first done: opening a memory does not wait for prompts."""

from __future__ import annotations

from souvenance.app.due_work import Stepped
from souvenance.app.kit import Kit
from souvenance.domain.due import Due


async def compact(kit: Kit, due: Due) -> Stepped:
    """`app.compact`."""
    from souvenance.app import compact

    return await compact.compact(kit, due)


async def deepen(kit: Kit, due: Due) -> Stepped:
    """`app.deepen`."""
    from souvenance.app import deepen

    return await deepen.deepen(kit, due)
