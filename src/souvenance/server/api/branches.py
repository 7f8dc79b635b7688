"""A conversation's line: go back, branch off, change or take away what was said (T2, T4, T7, D1)."""

from __future__ import annotations

from fastapi import APIRouter

from souvenance.app.delete_bot import Memories
from souvenance.app.delete_conversation import delete_conversation
from souvenance.app.delete_message import delete_message
from souvenance.app.edit_message import edit_message
from souvenance.app.fork import fork
from souvenance.app.rewind import rewind
from souvenance.domain.ids import MessageId, TurnId, known_shape
from souvenance.server.api.conversations import conversation_id_of
from souvenance.server.caller import Here
from souvenance.server.forms_of_branches import ForkForm, MessageChanges, RewindForm
from souvenance.server.views.branches import DeletedConversationJson
from souvenance.server.views.conversations import ConversationJson, MessageJson

router = APIRouter(tags=["conversations"])


def message_id_of(raw: str) -> MessageId:
    return MessageId(known_shape("message", raw))


@router.post("/conversations/{conversation_id}/rewind")
async def rewind_(here: Here, conversation_id: str, form: RewindForm) -> ConversationJson:
    """Removes the turns after `after_turn`, with null all, and what they wrote; 409 while a reply is written there."""
    after = None if form.after_turn is None else TurnId(known_shape("turn", form.after_turn))
    return ConversationJson.of(await rewind(here.kit, here.owner_id, conversation_id_of(conversation_id), after=after))


@router.post("/conversations/{conversation_id}/fork", status_code=201)
async def fork_(here: Here, conversation_id: str, form: ForkForm) -> ConversationJson:
    """A new conversation with what was said up to and with this message of the conversation."""
    made = await fork(here.kit, here.owner_id, message_id_of(form.message_id), of=conversation_id_of(conversation_id))
    return ConversationJson.of(made)


@router.delete("/conversations/{conversation_id}")
async def delete(here: Here, conversation_id: str, memories: Memories = Memories.KEEP) -> DeletedConversationJson:
    """For good: `keep` leaves what was remembered there, `erase` takes what was drawn from it alone."""
    gone = await delete_conversation(here.kit, here.owner_id, conversation_id_of(conversation_id), memories=memories)
    return DeletedConversationJson.of(gone)


@router.patch("/messages/{message_id}")
async def change_message(here: Here, message_id: str, form: MessageChanges) -> MessageJson:
    """In its place: what was drawn only from the old words is taken back, later turns stay. Prompts that
    were sent with the old words keep them; deleting the message takes those too.
    """
    return MessageJson.of(await edit_message(here.kit, here.owner_id, message_id_of(message_id), form.text))


@router.delete("/messages/{message_id}")
async def remove_message(here: Here, message_id: str) -> ConversationJson:
    """Of a reply all variants go; later turns stay. Answers with the conversation as it is then."""
    return ConversationJson.of(await delete_message(here.kit, here.owner_id, message_id_of(message_id)))
