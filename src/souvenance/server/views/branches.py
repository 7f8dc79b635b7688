"""What became of a conversation's memories, as JSON."""

from __future__ import annotations

from typing import Self

from souvenance.app.delete_bot import Memories
from souvenance.app.delete_conversation import DeletedConversation
from souvenance.server.views.view import View


class DeletedConversationJson(View):
    """`erased` counts the memories that went with it."""

    id: str
    memories: Memories
    erased: int

    @classmethod
    def of(cls, deleted: DeletedConversation) -> Self:
        return cls(id=deleted.conversation_id, memories=deleted.memories, erased=deleted.erased)
