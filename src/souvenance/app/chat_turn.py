"""Journey 1: one turn, from the user's message to the stored reply (T6).

One short write, one short read, no transaction while the model speaks, one write. A fault in memory never breaks a
chat that the model could answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from souvenance.app.answer_without_memory import answer_without_memory
from souvenance.app.change_memories import Changed, NotChanged, Outcome
from souvenance.app.check_size import check_size
from souvenance.app.choose_model import Shelf, model_asked, models_at_hand
from souvenance.app.kit import Kit
from souvenance.app.off_loop import to_its_end
from souvenance.app.open_turn import OpenedTurn, open_turn
from souvenance.app.plan_turn import Plan, plan_turn
from souvenance.app.recall_reply import recall_reply
from souvenance.app.reply import Reply
from souvenance.app.run_command import command_of, run_command
from souvenance.app.settle_turn import Settled, settle_turn
from souvenance.app.speak import speak
from souvenance.app.turn import Delta, Done, FromClient, InConversation, Noted, Opened, TurnEvent, TurnRequest
from souvenance.domain.ids import OwnerId, TurnId
from souvenance.domain.memory_lines import line
from souvenance.errors import ModelBroken, ModelError, StoreError, TurnSuperseded


async def chat_turn(kit: Kit, owner_id: OwnerId, request: TurnRequest) -> AsyncGenerator[TurnEvent, None]:
    """The events of one turn: Opened, then Delta and Noted as they come, then Done, which follows the commit.

    Close it early and the reply is kept as cut off and the call upstream ends. Raises what `open_turn`, `plan_turn`
    and the model raise.
    """
    async with kit.busy.alone(_name(owner_id, request)):
        command = await command_of(kit, owner_id, request)
        if command is not None:
            async for event in run_command(kit, owner_id, request, command):
                yield event
            return
        shelf = await models_at_hand(kit, asked=model_asked(request))
        try:
            opened = await open_turn(
                kit,
                owner_id,
                request,
                shelf,
                lambda unit, opened: check_size(unit, kit, request, opened, offer_tools=True),
            )
        except StoreError:
            async with aclosing(answer_without_memory(kit, request, shelf)) as events:
                async for event in events:
                    yield event
            return
        async with (
            kit.busy.alone(f"answers {owner_id} {opened.conversation.conversation_id}"),
            aclosing(_answer(kit, owner_id, request, opened, shelf)) as events,
        ):
            async for event in events:
                yield event


async def acknowledge(kit: Kit, owner_id: OwnerId, turn_id: TurnId) -> None:
    """Note that the last byte of this turn's reply was sent: a request that looks the same is a new one from now on.

    A turn that waits for the results of the client's own tools is not answered yet, and stays as it is.
    """
    await kit.store.write(owner_id, lambda unit: unit.turns.acknowledge(turn_id), label="turn.acknowledged")


def _name(owner_id: OwnerId, request: TurnRequest) -> str:
    """What two requests must share to be opened one after the other."""
    address = request.address
    if isinstance(address, InConversation):
        return f"{owner_id} {address.conversation_id}"
    if isinstance(address, FromClient):
        return f"{owner_id} {address.client} {address.ref or request.request_hash}"
    return f"{owner_id} new {request.request_key or id(request)}"


async def _answer(
    kit: Kit, owner_id: OwnerId, request: TurnRequest, opened: OpenedTurn, shelf: Shelf
) -> AsyncGenerator[TurnEvent, None]:
    yield Opened(conversation=opened.conversation, turn=opened.turn, message=opened.message)
    if opened.stored:
        for event in _replay(opened):
            yield event
        return
    try:
        plan = await plan_turn(kit, owner_id, request, opened)
    except StoreError:
        async with aclosing(answer_without_memory(kit, request, shelf, opened=opened)) as events:
            async for event in events:
                yield event
        return
    async with aclosing(_speak_and_settle(kit, owner_id, plan)) as events:
        async for event in events:
            yield event


def _replay(opened: OpenedTurn) -> list[TurnEvent]:
    """The stored reply again, for a request that is the same as the one that it answered."""
    text = "\n".join(message.text for message in opened.stored if message.text)
    last = opened.stored[-1]
    done = Done(
        turn=opened.turn, message=last, finish="stop", model=last.model, tokens_out=last.tokens, saved=last.noted
    )
    return [Delta(text=text), done]


async def _speak_and_settle(kit: Kit, owner_id: OwnerId, plan: Plan) -> AsyncGenerator[TurnEvent, None]:
    reply = Reply(
        by_number=dict(plan.shown.by_number), given=dict(plan.shown.given), last_number=plan.shown.last_number
    )
    voice = speak if plan.opened.model is not None else recall_reply
    try:
        async with aclosing(voice(kit, owner_id, plan, reply)) as pieces:
            async for piece in pieces:
                yield piece
        if not reply.is_worth_keeping and not reply.their_calls:
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
    if reply.is_calls_only and settled.message is not None:
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
        with suppress(StoreError, TurnSuperseded):
            await settle_turn(kit, owner_id, plan, reply, cut_off=True)


def note_of(outcome: Outcome) -> Noted | None:
    match outcome:
        case Changed(kind="confirmed"):
            return None
        case Changed(kind=kind, memory=memory):
            return Noted(kind=kind, memory_id=memory.memory_id, text=line(memory)[2:])
        case NotChanged(reason="pinned", memory=memory) if memory is not None:
            words = f"Pinned, so not changed: {line(memory)[2:]}"
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
    corrected = plan.gathered.calibration.corrected
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
    )
