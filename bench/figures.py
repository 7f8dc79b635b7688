"""What a bench prints: figures of many samples, and where and when they were taken."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime


def median_ms(seconds: Sequence[float]) -> float:
    """The median, in milliseconds."""
    return round(statistics.median(seconds) * 1_000, 3)


def p95_ms(seconds: Sequence[float]) -> float:
    """The value that 95 in 100 samples do not exceed, in milliseconds."""
    return round(statistics.quantiles(seconds, n=20)[-1] * 1_000, 3)


def beside(ours: Sequence[float], floor: Sequence[float]) -> dict[str, float]:
    """Two series of one run in milliseconds; `ratio` is the quotient of their medians."""
    return {
        "median_ms": median_ms(ours),
        "p95_ms": p95_ms(ours),
        "floor_median_ms": median_ms(floor),
        "floor_p95_ms": p95_ms(floor),
        "ratio": round(statistics.median(ours) / statistics.median(floor), 2),
    }


def print_line(bench: str, figures: Mapping[str, object]) -> None:
    """One JSON line: the bench, its figures, and the date, commit and machine."""
    line = {
        "bench": bench,
        **figures,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _commit(),
        "machine": f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    print(json.dumps(line))


def _commit() -> str:
    """The checkout's commit, marked `+` when files differ from it; empty outside a checkout."""
    try:
        told = subprocess.run(
            ["git", "describe", "--always", "--dirty=+"], capture_output=True, text=True, check=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return told.stdout.strip()
