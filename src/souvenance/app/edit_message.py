"""A person lets a message say something else, in its place (T7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from souvenance.app.history_chain import rechain_from
from souvenance.app.kit import Kit
from souvenance.app.mark_stale import mark_stale
from souvenance.app.off_loop import off_loop
from souvenance.app.release_rules import check_rules
from souvenance.app.undisturbed import conversation_of, fence, undisturbed
from souvenance.app.undo_writes import undo_removed
from souvenance.domain.conversation import Message, Role
from souvenance.domain.ids import MessageId, OwnerId
from souvenance.domain.terms import terms
from souvenance.domain.text import clean
from souvenance.ports.memories import Kind
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    """What the write needs. `origin_id` is what the message is from now on: what was drawn from its old words hangs on
    its old origin, which this conversation holds no more.
    """

    message_id: MessageId
    origin_id: MessageId
    text: str
    tokens: int
    now: datetime
    terms: Sequence[str] = field(repr=False)


async def edit_message(kit: Kit, owner_id: OwnerId, message_id: MessageId, text: str) -> Message:
    """The message with the new text; what was drawn only from the old one is revoked, later turns stay.

    Editing the user's message takes back what its replies wrote too, whatever variant they are; a fork keeps its own
    copy as it was. Two edits at once: the later one stands, a message has no version. The prompts that were sent with
    the old words read back as they were sent (C1). NotFound, InputError; ConversationBusy while a reply is written.
    """
    clean("text", text, limit=kit.limits.message_characters)
    edit = await off_loop(len(text), lambda: _edit(kit, message_id, text))
    conversation_id = await conversation_of(kit, owner_id, message_id)
    async with undisturbed(kit, owner_id, conversation_id):
        return await kit.store.write(owner_id, lambda unit: _write(unit, edit), label="message.edited")


def _edit(kit: Kit, message_id: MessageId, text: str) -> _Edit:
    return _Edit(
        message_id=message_id,
        origin_id=MessageId(kit.ids.new("msg")),
        text=text,
        tokens=kit.tokenizer.count(text),
        now=kit.clock.now(),
        terms=terms(text),
    )


def _write(unit: Unit, edit: _Edit) -> Message:
    unit.owners.hold()
    conversation = unit.conversations.lock(unit.messages.get(edit.message_id).conversation_id)
    before = unit.messages.get(edit.message_id)
    if before.text == edit.text:
        return before
    noted = before.noted if before.role is Role.USER else 0
    message = replace(before, text=edit.text, origin_id=edit.origin_id, tokens=edit.tokens, noted=noted)
    unit.messages.save(message)
    fence(unit, unit.turns.get(message.turn_id))
    undo_removed(unit, [before.origin_id], edit.now)
    mark_stale(unit, [message], edit.now)
    check_rules(unit, message)
    unit.drafts.remove_drawn_from([message.message_id])
    unit.index.put(Kind.MESSAGE, message.message_id, edit.terms)
    chained = rechain_from(unit, conversation, message.position)
    unit.conversations.save(replace(chained, updated_at=edit.now, version=conversation.version + 1))
    return message
