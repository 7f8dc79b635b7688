"""Which model answers: the request's, the conversation's, the bot's, the installation's, in this order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from souvenance.app.kit import Kit
from souvenance.app.turn import InConversation, TurnRequest
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


async def models_at_hand(kit: Kit, *, asked: str | None = None) -> Shelf:
    """The models that are listed, and `asked` if a provider has it without listing it.

    Models whose names no table could hold are left out. UnknownModel when nobody has `asked`, or when the
    installation's own is one of those.
    """
    listed = [info for info in await kit.models.models() if _can_be_kept(info.name, kit.limits)]
    if kit.default_model is not None and not _can_be_kept(kit.default_model, kit.limits):
        raise UnknownModel(kit.default_model, known=tuple(info.name for info in listed))
    default = kit.default_model or (listed[0].name if listed else None)
    models = {f"{info.provider}/{info.name}": info for info in listed if info.provider}
    models |= {info.name: info for info in listed}
    if asked is not None and asked not in models and _can_be_kept(asked, kit.limits):
        models[asked] = await kit.models.info(asked)
    return Shelf(models=models, default=default)


def model_asked(request: TurnRequest) -> str | None:
    """The upstream's name that a request brings, for itself or for the bare conversation that it opens."""
    new = None if isinstance(request.address, InConversation) else request.address.conversation
    return request.model or (new.model if new is not None and new.bot_id is None else None)


def _can_be_kept(name: str, limits: Limits) -> bool:
    try:
        clean("model", name, limit=limits.model_characters, keep_breaks=False)
    except InputError:
        return False
    return True


def choose(shelf: Shelf, *, asked: str | None, conversation: Conversation | None, bot: Bot | None) -> ModelInfo | None:
    """The model that answers; None for a bot's recall reply when there is no model at all.

    What a request asks for must be there (I3). What a conversation, a bot or the installation was set to is asked by
    its name all the same: not every provider lists what it serves, and it says itself what is gone.
    """
    if asked is not None and asked not in shelf.models:
        raise UnknownModel(asked, known=tuple(shelf.models))
    bare = conversation.model if conversation is not None and conversation.bot_id is None else None
    wanted = asked or bare or (bot.model if bot is not None else None) or shelf.default
    if wanted is None:
        if bot is None:
            raise NoModel
        return None
    return shelf.models.get(wanted) or ModelInfo(name=wanted)


def context_of(model: ModelInfo | None, limits: Limits) -> int:
    """The model's context in tokens; what W7 assumes of an unknown one."""
    known = None if model is None else model.context
    return limits.unknown_context if known is None else known
