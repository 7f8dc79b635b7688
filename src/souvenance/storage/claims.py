"""The two statements that look across owners: the claim of due work and what has ended: offers, drafts (HOUSE 7)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, or_, select, tuple_, union, update

from souvenance.domain.due import Due, DueState
from souvenance.domain.ids import OwnerId
from souvenance.storage.columns import Moment
from souvenance.storage.due import due_of
from souvenance.storage.schema import drafts, due, erasures

_NOW = bindparam("now", type_=Moment)
_other = due.alias("other")

# Only columns of `due_in_order` are named, so that it answers by itself.
_OF_CONVERSATION = select(_other.c.state).where(
    _other.c.owner_id == due.c.owner_id, _other.c.conversation_id == due.c.conversation_id
)
_WORKED_ON = _OF_CONVERSATION.where(_other.c.state == DueState.LEASED).exists()
_NOT_FIRST = _OF_CONVERSATION.where(
    _other.c.state == DueState.WAITING,
    _other.c.due_at <= _NOW,
    tuple_(_other.c.due_at, _other.c.kind, _other.c.subject) < tuple_(due.c.due_at, due.c.kind, due.c.subject),
).exists()
# What was begun comes first in its conversation, even when its worker is gone; then the oldest.
_IN_TURN = or_(due.c.state == DueState.LEASED, ~or_(_WORKED_ON, _NOT_FIRST))
NEXT = (
    select(due.c.owner_id, due.c.kind, due.c.subject)
    .where(due.c.ready_at <= _NOW, due.c.kind.in_(bindparam("kinds", expanding=True)), _IN_TURN)
    .order_by(due.c.rank, due.c.ready_at)
    .limit(1)
    .with_for_update(skip_locked=True)
)
LEASE = (
    update(due)
    .where(
        due.c.owner_id == bindparam("of_owner"),
        due.c.kind == bindparam("of_kind"),
        due.c.subject == bindparam("of_subject"),
    )
    .values(state=DueState.LEASED, fence=due.c.fence + 1)
    .returning(due)
)
ENDED = union(
    select(erasures.c.owner_id).where(erasures.c.until <= _NOW),
    select(drafts.c.owner_id).where(drafts.c.until <= _NOW, drafts.c.text.is_not(None)),
)


def any_claimable(connection: Connection, *, now: datetime, kinds: Sequence[str]) -> bool:
    """Whether `claim` would find something; takes no lock."""
    return connection.execute(NEXT, {"now": now, "kinds": list(kinds)}).first() is not None


def claim(connection: Connection, *, worker: str, now: datetime, lease: timedelta, kinds: Sequence[str]) -> Due | None:
    """Lease the next piece: lowest rank first, then what has been ready longest; None when nothing is due."""
    found = connection.execute(NEXT, {"now": now, "kinds": list(kinds)}).one_or_none()
    if found is None:
        return None
    named = {"of_owner": found.owner_id, "of_kind": found.kind, "of_subject": found.subject}
    leased = connection.execute(LEASE, {**named, "worker": worker, "ready_at": now + lease}).one()
    return due_of(leased)


def owners_with_ended_offers(connection: Connection, now: datetime) -> list[OwnerId]:
    return [OwnerId(row.owner_id) for row in connection.execute(ENDED, {"now": now})]
