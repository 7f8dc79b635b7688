"""What becomes of a piece of background work that failed: tried again after a growing pause, or parked (S1)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from souvenance.domain.limits import Limits

SPREAD = 0.25
"""By how much of itself a pause is drawn out at most, so that what failed together does not come back together."""
CAP_SPREAD = timedelta(minutes=1)
"""The same for what waits for the next hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TryAgain:
    """At `at`, not sooner."""

    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Park:
    """Left until a person restarts it, after so many failures."""

    failures: int


AfterFailure: TypeAlias = TryAgain | Park


def after_failure(failed_before: int, *, now: datetime, jitter: float, limits: Limits) -> AfterFailure:
    """What to do once a piece failed that had failed so often before; `jitter` is a random number from 0 to 1.

    With the usual limits it is tried again after 1, 4, 16 and 64 minutes: an hour's outage parks nothing.
    """
    failures = failed_before + 1
    if failures >= limits.work_failures:
        return Park(failures=failures)
    pause = timedelta(seconds=limits.work_pause_seconds * limits.work_pause_growth**failed_before)
    return TryAgain(at=now + pause * (1 + SPREAD * jitter))


def after_cap(until: datetime, *, jitter: float) -> datetime:
    """When to go on once the spend cap of an hour that ends at `until` was reached."""
    return until + CAP_SPREAD * jitter
