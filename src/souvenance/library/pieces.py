"""What a caller gets of a turn: its pieces one by one, or the whole reply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from souvenance.app.turn import Done, Noted, TurnEvent
    from souvenance.domain.ids import ConversationId


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One step of a reply: `text` is what to show next, "" when there is nothing to show; `event` says all of it."""

    text: str
    event: TurnEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole reply. `conversation_id` and `done.message` are None where nothing was stored (a command, no memory)."""

    text: str
    conversation_id: ConversationId | None
    notes: tuple[Noted, ...]
    done: Done

    def __str__(self) -> str:
        return self.text
