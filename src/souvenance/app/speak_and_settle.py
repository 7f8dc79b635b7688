"""Speak and settle: a reply from its first word to its being stored, however it ends (T6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from souvenance.app.change_memories import Changed, NotChanged, Outcome
from souvenance.app.kit import Kit
from souvenance.app.off_loop import to_its_end
from souvenance.app.plan_turn import Plan
from souvenance.app.recall_reply import recall_reply
from souvenance.app.reply import Reply
from souvenance.app.settle_turn import Settled, settle_turn
from souvenance.app.speak import speak
from souvenance.app.turn import Delta, Done, Noted, TurnEvent
from souvenance.domain.ids import OwnerId
from souvenance.domain.memory_lines import told
from souvenance.errors import Conflict, ModelBroken, ModelError, NotFound, StoreError


async def speak_and_settle(kit: Kit, owner_id: OwnerId, plan: Plan) -> AsyncGenerator[TurnEvent, None]:
    """The reply as it comes, then Done, which follows the commit. Close it early and what was said is kept as cut off.

    Raises what the model raises, TurnSuperseded and NotLastTurn; a store that fails at the end costs the reply's being
    kept, not the reply.
    """
    reply = Reply(
        by_number=dict(plan.shown.by_number), given=dict(plan.shown.given), last_number=plan.shown.last_number
    )
    voice = speak if plan.opened.model is not None else recall_reply
    try:
        async with aclosing(voice(kit, owner_id, plan, reply)) as pieces:
            async for piece in pieces:
                yield piece
        waits = reply.their_calls and not plan.opened.replaces
        if not reply.is_worth_keeping and not waits:
            raise ModelBroken(str(plan.layout.head["model"]), problem="an empty reply")
    except ModelError:
        await _keep_cut_off(kit, owner_id, plan, reply)
        raise
    except (GeneratorExit, asyncio.CancelledError):
        # The caller is gone; what it saw is kept all the same, even if the task is cancelled once more.
        await to_its_end(_keep_cut_off(kit, owner_id, plan, reply))
        raise
    try:
        settled = await to_its_end(settle_turn(kit, owner_id, plan, reply))
    except StoreError:
        yield _done(plan, reply, None)
        return
    if reply.is_calls_only and settled.message is not None and plan.opened.continues is None:
        yield Delta(text=settled.message.text)
    for outcome in settled.outcomes:
        note = note_of(outcome)
        if note is not None:
            yield note
    yield _done(plan, reply, settled)


async def _keep_cut_off(kit: Kit, owner_id: OwnerId, plan: Plan, reply: Reply) -> None:
    """Store what was said before the end; complete calls in it count (T6). With nothing said the turn stays open, but
    where the window stands now is kept, as is what was sent.
    """
    if reply.rounds or reply.is_worth_keeping:
        # That the reply ends is told by what ended it; a store that fails besides leaves the turn open, answerable.
        with suppress(StoreError, Conflict, NotFound):
            await settle_turn(kit, owner_id, plan, reply, cut_off=True)


def note_of(outcome: Outcome) -> Noted | None:
    match outcome:
        case Changed(kind="confirmed"):
            return None
        case Changed(kind=kind, memory=memory):
            return Noted(kind=kind, memory_id=memory.memory_id, text=told(memory))
        case NotChanged(reason="pinned", memory=memory) if memory is not None:
            words = f"Pinned, so not changed: {told(memory)}"
            return Noted(kind="refused", memory_id=memory.memory_id, text=words)
        case NotChanged(reason="erased", memory=memory):
            words = "Not stored: you erased this. Say it again if it is to be remembered."
            return Noted(kind="refused", memory_id=None if memory is None else memory.memory_id, text=words)
        case _:
            return None


def _done(plan: Plan, reply: Reply, settled: Settled | None) -> Done:
    """The end of a reply; its figures are the model's own where it reported every round, else estimates (C5)."""
    message = None if settled is None else settled.message
    reported = [told.usage for told in reply.rounds if told.usage is not None]
    known = bool(reported) and len(reported) == len(reply.rounds)
    corrected = plan.gathered.window.calibration.corrected
    tokens_in = [u.tokens_in for u in reported] if known else [corrected(r.estimated_in) for r in reply.rounds]
    tokens_out = [u.tokens_out for u in reported] if known else [corrected(message.tokens) if message else 0]
    return Done(
        turn=None if settled is None else settled.turn,
        message=message,
        finish=reply.finish or "stop",
        model="" if plan.opened.model is None else plan.opened.model.name,
        tokens_in=sum(tokens_in),
        tokens_out=sum(tokens_out),
        estimated=not known,
        saved=0 if settled is None else settled.saved,
        memory_unavailable=settled is None,
        more=bool(plan.opened.after) and settled is not None,
    )
