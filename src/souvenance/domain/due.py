"""Background work: what is due, who holds it, and with which fence (HOUSE, journey 2)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from souvenance.domain.ids import ConversationId, OwnerId


class DueState(StrEnum):
    WAITING = "waiting"
    LEASED = "leased"
    PARKED = "parked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """One piece of due work. `rank` is how many of its owner's stood before it when it was written, so that no owner
    with many delays another; `fence` grows with every claim, and a commit with an older one is refused. `holder` names
    the one claim that holds it, since a piece that was finished and became due again counts its fences anew.
    """

    owner_id: OwnerId
    kind: str
    subject: str
    conversation_id: ConversationId | None = None
    due_at: datetime
    rank: int = 0
    state: DueState = DueState.WAITING
    lease_until: datetime | None = None
    fence: int = 0
    holder: str = ""
    attempts: int = 0
    reason: str = ""
