"""Bots and their level of detail."""

from __future__ import annotations

from fastapi import APIRouter, Response

from souvenance.app.bots import NewBot, change_bot, create_bot, find_bot, read_level, set_level
from souvenance.app.browse import list_bots
from souvenance.app.delete_bot import Memories, delete_bot
from souvenance.app.share_bot import export_bot, import_bot, share_link
from souvenance.domain.bot import Bot
from souvenance.domain.ids import known_shape
from souvenance.server.caller import Caller, Here
from souvenance.server.forms import BotChanges, Cursor, LevelForm, Limit, NewBotForm
from souvenance.server.views.bots import BotDocumentJson, BotJson, DeletedBotJson, LevelJson, LinkJson
from souvenance.server.views.page import PageJson

router = APIRouter(prefix="/bots", tags=["bots"])


@router.get("")
async def list_(here: Here, cursor: Cursor = None, limit: Limit = None) -> PageJson[BotJson]:
    """In the order in which they were made."""
    page = await list_bots(here.kit, here.owner_id, cursor=cursor, limit=limit)
    return PageJson(items=[BotJson.of(bot) for bot in page.items], next=page.next)


@router.post("", status_code=201)
async def create(here: Here, form: NewBotForm) -> BotJson:
    """A bot starts from its preset; `settings` are overrides by name (E1)."""
    new = NewBot(
        name=form.name,
        preset=form.preset,
        system_prompt=form.system_prompt,
        model=form.model,
        settings=form.settings,
    )
    return BotJson.of(await create_bot(here.kit, here.owner_id, new))


@router.get("/{bot_id}")
async def read(here: Here, bot_id: str) -> BotJson:
    """One bot with its settings."""
    return BotJson.of(await _bot(here, bot_id))


@router.patch("/{bot_id}")
async def change(here: Here, bot_id: str, form: BotChanges) -> BotJson:
    """A stale edit is refused with both texts."""
    bot = await _bot(here, bot_id)
    changes = form.model_dump(exclude_unset=True, exclude={"seen"})
    return BotJson.of(await change_bot(here.kit, here.owner_id, bot.bot_id, seen=form.seen, changes=changes))


@router.get("/{bot_id}/level")
async def level(here: Here, bot_id: str) -> LevelJson:
    """How much of a conversation this bot keeps word for word (W1)."""
    bot = await _bot(here, bot_id)
    return LevelJson(level=await read_level(here.kit, here.owner_id, bot.bot_id))


@router.put("/{bot_id}/level", status_code=204)
async def put_level(here: Here, bot_id: str, form: LevelForm) -> Response:
    """It takes effect with the next message (W3)."""
    bot = await _bot(here, bot_id)
    await set_level(here.kit, here.owner_id, bot.bot_id, form.level)
    return Response(status_code=204)


@router.get("/{bot_id}/export")
async def export(here: Here, bot_id: str) -> BotDocumentJson:
    """The bot as a document that can be handed on: never memory, never keys (K4)."""
    bot = await _bot(here, bot_id)
    return BotDocumentJson.model_validate(await export_bot(here.kit, here.owner_id, bot.bot_id))


@router.get("/{bot_id}/share")
async def share(here: Here, bot_id: str) -> LinkJson:
    """The same document in the fragment of a link, which needs no server."""
    bot = await _bot(here, bot_id)
    return LinkJson(link=await share_link(here.kit, here.owner_id, bot.bot_id))


@router.post("/import", status_code=201)
async def import_(here: Here, form: BotDocumentJson | LinkJson) -> BotJson:
    """A new bot from a document or a link; where its name is taken, a number makes it free."""
    shared = form.link if isinstance(form, LinkJson) else form.model_dump(exclude_unset=True)
    return BotJson.of(await import_bot(here.kit, here.owner_id, shared))


@router.delete("/{bot_id}")
async def delete(here: Here, bot_id: str, memories: Memories = Memories.KEEP) -> DeletedBotJson:
    """Its memories become the account's, or with `erase` go with it for good; its conversations stay readable (M8)."""
    bot = await _bot(here, bot_id)
    return DeletedBotJson.of(await delete_bot(here.kit, here.owner_id, bot.bot_id, memories=memories))


async def _bot(here: Caller, bot_id: str) -> Bot:
    return await find_bot(here.kit, here.owner_id, known_shape("bot", bot_id))
