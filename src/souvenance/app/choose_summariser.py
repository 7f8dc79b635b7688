"""Which model writes a conversation's summary: the installation's for summaries, else the one that answers there."""

from __future__ import annotations

from souvenance.app.choose_model import choose, models_at_hand
from souvenance.app.kit import Kit
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation
from souvenance.errors import NoModel
from souvenance.ports.chat_model import ModelInfo


async def choose_summariser(kit: Kit, *, conversation: Conversation, bot: Bot | None) -> ModelInfo | None:
    """None when there is no model at all: then the summary is extracted (S11).

    UnknownModel when nobody has the one that the setting `summary_model` names.
    """
    shelf = await models_at_hand(kit, asked=kit.summary_model)
    try:
        return choose(shelf, asked=kit.summary_model, conversation=conversation, bot=bot)
    except NoModel:
        return None
