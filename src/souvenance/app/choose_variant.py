"""Choose another variant of a reply: what the one left wrote is revoked, what this one wrote stands again (T3)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from souvenance.app.history_chain import rechain
from souvenance.app.kit import Kit
from souvenance.app.stand_in import exchange
from souvenance.app.undisturbed import fence, undisturbed
from souvenance.domain.conversation import Message, Role
from souvenance.domain.ids import OwnerId, TurnId
from souvenance.errors import NotFound
from souvenance.ports.store import Unit


async def choose_variant(kit: Kit, owner_id: OwnerId, turn_id: TurnId, *, part: int, variant: int) -> Message:
    """The message that is chosen now; the one that was already chosen changes nothing. Any turn's, not only the last.

    NotFound when there is no such turn or variant; ConversationBusy while a reply is written there.
    """
    turn = await kit.store.read(owner_id, lambda unit: unit.turns.get(turn_id), label="turn.read")
    now = kit.clock.now()
    async with undisturbed(kit, owner_id, turn.conversation_id):
        return await kit.store.write(
            owner_id, lambda unit: _chosen(unit, turn_id, part, variant, now), label="turn.chosen"
        )


def _chosen(unit: Unit, turn_id: TurnId, part: int, variant: int, now: datetime) -> Message:
    unit.owners.hold()
    conversation = unit.conversations.lock(unit.turns.get(turn_id).conversation_id)
    turn = unit.turns.get(turn_id)
    replies = [message for message in unit.messages.of_turn(turn_id) if message.role is Role.BOT]
    comes = next((m for m in replies if (m.part, m.variant) == (part, variant)), None)
    if comes is None:
        raise NotFound("variant", f"{turn_id} part {part} variant {variant}")
    if comes.chosen:
        return comes
    leaves = [m for m in replies if m.part == part and m.chosen]
    exchange(unit, leaves=leaves, comes=[comes], now=now)
    fence(unit, turn)
    more = 1 - len(leaves)
    waits = conversation.summarised_to < turn.position < conversation.window_start
    grown = replace(
        conversation,
        messages=conversation.messages + more,
        waiting=conversation.waiting + (more if waits else 0),
        updated_at=now,
        version=conversation.version + 1,
    )
    unit.conversations.save(rechain(unit, grown, turn))
    return replace(comes, chosen=True)
