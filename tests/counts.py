"""How often a test repeats: a few times in `make test`, in full in `make prove`."""

from __future__ import annotations

import os

PROVING = os.environ.get("SOUVENANCE_PROVE") == "1"


def times(few: int, *, full: int) -> int:
    return full if PROVING else few
