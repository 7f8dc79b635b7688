"""How long this room waits, and how much it does at once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

Rest: TypeAlias = Callable[[float], Awaitable[object]]
"""Waits so many seconds of real time, whatever the clock on the wall does meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """`idle`: seconds between looks for work when nobody calls; `at_once`: steps side by side, each of a conversation
    of its own.

    `lease` is how long a piece stays with a worker that is gone; it is extended three times in that time while a step
    runs. `grace`: seconds that running steps are given to end once the worker is to stop. `jitter` gives numbers from 0
    to 1 that draw pauses apart.
    """

    idle: float = 5.0
    at_once: int = 2
    lease: timedelta = timedelta(seconds=60)
    grace: float = 5.0
    rest: Rest = asyncio.sleep
    jitter: Callable[[], float] = random.SystemRandom().random

    @property
    def renewal(self) -> float:
        return self.lease.total_seconds() / 3


USUAL = Pace()
