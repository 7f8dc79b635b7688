"""Due background work, as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from souvenance.domain.due import Due, DueState
from souvenance.server.views.view import View


class WorkJson(View):
    """A piece of background work of a conversation. `failures` in a row so far, `reason` is the code of the last one,
    or why it waits (`spend_cap`); `lease_until` only while a worker has it.
    """

    kind: str
    conversation_id: str
    state: DueState
    due_at: datetime
    lease_until: datetime | None
    failures: int
    reason: str

    @classmethod
    def of(cls, due: Due) -> Self:
        return cls(
            kind=due.kind,
            conversation_id=due.subject,
            state=due.state,
            due_at=due.due_at,
            lease_until=due.lease_until,
            failures=due.attempts,
            reason=due.reason,
        )
