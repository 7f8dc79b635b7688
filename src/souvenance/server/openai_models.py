"""What a client's `model` means: a bot, `<upstream model>@<bot>`, or a bare upstream model (I3)."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass

from souvenance.app.bots import bot_for, find_bot
from souvenance.app.browse import list_bots
from souvenance.app.choose_model import models_at_hand
from souvenance.app.conversations import NewConversation
from souvenance.domain.bot import Bot, Preset
from souvenance.errors import ModelError, NotFound, StoreUnavailable, UnknownModel
from souvenance.server.caller import Caller

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Whom a request talks to. `model` is the upstream that the request itself names, if any; `bot` is None for a bare
    upstream, and `new_bot` names one that the request would make.
    """

    bot: Bot | None = None
    new_bot: str = ""
    model: str | None = None


async def resolve(here: Caller, name: str) -> Target:
    """A bot's name wins over an upstream's, and a whole name over one that is split at its last @ (a bot's has none).

    While memory is unavailable only upstreams are known; a name that is none may be a bot's, and has the default model
    answer. Raises UnknownModel, ModelError.
    """
    try:
        return await _resolved(here, name)
    except StoreUnavailable as error:
        log.warning("memory_unavailable", extra={"code": error.code})
        known = {info.name for info in await here.kit.models.models()}
        return Target(model=next((each for each in (name, name.rpartition("@")[0]) if each in known), None))


async def _resolved(here: Caller, name: str) -> Target:
    bot = await _bot(here, name)
    if bot is not None:
        return Target(bot=bot)
    at_hand = (await models_at_hand(here.kit)).models
    if name in at_hand:
        return Target(model=name)
    upstream, _, bot_name = name.rpartition("@")
    if bot_name.strip() and (upstream in at_hand or await _is_upstream(here, upstream)):
        bot = await _bot(here, bot_name)
        return Target(bot=bot, new_bot="" if bot else bot_name, model=upstream)
    if await _is_upstream(here, name):
        return Target(model=name)
    raise UnknownModel(name, known=tuple([str(entry["id"]) for entry in await listed(here)]))


async def conversation_for(here: Caller, target: Target) -> NewConversation:
    """What a conversation with the target starts with; an unknown bot is made, a companion with text calls on."""
    bot = target.bot
    if bot is None and target.new_bot:
        with suppress(StoreUnavailable):
            bot = await bot_for(here.kit, here.owner_id, target.new_bot, preset=Preset.COMPANION, text_calls=True)
    if bot is None:
        return NewConversation(bot_id=None, model=target.model, time_zone=here.time_zone)
    return NewConversation(bot_id=bot.bot_id, time_zone=here.time_zone)


async def listed(here: Caller) -> list[dict[str, object]]:
    """Bots, then upstream models, each once; an upstream that cannot be asked leaves the bots."""
    bots = [bot async for bot in _bots(here)]
    entries = [_entry(bot.name, int(bot.created_at.timestamp()), "souvenance") for bot in bots]
    names = {bot.name for bot in bots}
    try:
        models = await here.kit.models.models()
    except ModelError as error:
        log.warning("models_not_listed", extra={"code": error.code})
        models = ()
    return entries + [_entry(info.name, 0, info.provider or "upstream") for info in models if info.name not in names]


def _entry(name: str, created: int, owner: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": created, "owned_by": owner}


async def _bot(here: Caller, name: str) -> Bot | None:
    try:
        return await find_bot(here.kit, here.owner_id, name)
    except NotFound:
        return None


async def _is_upstream(here: Caller, name: str) -> bool:
    """Whether a provider has a model of this name without listing it; one that cannot be asked has none."""
    try:
        await here.kit.models.info(name)
    except ModelError as error:
        log.info("model_not_found", extra={"code": error.code})
        return False
    return True


async def _bots(here: Caller) -> AsyncIterator[Bot]:
    cursor: str | None = None
    while True:
        page = await list_bots(here.kit, here.owner_id, cursor=cursor, limit=here.kit.limits.page_most)
        for bot in page.items:
            yield bot
        if page.next is None:
            return
        cursor = page.next
