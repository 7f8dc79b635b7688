"""A person takes one message out of a conversation; later turns stay (T7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from souvenance.app.begin_window import begin_window
from souvenance.app.cut_summary import cut_summary
from souvenance.app.history_chain import rechain_from
from souvenance.app.kit import Kit
from souvenance.app.mark_stale import blank_nodes_over, forget_in_old_versions, mark_stale
from souvenance.app.release_rules import release_deleted
from souvenance.app.undisturbed import conversation_of, fence, undisturbed
from souvenance.app.undo_writes import undo_removed
from souvenance.domain.conversation import Conversation, Message, Role, TurnState
from souvenance.domain.ids import MessageId, OwnerId
from souvenance.domain.limits import Limits
from souvenance.ports.memories import Kind
from souvenance.ports.store import Unit


async def delete_message(kit: Kit, owner_id: OwnerId, message_id: MessageId) -> Conversation:
    """Remove a message, of a reply all its variants, and revoke what was drawn only from it; returns the conversation.

    Its words are in no prompt from now on and read back as erased in those that were sent. A turn whose reply went is
    open again, one without any message goes. NotFound; ConversationBusy while a reply is being written there.
    """
    now = kit.clock.now()
    conversation_id = await conversation_of(kit, owner_id, message_id)
    async with undisturbed(kit, owner_id, conversation_id):
        await kit.store.will_purge()
        kept = await kit.store.write(
            owner_id, lambda unit: _delete(unit, kit.limits, message_id, now), label="message.deleted"
        )
    await kit.store.scrub(deleted=True)
    return kept


def _delete(unit: Unit, limits: Limits, message_id: MessageId, now: datetime) -> Conversation:
    unit.owners.hold()
    conversation = unit.conversations.lock(unit.messages.get(message_id).conversation_id)
    message = unit.messages.get(message_id)
    said = unit.messages.of_turn(message.turn_id)
    gone = [one for one in said if one.part == message.part]
    ids = [one.message_id for one in gone]
    unit.branches.remove_messages(ids)
    _mend_turn(unit, message, [one for one in said if one not in gone])
    unit.prompts.forget_replies(conversation.conversation_id, ids)
    unit.prompts.blank(ids)
    stale = mark_stale(unit, gone, now)
    blank_nodes_over(unit, conversation.conversation_id, stale)
    forget_in_old_versions(unit, stale)
    release_deleted(unit, message)
    unit.drafts.remove_drawn_from(ids)
    undo_removed(unit, [one.origin_id for one in gone], now)
    unit.index.remove_all(Kind.MESSAGE, ids)
    counted = replace(conversation, messages=conversation.messages - sum(one.chosen for one in gone), updated_at=now)
    shortened = _shortened(unit, limits, counted, message)
    kept = replace(shortened, version=conversation.version + 1)
    unit.conversations.save(kept)
    return kept


def _mend_turn(unit: Unit, message: Message, left: Sequence[Message]) -> None:
    """The turn as what is left of it says: gone, with what was sent for it, open again, or as it was; no reply to what
    it was is stored.
    """
    turn = fence(unit, unit.turns.get(message.turn_id))
    if not left:
        unit.branches.remove_turn(turn.turn_id)
        unit.prompts.forget_turns(turn.conversation_id, [turn.turn_id])
    elif not any(one.role is Role.BOT and one.chosen for one in left):
        unit.turns.save(replace(turn, state=TurnState.OPEN, acknowledged=False))


def _shortened(unit: Unit, limits: Limits, conversation: Conversation, message: Message) -> Conversation:
    """The conversation with its end, its summary, its window and its hashes right again."""
    last = unit.turns.last(conversation.conversation_id)
    cut = cut_summary(unit, conversation, last, conversation.updated_at)
    ready = begin_window(unit, limits, cut, conversation.updated_at)
    return rechain_from(unit, ready, message.position)
