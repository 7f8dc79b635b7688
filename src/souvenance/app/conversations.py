"""Open and read conversations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from souvenance.app.kit import Kit
from souvenance.app.members import check_members
from souvenance.domain.conversation import Channel, Conversation, Flags
from souvenance.domain.history import beginning
from souvenance.domain.ids import BotId, ConversationId, OwnerId, PersonaId
from souvenance.domain.limits import Limits
from souvenance.domain.text import clean
from souvenance.errors import BadValue
from souvenance.ports.store import Unit

_NOT_KEPT = (
    "false: a chat of which nothing is stored is no conversation; say it by temporary turns (POST /temporary-turns, "
    "memory.temporary, souvenance chat --temporary, or the header X-Souvenance-Temporary on /v1)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewConversation:
    """What a conversation starts with; without a bot it is a bare upstream `model` (I3).

    `others` are further members of a group, after the bot.
    """

    bot_id: BotId | None = None
    others: tuple[BotId, ...] = ()
    model: str | None = None
    persona_id: PersonaId | None = None
    channel: Channel = Channel.API
    flags: Flags = Flags()
    time_zone: str = "UTC"
    title: str = ""

    @property
    def members(self) -> tuple[BotId, ...]:
        return () if self.bot_id is None else (self.bot_id, *self.others)


async def open_conversation(kit: Kit, owner_id: OwnerId, new: NewConversation) -> Conversation:
    """Store a conversation without a turn yet; NotFound when its bot or persona is not the owner's."""
    check_new(kit.limits, new)
    made = make_conversation(new, ConversationId(kit.ids.new("cnv")), kit.clock.now())

    def work(unit: Unit) -> Conversation:
        return put_conversation(unit, made)

    return await kit.store.write(owner_id, work, label="conversation.opened")


async def read_conversation(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId) -> Conversation:
    return await kit.store.read(
        owner_id, lambda unit: unit.conversations.get(conversation_id), label="conversation.read"
    )


def check_new(limits: Limits, new: NewConversation) -> None:
    """InputError for a title or a model's name that cannot be stored or is too long, and for members too many."""
    if new.others and new.bot_id is None:
        raise BadValue("members", value=list(new.others), expected="a bot before further members")
    check_members(limits, new.members)
    if new.title:
        clean("title", new.title, limit=limits.title_characters, keep_breaks=False)
    if new.model is not None:
        clean("model", new.model, limit=limits.model_characters, keep_breaks=False)


def make_conversation(
    new: NewConversation, conversation_id: ConversationId, now: datetime, *, client: str = "", ref: str = ""
) -> Conversation:
    return Conversation(
        conversation_id=conversation_id,
        bot_id=new.bot_id,
        members=new.members,
        persona_id=new.persona_id,
        model=new.model,
        channel=new.channel,
        flags=_allowed(new.flags),
        title=new.title,
        time_zone=known_zone(new.time_zone or "UTC"),
        client=client,
        client_ref=ref,
        history_hash=beginning(new.bot_id),
        created_at=now,
        updated_at=now,
    )


def _allowed(flags: Flags) -> Flags:
    """BadValue: of a temporary or anonymous chat nothing may be stored (O4), and a gateway is derived (O5)."""
    for name in ("temporary", "anonymous"):
        if getattr(flags, name):
            raise BadValue(f"flags.{name}", value=True, expected=_NOT_KEPT)
    if flags.gateway:
        raise BadValue("flags.gateway", value=True, expected="false: the server derives it, nobody claims it")
    return flags


def put_conversation(unit: Unit, made: Conversation) -> Conversation:
    for bot_id in made.members:
        unit.bots.get(bot_id)
    if made.persona_id is not None:
        unit.personas.get(made.persona_id)
    unit.conversations.put(made)
    return made


def known_zone(name: str) -> str:
    """`name` when it is an IANA time zone."""
    try:
        ZoneInfo(name)
    except (KeyError, OSError, ValueError) as e:
        raise BadValue("time_zone", value=name, expected="an IANA time zone such as Europe/Paris") from e
    return name
