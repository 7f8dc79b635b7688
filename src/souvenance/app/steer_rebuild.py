"""Look at a rebuild, pause it, resume it where it stopped, or cancel it (S7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from souvenance.app.begin_rebuild import drop_rebuild, on_its_way, wake
from souvenance.app.due_work import Work, make_due
from souvenance.app.kit import Kit
from souvenance.domain.ids import ConversationId, OwnerId
from souvenance.domain.summary import Rebuild, RebuildState
from souvenance.errors import NotFound
from souvenance.ports.store import Unit


async def read_rebuild(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId) -> Rebuild:
    """The conversation's last rebuild, in whatever state; NotFound when there was none."""

    def work(unit: Unit) -> Rebuild:
        unit.conversations.get(conversation_id)
        newest = unit.rebuilds.newest(conversation_id)
        if newest is None:
            raise NotFound("rebuild of conversation", conversation_id)
        return newest

    return await kit.store.read(owner_id, work, label="rebuild.read")


async def pause_rebuild(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId) -> Rebuild:
    """Nothing more of it is begun; a node that is being written is still kept. NoRebuildRuns, NotFound.

    One that waits to be resumed already stays as it is.
    """

    def paused(unit: Unit, rebuild: Rebuild, now: datetime) -> Rebuild:
        if rebuild.state is not RebuildState.RUNNING:
            return rebuild
        changed = replace(rebuild, state=RebuildState.PAUSED)
        unit.rebuilds.save(changed)
        return changed

    return await _steer(kit, owner_id, conversation_id, "pause", paused)


async def resume_rebuild(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId) -> Rebuild:
    """It goes on where it stopped: what it wrote is not written again, unless its messages changed meanwhile.

    Raises NoRebuildRuns, NotFound.
    """
    return await _steer(kit, owner_id, conversation_id, "resume", resume)


def resume(unit: Unit, rebuild: Rebuild, now: datetime) -> Rebuild:
    """In a transaction that holds the conversation."""
    if rebuild.state is RebuildState.RUNNING:
        return rebuild
    wake(unit, rebuild.conversation_id, now)
    changed = replace(rebuild, state=RebuildState.RUNNING, reason="")
    unit.rebuilds.save(changed)
    return changed


async def cancel_rebuild(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId) -> Rebuild:
    """The summary stays as it was; nothing of what was written is left. NoRebuildRuns, NotFound."""

    def cancelled(unit: Unit, rebuild: Rebuild, now: datetime) -> Rebuild:
        # The piece that is due, or parked, ends by itself; and what had to wait for the rebuild is done.
        wake(unit, conversation_id, now)
        make_due(unit, Work.REFRESH, conversation_id, owner_id, now)
        return drop_rebuild(unit, rebuild, now)

    return await _steer(kit, owner_id, conversation_id, "cancel", cancelled)


async def _steer(
    kit: Kit,
    owner_id: OwnerId,
    conversation_id: ConversationId,
    verb: str,
    change: Callable[[Unit, Rebuild, datetime], Rebuild],
) -> Rebuild:
    now = kit.clock.now()

    def work(unit: Unit) -> Rebuild:
        unit.conversations.lock(conversation_id)
        return change(unit, on_its_way(unit, conversation_id, verb), now)

    return await kit.store.write(owner_id, work, label=f"rebuild.{verb}")
