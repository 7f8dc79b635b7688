"""Conversations, their messages, and what of them is sent word for word."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter

from souvenance.app.bots import find_bot
from souvenance.app.browse import conversation_memory, list_conversations, list_messages
from souvenance.app.conversations import NewConversation, open_conversation, read_conversation
from souvenance.domain.conversation import Channel
from souvenance.domain.ids import BotId, ConversationId, PersonaId, known_shape
from souvenance.errors import BadValue
from souvenance.server.caller import Caller, Here
from souvenance.server.forms import Cursor, Limit, NewConversationForm
from souvenance.server.views.conversations import ConversationJson, ConversationMemoryJson, MessageJson
from souvenance.server.views.page import PageJson

router = APIRouter(prefix="/conversations", tags=["conversations"])


def conversation_id_of(raw: str) -> ConversationId:
    return ConversationId(known_shape("conversation", raw))


async def bot_id_of(here: Caller, bot: str | None) -> BotId | None:
    """The id of the bot of this name or id; NotFound, never a new one."""
    return None if bot is None else (await find_bot(here.kit, here.owner_id, bot)).bot_id


async def bot_ids_of(here: Caller, bots: Sequence[str]) -> tuple[BotId, ...]:
    """The ids of the bots of these names or ids, in this order; NotFound."""
    return tuple([(await find_bot(here.kit, here.owner_id, bot)).bot_id for bot in bots])


def persona_id_of(raw: str | None) -> PersonaId | None:
    return None if raw is None else PersonaId(known_shape("persona", raw))


@router.get("")
async def list_(
    here: Here, bot_id: str | None = None, cursor: Cursor = None, limit: Limit = None
) -> PageJson[ConversationJson]:
    """Newest first; of one bot with `bot_id`."""
    page = await list_conversations(
        here.kit,
        here.owner_id,
        bot_id=None if bot_id is None else BotId(known_shape("bot", bot_id)),
        cursor=cursor,
        limit=limit,
    )
    return PageJson(items=[ConversationJson.of(each) for each in page.items], next=page.next)


@router.post("", status_code=201)
async def create(here: Here, form: NewConversationForm) -> ConversationJson:
    """With a bot, with several (a group), or with a bare `model`; nothing is said yet."""
    if form.channel not in (Channel.WEB, Channel.API):
        raise BadValue("channel", value=str(form.channel), expected="web or api")
    new = NewConversation(
        bot_id=await bot_id_of(here, form.bot),
        others=await bot_ids_of(here, form.members),
        model=form.model,
        persona_id=persona_id_of(form.persona_id),
        channel=form.channel,
        flags=form.flags.value(),
        time_zone=form.time_zone or here.time_zone,
        title=form.title,
    )
    return ConversationJson.of(await open_conversation(here.kit, here.owner_id, new))


@router.get("/{conversation_id}")
async def read(here: Here, conversation_id: str) -> ConversationJson:
    """One conversation with its members, flags and figures."""
    found = await read_conversation(here.kit, here.owner_id, conversation_id_of(conversation_id))
    return ConversationJson.of(found)


@router.get("/{conversation_id}/messages")
async def messages(
    here: Here, conversation_id: str, cursor: Cursor = None, limit: Limit = None
) -> PageJson[MessageJson]:
    """The chosen messages, newest first."""
    page = await list_messages(
        here.kit,
        here.owner_id,
        conversation_id_of(conversation_id),
        cursor=cursor,
        limit=limit,
    )
    return PageJson(items=[MessageJson.of(message) for message in page.items], next=page.next)


@router.get("/{conversation_id}/memory")
async def memory(here: Here, conversation_id: str) -> ConversationMemoryJson:
    """What is sent word for word, and how much waits for its summary (W4, S6)."""
    found = await conversation_memory(here.kit, here.owner_id, conversation_id_of(conversation_id))
    return ConversationMemoryJson.of(found)
