"""Make drafts of messages that a person chose in one conversation (V6): by a model, or the messages as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from souvenance.app.ask_for_drafts import ask_for_drafts
from souvenance.app.draft_memories import model_for
from souvenance.app.drafts import Drafted, Material, is_notebook, keep_drafts, texts
from souvenance.app.kit import Kit
from souvenance.app.members import members_of
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.ids import MessageId, OwnerId
from souvenance.domain.limits import Limits
from souvenance.domain.memory import Origin, Scope
from souvenance.domain.policy import Policy, circumstances, policy, writes_to
from souvenance.domain.text import clean
from souvenance.errors import BadValue, MemoryIsOff, NotFound, TooMany
from souvenance.ports.store import Unit
from souvenance.prompts.draft_memories import Form, about_messages

NOTE = "Drafted from the messages you chose; they are pinned when you save them, unless you say otherwise."


class How(StrEnum):
    """DRAFT: a model drafts from them. EACH: one memory per message. JOINED: one memory of all, in their order."""

    DRAFT = "draft"
    EACH = "each"
    JOINED = "joined"

    @classmethod
    def read(cls, word: str) -> How:
        """BadValue for a word that is none of them."""
        try:
            return cls(word)
        except ValueError as e:
            raise BadValue("how", value=word, expected=" or ".join(cls)) from e


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Messages of one conversation; `model` None means the bot's, else the installation's."""

    message_ids: tuple[MessageId, ...]
    how: How = How.DRAFT
    pinned: bool = True
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """The messages in their order, and where what is saved of them goes."""

    messages: tuple[Message, ...]
    bot: Bot | None
    model: str | None
    policy: Policy
    scope: Scope
    keyed: bool


async def draft_from_messages(kit: Kit, owner_id: OwnerId, selection: Selection) -> Drafted:
    """Drafts to be reviewed and saved, with the room for pins of their scope.

    Raises TooMany, NotFound for a message of another conversation, BotGone, MemoryIsOff (O3-O5), TextTooLong for what
    must be shortened first, Conflict for a message that is changed meanwhile, and for DRAFT what `draft_memories`
    raises; then nothing is stored.
    """
    _check(kit.limits, selection.message_ids)
    chosen = await kit.store.read(
        owner_id, lambda unit: _chosen(unit, kit, selection.message_ids), label="selection.read"
    )
    if not chosen.policy.saves_from_chat:
        raise MemoryIsOff("saving from this conversation", chosen.policy.command_refusal)
    note = f"{NOTE} ({chosen.policy.command_note})" if chosen.policy.command_note else NOTE
    everything = tuple(message.message_id for message in chosen.messages)
    charge = None
    if selection.how is How.DRAFT:
        form = Form(limits=kit.limits, keyed=chosen.keyed)
        model = await model_for(kit, chosen.bot, selection.model or chosen.model)
        answered = await ask_for_drafts(kit, owner_id, model, about_messages(chosen.messages, form), form)
        proposed, sources, charge = answered.said, (everything,) * len(answered.said), answered.charge
    elif selection.how is How.EACH:
        proposed, sources = texts(_each(kit.limits, chosen)), tuple((one,) for one in everything)
    else:
        proposed, sources = texts([_joined(kit.limits, chosen)]), (everything,)
    material = Material(
        scope=chosen.scope,
        origin=Origin.CONVERSATION,
        pinned=selection.pinned,
        note=note,
        proposed=proposed,
        sources=sources,
        said=chosen.messages,
    )
    return await keep_drafts(kit, owner_id, material, charge)


def _check(limits: Limits, message_ids: Sequence[MessageId]) -> None:
    if not message_ids:
        raise BadValue("message_ids", value=[], expected=f"1 to {limits.draft_messages} message ids")
    if len(message_ids) > limits.draft_messages:
        raise TooMany("message_ids", size=len(message_ids), limit=limits.draft_messages)


def _chosen(unit: Unit, kit: Kit, message_ids: Sequence[MessageId]) -> _Chosen:
    found = {message.message_id: message for message in unit.messages.many(message_ids) if message.chosen}
    for message_id in message_ids:
        first = found.get(message_ids[0])
        if first is None or message_id not in found or found[message_id].conversation_id != first.conversation_id:
            raise NotFound("message", message_id)
    conversation = unit.conversations.get(found[message_ids[0]].conversation_id)
    bot = next(iter(members_of(unit, conversation)), None)
    return _Chosen(
        messages=tuple(sorted(found.values(), key=lambda message: (message.position, message.part))),
        bot=bot,
        model=conversation.model if bot is None else None,
        policy=_policy_of(kit, conversation, bot),
        scope=writes_to(bot),
        keyed=is_notebook(unit, writes_to(bot)),
    )


def _policy_of(kit: Kit, conversation: Conversation, bot: Bot | None) -> Policy:
    return policy(circumstances(conversation, bot, can_call_tools=False, plan_has_deeper=kit.deeper_memory))


def _each(limits: Limits, chosen: _Chosen) -> list[str]:
    return [
        clean(f"message {message.message_id}", message.text, limit=_most(limits, chosen)) for message in chosen.messages
    ]


def _joined(limits: Limits, chosen: _Chosen) -> str:
    joined = "\n".join(message.text for message in chosen.messages)
    return clean("the joined text", joined, limit=_most(limits, chosen))


def _most(limits: Limits, chosen: _Chosen) -> int:
    return limits.value_characters if chosen.keyed else limits.memory_characters
