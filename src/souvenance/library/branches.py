"""`memory.branches`: go back, branch off, and change or take away what was said (T2, T4, T7, D1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from souvenance.app.delete_bot import Memories
from souvenance.app.delete_conversation import DeletedConversation, delete_conversation
from souvenance.app.delete_message import delete_message
from souvenance.app.edit_message import edit_message
from souvenance.app.fork import fork
from souvenance.app.rewind import rewind
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.ids import ConversationId, MessageId, TurnId, known_shape

if TYPE_CHECKING:
    from souvenance.wiring import House


class Branches:
    """What can be done with a conversation's line. All but `fork` are ConversationBusy while a reply is being written
    there.
    """

    def __init__(self, house: House, *, deleted: Callable[[ConversationId], None]) -> None:
        self._kit = house.kit
        self._owner = house.owner_id
        self._deleted = deleted

    async def rewind(self, conversation: Conversation | ConversationId, *, after: TurnId | None) -> Conversation:
        """Remove the turns after this one, with None all, and what they wrote; what a person did stays (T2)."""
        last = None if after is None else TurnId(known_shape("turn", after))
        return await rewind(self._kit, self._owner, _conversation_id(conversation), after=last)

    async def fork(self, message: Message | MessageId) -> Conversation:
        """A new conversation with what was said up to and with this message; the other one stays as it is (T4)."""
        return await fork(self._kit, self._owner, _message_id(message))

    async def edit_message(self, message: Message | MessageId, text: str) -> Message:
        """Let a message say something else: what was drawn only from the old words is taken back, later turns stay."""
        return await edit_message(self._kit, self._owner, _message_id(message), text)

    async def delete_message(self, message: Message | MessageId) -> Conversation:
        """Take one message out, of a reply all its variants, with what was drawn only from it; later turns stay."""
        return await delete_message(self._kit, self._owner, _message_id(message))

    async def delete_conversation(
        self, conversation: Conversation | ConversationId, *, memories: Memories | str = Memories.KEEP
    ) -> DeletedConversation:
        """Delete it for good: `keep` leaves what was remembered there, `erase` takes what was drawn from it alone."""
        conversation_id = _conversation_id(conversation)
        chosen = Memories.read(memories)
        gone = await delete_conversation(self._kit, self._owner, conversation_id, memories=chosen)
        self._deleted(conversation_id)
        return gone


def _conversation_id(given: Conversation | ConversationId) -> ConversationId:
    raw = given.conversation_id if isinstance(given, Conversation) else given
    return ConversationId(known_shape("conversation", raw))


def _message_id(given: Message | MessageId) -> MessageId:
    return MessageId(known_shape("message", given.message_id if isinstance(given, Message) else given))
