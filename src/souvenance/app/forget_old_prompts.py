"""Let go of what was sent long ago (C1): prompts past their days, and the parts that nothing refers to any more."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from souvenance.app.kit import Kit
    from souvenance.domain.ids import OwnerId

_AT_ONCE = 100


async def forget_old_prompts(kit: Kit, owner_id: OwnerId) -> int:
    """Drop one owner's prompts older than `Limits.prompt_days`, in short writes; returns how many went."""
    before = kit.clock.now() - timedelta(days=kit.limits.prompt_days)
    gone = 0
    while True:
        dropped = await kit.store.write(
            owner_id, lambda unit: unit.prompts.forget_before(before, limit=_AT_ONCE), label="prompts.forgotten"
        )
        gone += dropped
        if dropped < _AT_ONCE:
            return gone
