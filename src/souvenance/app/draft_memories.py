"""Draft memories from a description that a person writes (V5): never from the chat, and never stored unreviewed."""

from __future__ import annotations

from dataclasses import dataclass

from souvenance.app.ask_for_drafts import ask_for_drafts
from souvenance.app.choose_model import choose, models_at_hand
from souvenance.app.drafts import Drafted, Material, is_notebook, keep_drafts
from souvenance.app.kit import Kit
from souvenance.app.remember import check_scope
from souvenance.domain.bot import Bot
from souvenance.domain.ids import BotId, OwnerId
from souvenance.domain.memory import ACCOUNT_SCOPE, Origin, Scope, ScopeKind
from souvenance.domain.policy import writes_to
from souvenance.domain.text import clean
from souvenance.errors import NoModel
from souvenance.ports.chat_model import ModelInfo
from souvenance.ports.store import Unit
from souvenance.prompts.draft_memories import Form, about_description

NOTE = "Drafted from your description and the bot's own words alone; no conversation was read."


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What should be remembered, in a person's words. `target` is a scope, or a bot whose usual scope is meant (E1);
    `model` None means the bot's, else the installation's.
    """

    text: str
    target: BotId | Scope = ACCOUNT_SCOPE
    model: str | None = None


async def draft_memories(kit: Kit, owner_id: OwnerId, description: Description) -> Drafted:
    """At most `drafts_most` drafts, unpinned, to be reviewed and saved.

    Raises TextTooLong, NotFound, NoModel, UnknownModel, PromptTooLarge, UnusableDrafts, and what models raise; then
    nothing is stored.
    """
    said = clean("description", description.text, limit=kit.limits.description_drafted)
    bot, scope, keyed = await kit.store.read(
        owner_id, lambda unit: _aimed(unit, description.target), label="drafting.read"
    )
    model = await model_for(kit, bot, description.model)
    form = Form(limits=kit.limits, keyed=keyed)
    question = about_description(
        said, form, bot="" if bot is None else bot.name, bot_prompt="" if bot is None else bot.system_prompt
    )
    answered = await ask_for_drafts(kit, owner_id, model, question, form)
    material = Material(
        scope=scope,
        origin=Origin.GENERATED,
        pinned=False,
        note=NOTE,
        proposed=answered.said,
        sources=((),) * len(answered.said),
    )
    return await keep_drafts(kit, owner_id, material, answered.charge)


async def model_for(kit: Kit, bot: Bot | None, asked: str | None) -> ModelInfo:
    """The model that drafts: the one asked for, the bot's, the installation's; NoModel, UnknownModel."""
    shelf = await models_at_hand(kit, asked=asked)
    model = choose(shelf, asked=asked, conversation=None, bot=bot)
    if model is None:
        raise NoModel
    return model


def _aimed(unit: Unit, target: BotId | Scope) -> tuple[Bot | None, Scope, bool]:
    """The bot that the drafts are for, if any, their scope, and whether that is a notebook's."""
    bot_id = BotId(target.ref) if isinstance(target, Scope) and target.kind is ScopeKind.BOT else target
    bot = None if isinstance(bot_id, Scope) else unit.bots.get(bot_id)
    scope = target if isinstance(target, Scope) else writes_to(bot)
    check_scope(unit, scope, keyed=True)
    return bot, scope, is_notebook(unit, scope)
