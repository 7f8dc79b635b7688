"""Take a conversation back: later turns go, and with them what they wrote (T2)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from souvenance.app.begin_window import begin_window
from souvenance.app.cut_summary import cut_summary
from souvenance.app.history_chain import hash_up_to
from souvenance.app.kit import Kit
from souvenance.app.release_rules import release_after
from souvenance.app.undisturbed import undisturbed
from souvenance.app.undo_writes import undo_removed
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import ConversationId, OwnerId, TurnId
from souvenance.domain.limits import Limits
from souvenance.errors import NotFound
from souvenance.ports.memories import Kind
from souvenance.ports.store import Unit


async def rewind(
    kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, *, after: TurnId | None = None
) -> Conversation:
    """Remove the turns after this one (None: all) with their messages and what was sent for them, and revoke what they
    wrote; what a person did stays, and so does what another conversation still holds.

    NotFound for a turn of another conversation, ConversationBusy while a reply is being written there.
    """
    now = kit.clock.now()

    def work(unit: Unit) -> Conversation:
        unit.owners.hold()
        conversation = unit.conversations.lock(conversation_id)
        position = -1 if after is None else position_of(unit, conversation, after)
        return cut_after(unit, kit.limits, conversation, position, now)

    async with undisturbed(kit, owner_id, conversation_id):
        return await kit.store.write(owner_id, work, label="conversation.rewound")


def position_of(unit: Unit, conversation: Conversation, turn_id: TurnId) -> int:
    turn = unit.turns.get(turn_id)
    if turn.conversation_id != conversation.conversation_id:
        raise NotFound("turn", turn_id)
    return turn.position


def cut_after(unit: Unit, limits: Limits, conversation: Conversation, position: int, now: datetime) -> Conversation:
    """The conversation as it is without its turns after this position; owner and conversation are held."""
    here = conversation.conversation_id
    gone = unit.branches.held(here, after=position)
    turns = unit.turns.after(here, position)
    if not turns:
        return conversation
    unit.branches.cut(here, after=position)
    unit.prompts.forget_turns(here, [turn.turn_id for turn in turns])
    unit.prompts.blank([one.message_id for one in gone])
    unit.branches.end_epochs(here)
    undo_removed(unit, [one.origin_id for one in gone], now)
    unit.index.remove_all(Kind.MESSAGE, [one.message_id for one in gone])
    release_after(unit, here, position)
    last = unit.turns.last(here)
    shortened = replace(
        cut_summary(unit, conversation, last, now),
        messages=conversation.messages - sum(one.chosen for one in gone),
        history_hash=hash_up_to(unit, conversation, last),
        updated_at=now,
        version=conversation.version + 1,
    )
    rewound = begin_window(unit, limits, shortened, now)
    unit.conversations.save(rewound)
    return rewound
