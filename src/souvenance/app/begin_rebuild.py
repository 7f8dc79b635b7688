"""Begin to write a conversation's summary anew, or start over with it; the old one serves until the end (S7)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from souvenance.app.credit import check_credit
from souvenance.app.due_work import Work, make_due
from souvenance.app.estimate_rebuild import Estimate, estimate_rebuild
from souvenance.app.kit import Kit
from souvenance.app.look_at_summary import is_rebuilding
from souvenance.domain.due import DueState
from souvenance.domain.ids import ConversationId, OwnerId, RebuildId
from souvenance.domain.limits import Level
from souvenance.domain.summary import Rebuild, RebuildState
from souvenance.errors import NoRebuildRuns, RebuildRunning
from souvenance.ports.store import Unit

_OVER = "start over"


async def begin_rebuild(
    kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, *, level: Level | None = None
) -> Rebuild:
    """The rebuild at `level`, the conversation's own when it is None, about to be done in the background.

    Raises RebuildRunning when one is on its way or waits to be resumed, NothingToRebuild, NoCredit when its estimate is
    not covered (then nothing was sent), UnknownModel, NotFound.
    """
    rebuild = await _planned(kit, owner_id, conversation_id, level)

    def work(unit: Unit) -> Rebuild:
        unit.conversations.lock(conversation_id)
        newest = unit.rebuilds.newest(conversation_id)
        if newest is not None and is_rebuilding(newest):
            raise RebuildRunning(newest.rebuild_id, newest.state)
        _begin(unit, rebuild)
        return rebuild

    return await kit.store.write(owner_id, work, label="rebuild.begun")


async def start_over(
    kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, *, level: Level | None = None
) -> Rebuild:
    """A new rebuild instead of the one on its way, of which nothing is left; at that one's level when `level` is None.

    Raises NoRebuildRuns when none is on its way, and what begin_rebuild raises.
    """
    before = await kit.store.read(owner_id, lambda unit: on_its_way(unit, conversation_id, _OVER), label="rebuild.read")
    rebuild = await _planned(kit, owner_id, conversation_id, level or before.level)

    def work(unit: Unit) -> Rebuild:
        unit.conversations.lock(conversation_id)
        drop_rebuild(unit, on_its_way(unit, conversation_id, _OVER), rebuild.begun_at)
        _begin(unit, rebuild)
        return rebuild

    return await kit.store.write(owner_id, work, label="rebuild.started_over")


def on_its_way(unit: Unit, conversation_id: ConversationId, verb: str) -> Rebuild:
    """The rebuild that runs or waits to be resumed; NoRebuildRuns for none, NotFound without a conversation."""
    unit.conversations.get(conversation_id)
    newest = unit.rebuilds.newest(conversation_id)
    if newest is None or not is_rebuilding(newest):
        state = "none" if newest is None else newest.state.value
        raise NoRebuildRuns(conversation_id, verb=verb, state=state)
    return newest


def drop_rebuild(unit: Unit, rebuild: Rebuild, now: datetime) -> Rebuild:
    """The rebuild CANCELLED; nothing of what it wrote is left."""
    here = rebuild.conversation_id
    made = unit.summaries.all(here, rebuild_id=rebuild.rebuild_id)
    unit.summaries.remove(here, [node.node_id for node in made])
    cancelled = replace(rebuild, state=RebuildState.CANCELLED, ended_at=now)
    unit.rebuilds.save(cancelled)
    return cancelled


def wake(unit: Unit, here: ConversationId, now: datetime) -> None:
    """Let the next step of the rebuild here be due, also where its last one was parked."""
    parked = unit.due.get(Work.REBUILD, here)
    if parked is not None and parked.state is DueState.PARKED:
        unit.due.restart(Work.REBUILD, here, at=now)
    else:
        make_due(unit, Work.REBUILD, here, unit.owner_id, now)


def _begin(unit: Unit, rebuild: Rebuild) -> None:
    wake(unit, rebuild.conversation_id, rebuild.begun_at)
    unit.rebuilds.put(rebuild)


async def _planned(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, level: Level | None) -> Rebuild:
    estimate = await estimate_rebuild(kit, owner_id, conversation_id, level=level)
    await check_credit(kit, owner_id, tokens_in=estimate.tokens_in, tokens_out=estimate.tokens_out)
    return _rebuild(kit, conversation_id, estimate)


def _rebuild(kit: Kit, conversation_id: ConversationId, estimate: Estimate) -> Rebuild:
    return Rebuild(
        rebuild_id=RebuildId(kit.ids.new("reb")),
        conversation_id=conversation_id,
        level=estimate.level,
        state=RebuildState.RUNNING,
        up_to=estimate.up_to,
        steps_estimated=estimate.steps,
        estimated_in=estimate.tokens_in,
        estimated_out=estimate.tokens_out,
        edited=estimate.edited,
        begun_at=kit.clock.now(),
    )
