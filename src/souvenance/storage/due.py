"""One owner's due work: written beside its cause, held by a lease, removed with its result (HOUSE, journey 2)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Integer, Row, bindparam, delete, func, insert, select, update

from souvenance.domain.due import Due, DueState
from souvenance.domain.ids import ConversationId, OwnerId
from souvenance.errors import NotFound
from souvenance.storage.hashing import Hasher
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import due as table

RANKED = 1_000
"""Where ranks stop growing: whoever has more waiting is last anyway, and counting stays cheap."""

_C = table.c
_ONE = (owned(table), _C.kind == bindparam("of_kind"), _C.subject == bindparam("of_subject"))
_HELD = (*_ONE, _C.fence == bindparam("held_fence"), _C.worker == bindparam("held_by"))
_GET = select(table).where(*_ONE)
_LOCK = _GET.with_for_update()
_WAITING = select(table).where(owned(table), _C.state == DueState.WAITING)
_IN_ORDER = _WAITING.order_by(_C.due_at, _C.kind, _C.subject)
_EVERY = select(table).where(owned(table)).order_by(_C.due_at, _C.kind, _C.subject)
_RANK = select(func.count()).select_from(_WAITING.with_only_columns(_C.kind).limit(RANKED).subquery())
_UPDATE = update(table).where(*_ONE)
_REMOVE = delete(table).where(*_HELD, ~_C.again)
_SET_ANEW = update(table).where(*_HELD)
_FINISH_ONE_ROUND = _SET_ANEW.values(ready_at=_C.due_at)
_POSTPONE = _SET_ANEW.values(attempts=_C.attempts + bindparam("more_attempts", type_=Integer))
_EXTEND = _SET_ANEW.where(_C.state == DueState.LEASED)
_FAILED = (_C.state == DueState.PARKED) | ((_C.state == DueState.WAITING) & (_C.reason != ""))
_RESTART = _UPDATE.where(_FAILED)

_FREE = {"worker": None, "again": False}


class SqlDueWork(Repository):
    """`ports.store.DueWork`; what becomes due again while a worker has it stays: `finish` then leaves it waiting."""

    __slots__ = ("made_due",)

    def __init__(self, connection: Connection, owner_id: OwnerId, hasher: Hasher) -> None:
        super().__init__(connection, owner_id, hasher)
        self.made_due = False

    def put(self, due: Due) -> None:
        self.made_due = True
        there = self._row(_LOCK, **_named(due))
        if there is None:
            self._insert(insert(table), [{**_values(due), "rank": self._rank()}])
            return
        if there.state == DueState.WAITING and there.reason:
            # It failed, or spent what may be spent: a further cause ends no pause.
            return
        leased = there.state == DueState.LEASED
        first_cause = leased and not there.again
        due_at = due.due_at if first_cause else min(due.due_at, there.due_at)
        ready_at = due_at if there.state == DueState.WAITING else there.ready_at
        self._run(_UPDATE, **_named(due), due_at=due_at, ready_at=ready_at, again=leased)

    def get(self, kind: str, subject: str) -> Due | None:
        row = self._row(_GET, of_kind=kind, of_subject=subject)
        return None if row is None else due_of(row)

    def finish(self, due: Due) -> bool:
        if self._run(_REMOVE, **_held(due)).rowcount:
            return True
        anew = {"state": DueState.WAITING, "attempts": 0, "reason": "", "rank": self._rank(), **_FREE}
        return self._run(_FINISH_ONE_ROUND, **_held(due), **anew).rowcount > 0

    def postpone(self, due: Due, *, until: datetime, reason: str, failed: bool = True) -> bool:
        later = {"state": DueState.WAITING, "due_at": until, "ready_at": until, "reason": reason, **_FREE}
        changed = self._run(_POSTPONE, **_held(due), rank=self._rank(), more_attempts=int(failed), **later)
        return changed.rowcount > 0

    def park(self, due: Due, *, reason: str) -> bool:
        parked = {"state": DueState.PARKED, "ready_at": None, "reason": reason, **_FREE}
        return self._run(_SET_ANEW, **_held(due), **parked).rowcount > 0

    def extend(self, due: Due, *, until: datetime) -> bool:
        return self._run(_EXTEND, **_held(due), ready_at=until).rowcount > 0

    def restart(self, kind: str, subject: str, *, at: datetime) -> None:
        self.made_due = True
        anew = {"state": DueState.WAITING, "due_at": at, "ready_at": at, "attempts": 0, "reason": "", **_FREE}
        named = {"of_kind": kind, "of_subject": subject}
        if self._run(_RESTART, **named, rank=self._rank(), **anew).rowcount == 0:
            raise NotFound("parked or postponed work", f"{kind} {subject}")

    def waiting(self) -> list[Due]:
        return [due_of(row) for row in self._rows(_IN_ORDER)]

    def every(self) -> list[Due]:
        return [due_of(row) for row in self._rows(_EVERY)]

    def _rank(self) -> int:
        rank: int = self._run(_RANK).scalar_one()
        return rank


def _named(due: Due) -> dict[str, object]:
    return {"of_kind": due.kind, "of_subject": due.subject}


def _held(due: Due) -> dict[str, object]:
    return {**_named(due), "held_fence": due.fence, "held_by": due.holder}


def _values(due: Due) -> dict[str, object]:
    return {
        "kind": due.kind,
        "subject": due.subject,
        "conversation_id": due.conversation_id,
        "due_at": due.due_at,
        "state": DueState.WAITING,
        "ready_at": due.due_at,
        "fence": due.fence,
        "attempts": due.attempts,
        "reason": due.reason,
        "again": False,
    }


def due_of(row: Row[Any]) -> Due:
    state = DueState(row.state)
    return Due(
        owner_id=OwnerId(row.owner_id),
        kind=row.kind,
        subject=row.subject,
        conversation_id=None if row.conversation_id is None else ConversationId(row.conversation_id),
        due_at=row.due_at,
        rank=row.rank,
        state=state,
        lease_until=row.ready_at if state is DueState.LEASED else None,
        fence=row.fence,
        holder=row.worker or "",
        attempts=row.attempts,
        reason=row.reason,
    )
