"""A conversation as a line that is cut, copied and taken away (T2, T4, T7, D1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from souvenance.domain.ids import ConversationId, MessageId, TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """That a conversation holds this message, told without its words."""

    message_id: MessageId
    origin_id: MessageId
    position: int
    part: int
    chosen: bool


class Branches(Protocol):
    """The caller holds the conversation. Nothing here settles operations or touches the index and the prompts."""

    def held(self, conversation_id: ConversationId, *, after: int = -1) -> list[Held]:
        """Every message of the turns after this position, variants that were not chosen included, in order."""
        ...

    def said_between(self, conversation_id: ConversationId, after: int, before: int) -> int:
        """How many chosen messages stand in the turns between these positions, neither included."""
        ...

    def copies(self, conversation_id: ConversationId, origins: Sequence[MessageId]) -> dict[MessageId, Held]:
        """By origin, the chosen messages of this conversation that are one of these, or a copy of it."""
        ...

    def still_held(self, origins: Sequence[MessageId]) -> set[MessageId]:
        """Those of these origins that any conversation of the owner holds, chosen or not."""
        ...

    def cut(self, conversation_id: ConversationId, *, after: int) -> None:
        """Remove the turns after this position with all their messages."""
        ...

    def remove_messages(self, message_ids: Sequence[MessageId]) -> None: ...

    def remove_turn(self, turn_id: TurnId) -> None:
        """Remove a turn that has no message any more."""
        ...

    def end_epochs(self, conversation_id: ConversationId) -> None:
        """Let every speaker's next prompt there begin a new epoch (C6)."""
        ...

    def remove_conversation(self, conversation_id: ConversationId) -> None:
        """Remove it with its turns, messages, summary, epochs, short ids, due work, and the rest of its own scope."""
        ...
