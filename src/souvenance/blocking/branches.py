"""`memory.branches` of the blocking door."""

from __future__ import annotations

from souvenance.app.delete_bot import Memories
from souvenance.app.delete_conversation import DeletedConversation
from souvenance.blocking.loop_thread import LoopThread
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.ids import ConversationId, MessageId, TurnId
from souvenance.library.branches import Branches


class BlockingBranches:
    """`Branches` with methods that wait; each does and raises what its namesake there does."""

    def __init__(self, thread: LoopThread, branches: Branches) -> None:
        self._thread = thread
        self._branches = branches

    def rewind(self, conversation: Conversation | ConversationId, *, after: TurnId | None) -> Conversation:
        return self._thread.call(lambda: self._branches.rewind(conversation, after=after))

    def fork(self, message: Message | MessageId) -> Conversation:
        return self._thread.call(lambda: self._branches.fork(message))

    def edit_message(self, message: Message | MessageId, text: str) -> Message:
        return self._thread.call(lambda: self._branches.edit_message(message, text))

    def delete_message(self, message: Message | MessageId) -> Conversation:
        return self._thread.call(lambda: self._branches.delete_message(message))

    def delete_conversation(
        self, conversation: Conversation | ConversationId, *, memories: Memories | str = Memories.KEEP
    ) -> DeletedConversation:
        return self._thread.call(lambda: self._branches.delete_conversation(conversation, memories=memories))
