"""Journey 1: one turn, from the user's message to the stored reply (T6).

One short write, one short read, no transaction while the model speaks, one write. A fault in memory never breaks a
chat that the model could answer.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from souvenance.app.answer_without_memory import answer_without_memory
from souvenance.app.check_size import check_size
from souvenance.app.choose_model import Shelf, model_asked, models_at_hand
from souvenance.app.kit import Kit
from souvenance.app.next_speaker import next_speaker
from souvenance.app.open_turn import OpenedTurn, open_turn
from souvenance.app.plan_turn import plan_turn
from souvenance.app.run_command import command_of, run_command
from souvenance.app.speak_and_settle import speak_and_settle
from souvenance.app.turn import (
    Delta,
    Done,
    FromClient,
    InConversation,
    Opened,
    Speaking,
    TurnEvent,
    TurnRequest,
)
from souvenance.domain.ids import OwnerId, TurnId
from souvenance.errors import BadValue, StoreError


async def chat_turn(kit: Kit, owner_id: OwnerId, request: TurnRequest) -> AsyncGenerator[TurnEvent, None]:
    """The events of one turn: Opened, then Delta and Noted as they come, then Done, which follows the commit.

    Close it early and the reply is kept as cut off and the call upstream ends. Raises what `open_turn`, `plan_turn`
    and the model raise.
    """
    async with kit.busy.alone(_name(owner_id, request)):
        command = await command_of(kit, owner_id, request)
        if command is not None:
            if request.replaces is not None:
                raise BadValue("replaces", value=request.replaces, expected="none with a command, which opens no turn")
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
            aclosing(answer(kit, owner_id, request, opened, shelf)) as events,
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


async def answer(
    kit: Kit, owner_id: OwnerId, request: TurnRequest, opened: OpenedTurn, shelf: Shelf
) -> AsyncGenerator[TurnEvent, None]:
    """The events of a turn that was opened: each speaker's reply in turn, those before in its prompt (M7)."""
    yield Opened(conversation=opened.conversation, turn=opened.turn, message=opened.message)
    if opened.stored:
        for event in _replay(opened):
            yield event
        return
    speaks: OpenedTurn | None = opened
    while speaks is not None:
        if speaks.conversation.is_group and speaks.bot is not None:
            yield Speaking(bot=speaks.bot, first=speaks is opened)
        more = False
        async with aclosing(_one_reply(kit, owner_id, request, speaks, shelf)) as events:
            async for event in events:
                yield event
                more = isinstance(event, Done) and event.more
        speaks = await next_speaker(kit, owner_id, request, speaks, shelf) if more else None


async def _one_reply(
    kit: Kit, owner_id: OwnerId, request: TurnRequest, opened: OpenedTurn, shelf: Shelf
) -> AsyncGenerator[TurnEvent, None]:
    try:
        plan = await plan_turn(kit, owner_id, request, opened)
    except StoreError:
        async with aclosing(answer_without_memory(kit, request, shelf, opened=opened)) as events:
            async for event in events:
                yield event
        return
    async with aclosing(speak_and_settle(kit, owner_id, plan)) as events:
        async for event in events:
            yield event


def _replay(opened: OpenedTurn) -> list[TurnEvent]:
    """The stored reply again, for a request that is the same as the one that it answered."""
    if opened.conversation.is_group:
        return _replay_all(opened)
    text = "\n".join(message.text for message in opened.stored if message.text)
    last = opened.stored[-1]
    done = Done(
        turn=opened.turn, message=last, finish="stop", model=last.model, tokens_out=last.tokens, saved=last.noted
    )
    return [Delta(text=text), done]


def _replay_all(opened: OpenedTurn) -> list[TurnEvent]:
    """A group's stored replies, each as its speaker's; what a former member said stands without a name."""
    bots = {bot.bot_id: bot for bot in opened.members}
    events: list[TurnEvent] = []
    for message in opened.stored:
        if message.bot_id in bots:
            events.append(Speaking(bot=bots[message.bot_id], first=not events))
        more = message is not opened.stored[-1]
        done = Done(turn=opened.turn, message=message, finish="stop", model=message.model, more=more)
        events += [Delta(text=message.text), replace(done, tokens_out=message.tokens, saved=message.noted)]
    return events
