"""The next of several who answer one message: the turn as it stands after the reply before (M7)."""

from __future__ import annotations

from dataclasses import replace

from souvenance.app.choose_model import Shelf
from souvenance.app.kit import Kit
from souvenance.app.members import members_of, speakers_of
from souvenance.app.open_turn import OpenedTurn, heard_in, spoken_by
from souvenance.app.turn import TurnRequest
from souvenance.domain.ids import OwnerId
from souvenance.errors import TurnSuperseded
from souvenance.ports.store import Unit


async def next_speaker(
    kit: Kit, owner_id: OwnerId, request: TurnRequest, before: OpenedTurn, shelf: Shelf
) -> OpenedTurn:
    """The turn as the next of `before.after` answers it. BotGone when it was deleted meanwhile, TurnSuperseded when
    another attempt took the turn.
    """
    now = await kit.store.read(owner_id, lambda unit: _as_it_stands(unit, before), label="turn.next_speaker")
    named = [bot.bot_id for bot in before.after[:1]]
    (bot,) = speakers_of(now.conversation, now.members, named)
    return replace(spoken_by(now, bot, shelf, request), after=before.after[1:])


def _as_it_stands(unit: Unit, before: OpenedTurn) -> OpenedTurn:
    conversation = unit.conversations.get(before.conversation.conversation_id)
    turn = unit.turns.get(before.turn.turn_id)
    if turn.attempt != before.turn.attempt:
        raise TurnSuperseded(turn.turn_id)
    return replace(
        before,
        conversation=conversation,
        turn=turn,
        members=members_of(unit, conversation),
        heard=heard_in(conversation, unit.messages.of_turn(turn.turn_id)),
    )
