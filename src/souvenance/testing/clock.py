"""A clock that stands still and ids that count, so that a run can be repeated exactly."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class FrozenClock:
    """A `Clock` that moves only when it is told to; it starts at a Monday, 09:00 UTC."""

    def __init__(self, start: datetime = START) -> None:
        if start.tzinfo is None:
            raise ValueError("a clock's moments are aware: give `start` a time zone")
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        return self._now

    def advance(self, step: timedelta | None = None, *, seconds: float = 0.0) -> datetime:
        """Move forward by `step` and `seconds`; the new moment."""
        self._now += (step or timedelta()) + timedelta(seconds=seconds)
        return self._now

    def set(self, moment: datetime) -> None:
        """Jump to an aware moment, backwards too: clocks of real machines do."""
        if moment.tzinfo is None:
            raise ValueError("a clock's moments are aware: give `moment` a time zone")
        self._now = moment.astimezone(UTC)


class CountedIds:
    """`Ids` that count up from one, whatever the prefix: `mem_00000000000000000000000000000001`, …"""

    def __init__(self, start: int = 1) -> None:
        self._numbers = itertools.count(start)

    def new(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers):032x}"
