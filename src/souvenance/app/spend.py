"""What background work may spend for one account in an hour, and what it has spent (C4)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from souvenance.app.kit import Kit
from souvenance.domain.ids import OwnerId
from souvenance.errors import SpendCapReached
from souvenance.ports.store import Unit

_HOUR = timedelta(hours=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


async def check_spending(kit: Kit, owner_id: OwnerId, *, tokens: int = 0) -> None:
    """Raise SpendCapReached when a call of about so many tokens, in and out, goes past the cap of this hour.

    The first call of an hour may always be made, however long, so that a cap below one call stops nothing for good.
    Steps that run side by side do not see each other's calls before they commit: the cap may be passed by as many
    calls as run at once.
    """
    hour = hour_of(kit.clock.now())
    spent = await kit.store.read(owner_id, lambda unit: unit.spending.in_hour(hour), label="spending.read")
    cap = kit.limits.work_spend_hour
    if spent >= cap or (spent and spent + tokens > cap):
        raise SpendCapReached(spent=spent, limit=cap, until=_EPOCH + (hour + 1) * _HOUR)


def add_spending(unit: Unit, purpose: str, *, at: datetime, calls: int, tokens_in: int, tokens_out: int) -> None:
    """Count what a step spent, in the transaction that keeps its result; `purpose` is a kind of work."""
    unit.spending.add(hour_of(at), purpose, calls=calls, tokens_in=tokens_in, tokens_out=tokens_out)


def hour_of(at: datetime) -> int:
    """Whole hours since 1970."""
    return (at - _EPOCH) // _HOUR
