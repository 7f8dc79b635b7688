"""Conversations, turns and messages as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from souvenance.app.browse import ConversationMemory
from souvenance.domain.conversation import (
    Channel,
    Conversation,
    Flags,
    Message,
    MessageState,
    Role,
    Turn,
    TurnState,
)
from souvenance.domain.limits import Level
from souvenance.server.views.view import View


class FlagsJson(View):
    challenge: bool
    gateway: bool
    anonymous: bool
    temporary: bool

    @classmethod
    def of(cls, flags: Flags) -> Self:
        return cls(
            challenge=flags.challenge, gateway=flags.gateway, anonymous=flags.anonymous, temporary=flags.temporary
        )


class ConversationJson(View):
    id: str
    bot_id: str | None
    members: list[str]
    persona_id: str | None
    model: str | None
    channel: Channel
    flags: FlagsJson
    parent_id: str | None
    title: str
    time_zone: str
    window_start: int
    messages: int
    waiting: int
    created_at: datetime
    updated_at: datetime
    version: int

    @classmethod
    def of(cls, conversation: Conversation) -> Self:
        return cls(
            id=conversation.conversation_id,
            bot_id=conversation.bot_id,
            members=list(conversation.members),
            persona_id=conversation.persona_id,
            model=conversation.model,
            channel=conversation.channel,
            flags=FlagsJson.of(conversation.flags),
            parent_id=conversation.parent_id,
            title=conversation.title,
            time_zone=conversation.time_zone,
            window_start=conversation.window_start,
            messages=conversation.messages,
            waiting=conversation.waiting,
            created_at=conversation.created_at,
            updated_at=conversation.updated_at,
            version=conversation.version,
        )


class MessageJson(View):
    id: str
    conversation_id: str
    turn_id: str
    position: int
    part: int
    variant: int
    chosen: bool
    role: Role
    bot_id: str | None
    origin_id: str
    state: MessageState
    text: str
    tokens: int
    noted: int
    model: str
    time_zone: str
    created_at: datetime

    @classmethod
    def of(cls, message: Message) -> Self:
        return cls(
            id=message.message_id,
            conversation_id=message.conversation_id,
            turn_id=message.turn_id,
            position=message.position,
            part=message.part,
            variant=message.variant,
            chosen=message.chosen,
            role=message.role,
            bot_id=message.bot_id,
            origin_id=message.origin_id,
            state=message.state,
            text=message.text,
            tokens=message.tokens,
            noted=message.noted,
            model=message.model,
            time_zone=message.time_zone,
            created_at=message.created_at,
        )


class TurnJson(View):
    id: str
    conversation_id: str
    position: int
    state: TurnState
    acknowledged: bool
    created_at: datetime

    @classmethod
    def of(cls, turn: Turn) -> Self:
        return cls(
            id=turn.turn_id,
            conversation_id=turn.conversation_id,
            position=turn.position,
            state=turn.state,
            acknowledged=turn.acknowledged,
            created_at=turn.created_at,
        )


class TurnMessagesJson(View):
    turn: TurnJson
    messages: list[MessageJson]


class ConversationMemoryJson(View):
    """What of a conversation is sent word for word, and how much waits for its summary (W4, S6)."""

    level: Level
    in_window: int
    waiting: int
    messages: int
    window_start: int

    @classmethod
    def of(cls, memory: ConversationMemory) -> Self:
        return cls(
            level=memory.level,
            in_window=memory.in_window,
            waiting=memory.waiting,
            messages=memory.conversation.messages,
            window_start=memory.conversation.window_start,
        )
