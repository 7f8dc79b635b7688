"""Plain values for the conformance suite: each function makes one, with what the test cares about replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from souvenance.domain.bot import PRESETS, Bot, Persona, Preset
from souvenance.domain.conversation import Conversation, Message, Role, Turn, TurnState
from souvenance.domain.due import Due
from souvenance.domain.ids import (
    BotId,
    ConversationId,
    MessageId,
    NotificationId,
    OwnerId,
    PersonaId,
    TurnId,
)
from souvenance.domain.notification import Notification
from souvenance.domain.owner import Owner, OwnerKind
from souvenance.ports.store import Unit

V = TypeVar("V")

ALICE = OwnerId("own_alice")
BOB = OwnerId("own_bob")
NOBODY = OwnerId("own_nobody")

NOW = datetime(2026, 3, 4, 5, 6, 7, 891_011, tzinfo=UTC)
CHAT = ConversationId("con_1")


def each(verb: Callable[[Unit], Callable[[V], object]], values: Iterable[V]) -> Callable[[Unit], None]:
    """The work that calls one verb of a repository with each value: `each(lambda unit: unit.bots.put, bots)`."""

    def work(unit: Unit) -> None:
        for value in values:
            verb(unit)(value)

    return work


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def owner(owner_id: OwnerId) -> Owner:
    return Owner(
        owner_id=owner_id,
        kind=OwnerKind.ACCOUNT,
        name=f"Name of {owner_id}",
        secret=owner_id.encode() * 3,
        place=0,
        created_at=NOW,
    )


def bot(bot_id: str = "bot_1", name: str = "Ilse", **other: Any) -> Bot:
    settings = PRESETS[Preset.COMPANION]
    given = {"preset": Preset.COMPANION, "settings": settings, "created_at": NOW, "updated_at": NOW, **other}
    return Bot(bot_id=BotId(bot_id), name=name, **given)


def persona(persona_id: str = "per_1", name: str = "Captain", **other: Any) -> Persona:
    return Persona(persona_id=PersonaId(persona_id), name=name, created_at=NOW, updated_at=NOW, **other)


def conversation(conversation_id: str = CHAT, **other: Any) -> Conversation:
    given = {"bot_id": BotId("bot_1"), "created_at": NOW, "updated_at": NOW, **other}
    return Conversation(conversation_id=ConversationId(conversation_id), **given)


def turn(position: int = 0, conversation_id: str = CHAT, **other: Any) -> Turn:
    given = {"turn_id": TurnId(f"trn_{conversation_id[4:]}x{position:05}"), "state": TurnState.OPEN, **other}
    return Turn(conversation_id=ConversationId(conversation_id), position=position, created_at=NOW, **given)


def message(
    position: int = 0, part: int = 0, *, variant: int = 0, conversation_id: str = CHAT, **other: Any
) -> Message:
    chat = conversation_id[4:]
    message_id = MessageId(f"msg_{chat}x{position:05}x{part}x{variant}")
    given = {
        "message_id": message_id,
        "turn_id": TurnId(f"trn_{chat}x{position:05}"),
        "origin_id": message_id,
        "role": Role.BOT if part else Role.USER,
        "text": f"Said at {position}.{part}.{variant}",
        "tokens": 7,
        "created_at": NOW,
        **other,
    }
    return Message(
        conversation_id=ConversationId(conversation_id), position=position, part=part, variant=variant, **given
    )


def notification(number: int = 1, **other: Any) -> Notification:
    given = {"kind": "rebuild_done", "about": {"nodes": 3}, "created_at": NOW, **other}
    return Notification(notification_id=NotificationId(f"ntf_{number:05}"), **given)


def due(subject: str = "con_1", owner_id: OwnerId = ALICE, **other: Any) -> Due:
    given = {"kind": "compact", "due_at": NOW, **other}
    return Due(owner_id=owner_id, subject=subject, **given)
