"""What a step of summary work is decided from, read in one hop."""

from __future__ import annotations

from dataclasses import dataclass

from souvenance.app.begin_window import level_of
from souvenance.app.choose_model import choose, context_of, models_at_hand
from souvenance.app.kit import Kit
from souvenance.app.turn_sizes import turn_sizes
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.due import Due
from souvenance.domain.ids import BotId, ConversationId
from souvenance.domain.limits import Level
from souvenance.domain.summary import Rebuild, RebuildState, Rule
from souvenance.domain.tiers import Standing
from souvenance.domain.window import bounds
from souvenance.errors import NoModel, NotFound
from souvenance.ports.chat_model import ModelInfo
from souvenance.ports.store import Unit

READ_AHEAD = 3
"""How many windows of unsummarised messages are looked at; what waits behind them is looked at later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """`messages` are the chosen ones behind the summary, as far as a step looks ahead; `members` those who are left,
    `speaker` the first of them, whose model bounds the window (W1, W2).
    """

    conversation: Conversation
    members: tuple[Bot, ...]
    level: Level
    standing: Standing
    rules: tuple[Rule, ...]
    messages: tuple[Message, ...]

    @property
    def speaker(self) -> Bot | None:
        return self.members[0] if self.members else None


async def look_at_summary(kit: Kit, due: Due) -> Looked | None:
    """Where the conversation of this piece of work stands; None when it is gone."""
    assert due.conversation_id is not None
    here = due.conversation_id

    def first(unit: Unit) -> tuple[Conversation, tuple[Bot, ...]] | None:
        conversation = conversation_there(unit, here)
        return None if conversation is None else (conversation, tuple(unit.bots.many(members_in(conversation))))

    found = await kit.store.read(due.owner_id, first, label="summary.conversation_read")
    if found is None:
        return None
    conversation, members = found
    model = await speaking(kit, conversation, members[0] if members else None)

    def then(unit: Unit) -> Looked | None:
        conversation = conversation_there(unit, here)
        return None if conversation is None else _looked(unit, kit, conversation, members, model)

    return await kit.store.read(due.owner_id, then, label="summary.looked_at")


def conversation_there(unit: Unit, here: ConversationId) -> Conversation | None:
    """None when it was deleted."""
    try:
        return unit.conversations.get(here)
    except NotFound:
        return None


def members_in(conversation: Conversation) -> tuple[BotId, ...]:
    return conversation.members or (() if conversation.bot_id is None else (conversation.bot_id,))


async def speaking(kit: Kit, conversation: Conversation, bot: Bot | None) -> ModelInfo | None:
    """The model that answers here: its context bounds the window (W1)."""
    try:
        return choose(await models_at_hand(kit), asked=None, conversation=conversation, bot=bot)
    except NoModel:
        return None


def _looked(
    unit: Unit, kit: Kit, conversation: Conversation, members: tuple[Bot, ...], model: ModelInfo | None
) -> Looked:
    here = conversation.conversation_id
    level = level_of(unit, conversation)
    window = bounds(level, kit.limits, context_of(model, kit.limits))
    ahead = READ_AHEAD * window.messages
    messages = unit.messages.oldest(here, conversation.summarised_to + 1, limit=ahead)
    calibration = unit.calibrations.get("" if model is None else model.name)
    standing = Standing(
        live=unit.summaries.live(here) if conversation.summarised_to >= 0 else [],
        turns=turn_sizes(messages, calibration),
        window=window,
        window_start=conversation.window_start,
        rebuilding=is_rebuilding(unit.rebuilds.newest(here)),
    )
    rules = tuple(unit.summaries.rules(here))
    return Looked(
        conversation=conversation,
        members=members,
        level=level,
        standing=standing,
        rules=rules,
        messages=tuple(messages),
    )


def is_rebuilding(rebuild: Rebuild | None) -> bool:
    """Whether a rebuild is on its way, also one that waits to be resumed."""
    return rebuild is not None and rebuild.state in {RebuildState.RUNNING, RebuildState.PAUSED, RebuildState.FAILED}
