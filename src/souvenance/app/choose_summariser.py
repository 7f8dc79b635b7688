"""Which model writes a conversation's summary: the installation's for summaries, else the one that answers there."""

from __future__ import annotations

from collections.abc import Sequence

from souvenance.app.choose_model import choose, models_at_hand
from souvenance.app.kit import Kit
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.due import Due
from souvenance.errors import ModelUnreachable, NoModel
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


async def summariser_of(
    kit: Kit, due: Due, *, conversation: Conversation, bot: Bot | None, said: Sequence[Message]
) -> ModelInfo | None:
    """As `choose_summariser`; where one answered these messages and none is at hand, it is away and not missing.

    Then it raises ModelUnreachable until the last try, so that a short outage leaves no extracted summary behind.
    """
    model = await choose_summariser(kit, conversation=conversation, bot=bot)
    answered = next((message.model for message in reversed(said) if message.model), "")
    if model is None and answered and due.attempts + 1 < kit.limits.work_failures:
        raise ModelUnreachable(answered, reason="no provider lists a model at the moment")
    return model
