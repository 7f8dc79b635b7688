"""What was said in a conversation changes only while no reply is being written there (T2, T7).

Within this process that is refused at once. A reply that another process is writing finds its turn's attempt moved on,
or the turn gone, and is not stored.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from souvenance.app.kit import Kit
from souvenance.domain.conversation import Turn
from souvenance.domain.ids import ConversationId, MessageId, OwnerId
from souvenance.errors import ConversationBusy
from souvenance.ports.store import Unit


@asynccontextmanager
async def undisturbed(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId) -> AsyncIterator[None]:
    """Hold the conversation's turns back; ConversationBusy when one is being opened or answered."""
    opens, answers = f"{owner_id} {conversation_id}", f"answers {owner_id} {conversation_id}"
    if kit.busy.is_held(opens) or kit.busy.is_held(answers):
        raise ConversationBusy(conversation_id)
    async with kit.busy.alone(opens), kit.busy.alone(answers):
        yield


def refuse_while_answered(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId) -> None:
    """ConversationBusy when a reply is being written there; for whoever holds its turns back already."""
    if kit.busy.is_held(f"answers {owner_id} {conversation_id}"):
        raise ConversationBusy(conversation_id)


async def conversation_of(kit: Kit, owner_id: OwnerId, message_id: MessageId) -> ConversationId:
    """Where this message is; NotFound when the owner has no such message."""
    message = await kit.store.read(owner_id, lambda unit: unit.messages.get(message_id), label="message.read")
    return message.conversation_id


def fence(unit: Unit, turn: Turn) -> Turn:
    """The turn with its attempt moved on: a reply to what it was before is stored no more. The newest turn is fenced
    too, since what another process has it answered with was told what is not so any more.
    """
    fenced = replace(turn, attempt=turn.attempt + 1)
    unit.turns.save(fenced)
    last = unit.turns.last(turn.conversation_id)
    if last is not None and last.turn_id != turn.turn_id:
        unit.turns.save(replace(last, attempt=last.attempt + 1))
    return fenced
