"""The kinds of background work, and how a step of it ends: in one commit with its result (HOUSE, journey 2)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from souvenance.domain.due import Due
from souvenance.domain.ids import ConversationId, OwnerId
from souvenance.errors import LeaseLost
from souvenance.ports.store import Unit


class Work(StrEnum):
    """What may be due. The subject of each is a conversation's id."""

    SUMMARY = "summary"
    REFRESH = "refresh"
    REBUILD = "rebuild"
    DEEPER = "deeper"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepped:
    """How a step ended. `more` says that the next step is due at once; `reason` why there was nothing to do."""

    more: bool = False
    reason: str = ""


def make_due(unit: Unit, kind: Work, conversation_id: ConversationId, owner_id: OwnerId, at: datetime) -> None:
    """Let this be due, in the same transaction as its cause."""
    unit.due.put(Due(owner_id=owner_id, kind=kind, subject=conversation_id, conversation_id=conversation_id, due_at=at))


def end_step(unit: Unit, due: Due, *, more: bool, at: datetime) -> None:
    """Finish the leased piece in the present transaction, or leave its next step due; LeaseLost, which takes the whole
    transaction back, when another worker has taken it over.
    """
    if not unit.due.finish(due):
        raise LeaseLost(due.kind, due.subject)
    if more:
        assert due.conversation_id is not None
        make_due(unit, Work(due.kind), due.conversation_id, due.owner_id, at)
