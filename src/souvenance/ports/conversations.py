"""Repositories of bots, personas, conversations, turns and messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from souvenance.domain.bot import Bot, Persona
from souvenance.domain.conversation import Conversation, Message, MessageSize, Turn, WindowMessage
from souvenance.domain.ids import BotId, ConversationId, MessageId, PersonaId, TurnId
from souvenance.domain.limits import Level


class Bots(Protocol):
    def get(self, bot_id: BotId) -> Bot:
        """NotFound when the owner has no such bot."""
        ...

    def many(self, bot_ids: Sequence[BotId]) -> list[Bot]:
        """Those of these that are there, in the order asked."""
        ...

    def find(self, name: str) -> Bot | None:
        """The bot of this exact name (compared after folding, by keyed hash)."""
        ...

    def put(self, bot: Bot) -> None:
        """Write a new bot; NameTaken when the name is in use."""
        ...

    def save(self, bot: Bot) -> None:
        """Write the changed bot (its version is the new one); NameTaken when the name is in use by another."""
        ...

    def page(self, *, after: BotId | None, limit: int) -> list[Bot]:
        """In order of id, after `after`."""
        ...

    def notebooks(self, bot_ids: Sequence[BotId]) -> set[BotId]:
        """Those of these bots that are notebooks."""
        ...

    def remove(self, bot_id: BotId) -> None:
        """Drop it with its level and what its prompts held still; nothing of its memories or conversations."""
        ...


class Personas(Protocol):
    def get(self, persona_id: PersonaId) -> Persona: ...

    def put(self, persona: Persona) -> None: ...

    def save(self, persona: Persona) -> None: ...

    def delete(self, persona_id: PersonaId) -> None: ...

    def page(self, *, after: PersonaId | None, limit: int) -> list[Persona]: ...


class Levels(Protocol):
    """The level of detail, per account and bot (W2)."""

    def get(self, bot_id: BotId) -> Level | None: ...

    def set(self, bot_id: BotId, level: Level) -> None: ...


class Conversations(Protocol):
    def get(self, conversation_id: ConversationId) -> Conversation:
        """NotFound when the owner has no such conversation."""
        ...

    def lock(self, conversation_id: ConversationId) -> Conversation:
        """As get, and held against other writers until the commit."""
        ...

    def put(self, conversation: Conversation) -> None: ...

    def save(self, conversation: Conversation) -> None:
        """Write the changed conversation, with its version one higher than before."""
        ...

    def by_client_ref(self, client: str, client_ref: str, bot_id: BotId | None) -> Conversation | None:
        """The one with this bot that this key opened under this name (I3)."""
        ...

    def lock_by_client_ref(self, client: str, client_ref: str, bot_id: BotId | None) -> Conversation | None:
        """As by_client_ref, and held against other writers until the commit."""
        ...

    def by_history(self, client: str, history_hash: str) -> list[Conversation]:
        """At most two conversations of this key whose chosen turns have this hash, newest first."""
        ...

    def page(self, *, bot_id: BotId | None, before: ConversationId | None, limit: int) -> list[Conversation]:
        """Newest first (by id), older than `before`."""
        ...


class Turns(Protocol):
    def get(self, turn_id: TurnId) -> Turn: ...

    def put(self, turn: Turn) -> None: ...

    def save(self, turn: Turn) -> None: ...

    def put_all(self, turns: Sequence[Turn]) -> None: ...

    def acknowledge(self, turn_id: TurnId) -> None:
        """Note that the reply arrived, if the turn is whole."""
        ...

    def last(self, conversation_id: ConversationId) -> Turn | None: ...

    def before(self, conversation_id: ConversationId, position: int) -> Turn | None:
        """The last one before this position."""
        ...

    def after(self, conversation_id: ConversationId, position: int) -> list[Turn]:
        """The turns behind this position, in order."""
        ...

    def by_request(self, conversation_id: ConversationId, request_key: str) -> Turn | None:
        """The turn that this idempotency key opened."""
        ...

    def unacknowledged(self, client: str, *, request_hash: str = "", opened_hash: str = "") -> list[Turn]:
        """At most two turns of this key with this hash (of the request's bytes, or of the history up to its user
        message), newest first, that are the last of their conversation and whose reply was not acknowledged.
        """
        ...


class Messages(Protocol):
    def get(self, message_id: MessageId) -> Message: ...

    def put(self, message: Message) -> None: ...

    def put_all(self, messages: Sequence[Message]) -> None: ...

    def save(self, message: Message) -> None: ...

    def from_position(self, conversation_id: ConversationId, position: int) -> list[Message]:
        """The chosen messages of the turns at `position` and later, in order."""
        ...

    def oldest(self, conversation_id: ConversationId, position: int, *, limit: int) -> list[Message]:
        """As from_position, at most `limit` of them."""
        ...

    def span(self, conversation_id: ConversationId, first: int, last: int) -> list[Message]:
        """The chosen messages of the turns from position `first` to `last`, in order."""
        ...

    def sizes(self, conversation_id: ConversationId, last: int) -> list[MessageSize]:
        """How large the chosen messages of the turns up to position `last` are, in order."""
        ...

    def window(self, conversation_id: ConversationId, start: int) -> list[WindowMessage]:
        """As from_position, with what a turn needs of them."""
        ...

    def of_turn(self, turn_id: TurnId) -> list[Message]:
        """All messages of a turn, variants that were not chosen included, by part and variant."""
        ...

    def page(self, conversation_id: ConversationId, *, before: tuple[int, int] | None, limit: int) -> list[Message]:
        """The chosen messages, newest first, before (position, part)."""
        ...

    def many(self, message_ids: Sequence[MessageId]) -> list[Message]: ...

    def missing(self, message_ids: Iterable[MessageId]) -> set[MessageId]:
        """Which of these ids the owner has no message for."""
        ...
