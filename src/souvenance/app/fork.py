"""A second line from a message on: its own conversation, with what was said up to there (T4, S10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from souvenance.app.begin_window import begin_window
from souvenance.app.copy_session import copy_session
from souvenance.app.copy_summary import copy_summary
from souvenance.app.history_chain import hash_up_to
from souvenance.app.kit import Kit
from souvenance.domain.conversation import Conversation, Message, Role, Turn, TurnState
from souvenance.domain.ids import ConversationId, MessageId, OwnerId, TurnId
from souvenance.errors import NotFound
from souvenance.ports.branches import Held
from souvenance.ports.memories import Kind
from souvenance.ports.store import Unit


async def fork(kit: Kit, owner_id: OwnerId, message_id: MessageId, *, of: ConversationId | None = None) -> Conversation:
    """A new conversation with the messages up to and with this one, each variant as it is, a copy of the session
    memory drawn from them (M1), and of the summary what stands for them (S10). NotFound when the owner, or the
    conversation `of` that is named, has no such message.

    Copies keep their origin, so the fork itself revokes and restores no write. A turn whose reply is not copied is
    open. At a variant that is not chosen the fork is as at the chosen one: it holds both.
    """
    fork_id, now = ConversationId(kit.ids.new("cnv")), kit.clock.now()

    def work(unit: Unit) -> Conversation:
        unit.owners.hold()
        parent = unit.conversations.lock(unit.messages.get(message_id).conversation_id)
        last = unit.messages.get(message_id)
        if of not in {None, parent.conversation_id}:
            raise NotFound("message", message_id)
        here = (last.position, last.part)
        held = [one for one in unit.branches.held(parent.conversation_id) if (one.position, one.part) <= here]
        made = _copied(unit, kit, parent, _empty(parent, fork_id, last.position, held, now), held)
        copy_session(unit, kit, parent.conversation_id, fork_id, {one.origin_id: one.chosen for one in held})
        return made

    return await kit.store.write(owner_id, work, label="conversation.forked")


def _empty(
    parent: Conversation, fork_id: ConversationId, position: int, held: Sequence[Held], now: datetime
) -> Conversation:
    """The fork before anything is copied: as its parent, but no client's; nothing of it is read again (V8)."""
    return replace(
        parent,
        conversation_id=fork_id,
        parent_id=parent.conversation_id,
        fork_position=position,
        last_position=position,
        summarised_to=-1,
        deepened_to=position,
        messages=sum(one.chosen for one in held),
        client="",
        client_ref="",
        created_at=now,
        updated_at=now,
        version=1,
    )


def _copied(unit: Unit, kit: Kit, parent: Conversation, made: Conversation, held: Sequence[Held]) -> Conversation:
    fork_id = made.conversation_id
    said = unit.messages.many([one.message_id for one in held])
    before = [one for one in unit.turns.after(parent.conversation_id, -1) if one.position <= made.last_position]
    turns = {turn.turn_id: TurnId(kit.ids.new("trn")) for turn in before}
    messages = {message.message_id: MessageId(kit.ids.new("msg")) for message in said}
    answered = {message.turn_id for message in said if message.role is Role.BOT and message.chosen}
    unit.conversations.put(made)
    unit.turns.put_all([_turn(one, turns[one.turn_id], fork_id, answered=one.turn_id in answered) for one in before])
    unit.messages.put_all([_message(one, messages[one.message_id], turns[one.turn_id], fork_id) for one in said])
    unit.index.copy(Kind.MESSAGE, {str(old): new for old, new in messages.items()})
    summed_up = copy_summary(unit, kit, parent, made, messages)
    whole = replace(summed_up, history_hash=hash_up_to(unit, made, unit.turns.last(fork_id)))
    ready = begin_window(unit, kit.limits, whole, made.created_at)
    unit.conversations.save(ready)
    return replace(ready, version=ready.version + 1)


def _turn(turn: Turn, turn_id: TurnId, fork_id: ConversationId, *, answered: bool) -> Turn:
    return replace(
        turn,
        turn_id=turn_id,
        conversation_id=fork_id,
        state=turn.state if answered else TurnState.OPEN,
        attempt=1,
        request_key="",
        request_hash="",
        client="",
    )


def _message(message: Message, message_id: MessageId, turn_id: TurnId, fork_id: ConversationId) -> Message:
    return replace(message, message_id=message_id, turn_id=turn_id, conversation_id=fork_id)
