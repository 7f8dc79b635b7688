"""Conversations as lines of turns (T4): what was said, in order, with variants and origins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from souvenance.domain.ids import BotId, ConversationId, MessageId, OwnerId, PersonaId, TurnId
from souvenance.domain.prompt import Run


class Channel(StrEnum):
    WEB = "web"
    API = "api"
    TELEGRAM = "telegram"
    DISCORD = "discord"


class Role(StrEnum):
    USER = "user"
    BOT = "bot"


class TurnState(StrEnum):
    """OPEN from its user message until its reply is stored; WHOLE once it is."""

    OPEN = "open"
    WHOLE = "whole"


class MessageState(StrEnum):
    WHOLE = "whole"
    CUT_OFF = "cut_off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """What a conversation is, as far as memory must know (section 6)."""

    challenge: bool = False
    gateway: bool = False
    anonymous: bool = False
    temporary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One chat. `bot_id` is its first member, None for a bare upstream model (I3).

    `window_start` is the position of the first turn in the live window and never moves back; `last_position` is -1
    before the first turn. `messages` counts the chosen messages, `waiting` those that left the window without a node.
    `summarised_to` is the position of the last turn that summary nodes stand for, `deepened_to` of the last one that
    was read for deeper memory (V8), both -1 for none.
    `client` and `client_ref` say which key opened it and by which name (I3); `history_hash` is the chained keyed hash
    of its chosen turns.
    """

    conversation_id: ConversationId
    bot_id: BotId | None
    bot_owner: OwnerId | None = None
    members: tuple[BotId, ...] = ()
    persona_id: PersonaId | None = None
    model: str | None = None
    channel: Channel = Channel.WEB
    flags: Flags = Flags()
    organisation_id: OwnerId | None = None
    parent_id: ConversationId | None = None
    fork_position: int | None = None
    title: str = ""
    time_zone: str = "UTC"
    window_start: int = 0
    last_position: int = -1
    messages: int = 0
    waiting: int = 0
    summarised_to: int = -1
    deepened_to: int = -1
    client: str = ""
    client_ref: str = ""
    history_hash: str = ""
    created_at: datetime
    updated_at: datetime
    version: int = 1

    @property
    def is_group(self) -> bool:
        """Whether it was opened with several bots; it stays a group when members are deleted."""
        return len(self.members) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One user message and what answered it. `attempt` fences replies: only the newest attempt may commit.

    `request_key` is the caller's idempotency key; `request_hash` the keyed hash of the request's very bytes, and
    `opened_hash` the chained hash of the history up to and with this user message, both in hex (I3).
    """

    turn_id: TurnId
    conversation_id: ConversationId
    position: int
    state: TurnState
    attempt: int = 1
    request_key: str = ""
    request_hash: str = ""
    opened_hash: str = ""
    client: str = ""
    acknowledged: bool = False
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message as a person saw it (S12). `part` is 0 for the user, 1… for the replies of a turn; `variant` counts
    the variants of a part, of which one is `chosen`. `origin_id` is the message this one was copied from (T4), itself
    when it was not. `tokens` is the estimate at the time of storing; `noted` counts what text calls saved (V2).
    """

    message_id: MessageId
    conversation_id: ConversationId
    turn_id: TurnId
    position: int
    part: int
    variant: int = 0
    chosen: bool = True
    role: Role
    bot_id: BotId | None = None
    origin_id: MessageId
    state: MessageState = MessageState.WHOLE
    text: str
    tokens: int
    noted: int = 0
    model: str = ""
    time_zone: str = "UTC"
    created_at: datetime


class MessageSize(NamedTuple):
    """How large a chosen message is, without its words; tokens as the tokenizer counts them."""

    position: int
    tokens: int


@dataclass(frozen=True, kw_only=True)
class WindowMessage:
    """What the live window needs of a chosen message: each turn reads dozens of them."""

    message_id: MessageId
    position: int
    role: Role
    bot_id: BotId | None
    text: str
    tokens: int

    @cached_property
    def run(self) -> Run:
        """Its words as a run of a prompt, kept with it: it stands in the window for many turns."""
        return Run(text=self.text, message_id=self.message_id)
