"""Bots and their level of detail."""

from __future__ import annotations

from fastapi import APIRouter, Response

from souvenance.app.bots import NewBot, change_bot, create_bot, find_bot, read_level, set_level
from souvenance.app.browse import list_bots
from souvenance.domain.bot import Bot
from souvenance.domain.ids import known_shape
from souvenance.server.caller import Caller, Here
from souvenance.server.forms import BotChanges, Cursor, LevelForm, Limit, NewBotForm
from souvenance.server.views.bots import BotJson, LevelJson
from souvenance.server.views.page import PageJson

router = APIRouter(prefix="/bots", tags=["bots"])


@router.get("")
async def list_(here: Here, cursor: Cursor = None, limit: Limit = None) -> PageJson[BotJson]:
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
    return BotJson.of(await _bot(here, bot_id))


@router.patch("/{bot_id}")
async def change(here: Here, bot_id: str, form: BotChanges) -> BotJson:
    """A stale edit is refused with both texts."""
    bot = await _bot(here, bot_id)
    changes = form.model_dump(exclude_unset=True, exclude={"seen"})
    return BotJson.of(await change_bot(here.kit, here.owner_id, bot.bot_id, seen=form.seen, changes=changes))


@router.get("/{bot_id}/level")
async def level(here: Here, bot_id: str) -> LevelJson:
    bot = await _bot(here, bot_id)
    return LevelJson(level=await read_level(here.kit, here.owner_id, bot.bot_id))


@router.put("/{bot_id}/level", status_code=204)
async def put_level(here: Here, bot_id: str, form: LevelForm) -> Response:
    """It takes effect with the next message (W3)."""
    bot = await _bot(here, bot_id)
    await set_level(here.kit, here.owner_id, bot.bot_id, form.level)
    return Response(status_code=204)


async def _bot(here: Caller, bot_id: str) -> Bot:
    return await find_bot(here.kit, here.owner_id, known_shape("bot", bot_id))
