"""What goes into a turn and what comes out of it: the request, where it belongs, and the events of its reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, assert_never

from souvenance.app.conversations import NewConversation
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation, Message, Role, Turn
from souvenance.domain.ids import BotId, ConversationId, MemoryId, TurnId
from souvenance.domain.json_object import JsonObject
from souvenance.ports.chat_model import ModelChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class InConversation:
    conversation_id: ConversationId


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChat:
    conversation: NewConversation


@dataclass(frozen=True, slots=True, kw_only=True)
class FromClient:
    """A client that re-sends its history (I3): `client` is its key's stable name, `ref` the name it gives the
    conversation, scoped to that key; `history` what it sent before the newest user message, system messages apart.
    """

    client: str
    ref: str = ""
    history: tuple[tuple[Role, str], ...] = ()
    conversation: NewConversation


Address = InConversation | NewChat | FromClient


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """One user message and how to answer it.

    `system`, `user_message`, `tail`, `tools` and `fields` are the client's own wire objects and go on untouched;
    `speakers` are those who answer, in this order; the first member when nobody is named. `replaces` is a turn that
    goes with all after it as this one opens (T7). `request_key` is an idempotency key; `request_hash` the hash of the
    request's very bytes (FromClient).
    """

    address: Address
    text: str
    time_zone: str = ""
    speakers: tuple[BotId, ...] = ()
    replaces: TurnId | None = None
    request_key: str = ""
    request_hash: str = ""
    model: str | None = None
    system: tuple[JsonObject, ...] = ()
    user_message: JsonObject | None = None
    tail: tuple[JsonObject, ...] = ()
    tools: tuple[JsonObject, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    stream: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The user's message is stored; None where memory is unavailable, and in a temporary chat. Only there `dropped` is
    known: how many messages passed the window (O4).
    """

    conversation: Conversation | None
    turn: Turn | None
    message: Message | None
    dropped: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaking:
    """In a group, before each reply: whose words follow."""

    bot: Bot
    first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What the person sees now, text calls taken out; `chunk` is the upstream's piece it came with."""

    text: str
    chunk: ModelChunk | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """Something the person may want to know beside the reply. `kind`: remembered, updated, forgotten, refused,
    malformed_call, command, dropped.
    """

    kind: str
    text: str
    memory_id: MemoryId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The reply is stored (unless `memory_unavailable`, or in a temporary chat). `finish`: stop, length, tool_calls,
    cut_off, command …; `estimated` while the figures are not the model's own (C5); `saved` counts what the reply
    stored; `more` says that in a group another member answers after this one.
    """

    turn: Turn | None
    message: Message | None
    finish: str
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: bool = True
    saved: int = 0
    memory_unavailable: bool = False
    more: bool = False


TurnEvent = Opened | Speaking | Delta | Noted | Done


def shown(event: TurnEvent) -> str:
    """What of an event belongs into the reply; in a group each begins with the speaker's name."""
    match event:
        case Speaking(bot=bot, first=first):
            return f"{bot.name}: " if first else f"\n\n{bot.name}: "
        case Delta(text=text):
            return text
        case Opened() | Noted() | Done():
            return ""
        case _:
            assert_never(event)
