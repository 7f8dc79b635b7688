"""Time and identity come from outside, so that everything inside can be repeated exactly."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        ...


class Ids(Protocol):
    def new(self, prefix: str) -> str:
        """A new id `<prefix>_<32 hex digits>`; later ids sort after earlier ones of the same process."""
        ...
