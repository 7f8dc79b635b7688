"""Which model answers: the request's, the conversation's, the bot's, the installation's, in this order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from souvenance.app.kit import Kit
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation
from souvenance.domain.limits import Limits
from souvenance.domain.text import clean
from souvenance.errors import InputError, NoModel, UnknownModel
from souvenance.ports.chat_model import ModelInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """The models that can be asked right now, by name and by `provider/name`, and the one for when nobody says."""

    models: Mapping[str, ModelInfo]
    default: str | None


async def models_at_hand(kit: Kit) -> Shelf:
    """Models whose names no table could hold are left out. UnknownModel when the installation's own is one."""
    listed = [info for info in await kit.models.models() if _can_be_kept(info.name, kit.limits)]
    if kit.default_model is not None and not _can_be_kept(kit.default_model, kit.limits):
        raise UnknownModel(kit.default_model, known=tuple(info.name for info in listed))
    default = kit.default_model or (listed[0].name if listed else None)
    by_provider = {f"{info.provider}/{info.name}": info for info in listed if info.provider}
    return Shelf(models=by_provider | {info.name: info for info in listed}, default=default)


def _can_be_kept(name: str, limits: Limits) -> bool:
    try:
        clean("model", name, limit=limits.model_characters, keep_breaks=False)
    except InputError:
        return False
    return True


def choose(shelf: Shelf, *, asked: str | None, conversation: Conversation | None, bot: Bot | None) -> ModelInfo | None:
    """The model that answers; None for a bot's recall reply when there is no model at all.

    A name that no provider lists is UnknownModel when the request or the conversation named it (I3); a bot's or the
    installation's own setting is asked by its name all the same, since not every provider lists what it serves.
    """
    named = asked or (conversation.model if conversation is not None and conversation.bot_id is None else None)
    if named is not None:
        if named not in shelf.models:
            raise UnknownModel(named, known=tuple(shelf.models))
        return shelf.models[named]
    wanted = (bot.model if bot is not None else None) or shelf.default
    if wanted is None:
        if bot is None:
            raise NoModel
        return None
    return shelf.models.get(wanted) or ModelInfo(name=wanted)


def context_of(model: ModelInfo | None, limits: Limits) -> int:
    """The model's context in tokens; what W7 assumes of an unknown one."""
    known = None if model is None else model.context
    return limits.unknown_context if known is None else known
