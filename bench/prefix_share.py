"""How much of a request a prefix cache saves: its bytes that begin the next one (C6)."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Sent:
    """A chat request as the upstream received it, the turn it belongs to, and its epoch of the memory block."""

    turn: int
    epoch: int
    body: bytes


def shared(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def shares(sent: Sequence[Sent], *, first_turn: int) -> dict[str, object]:
    """The share of each request that begins the next one, from this turn on: means over all, over those whose next is
    of the same epoch, and over those whose next begins one; `by_bytes` weighs all by their size.
    """
    pairs = [pair for pair in pairwise(sent) if pair[0].turn >= first_turn]
    within = [pair for pair in pairs if pair[0].epoch == pair[1].epoch]
    across = [pair for pair in pairs if pair[0].epoch != pair[1].epoch]
    saved, whole = sum(shared(one.body, other.body) for one, other in pairs), sum(len(one.body) for one, _ in pairs)
    return {
        "between_epochs": _mean(within),
        "between_epochs_least": round(min((_share(pair) for pair in within), default=0.0), 4),
        "at_a_new_epoch": _mean(across),
        "overall": _mean(pairs),
        "by_bytes": round(saved / whole, 4),
        "requests": len(pairs),
        "epochs": len(across),
        "bytes": round(whole / len(pairs)),
    }


def _mean(pairs: Sequence[tuple[Sent, Sent]]) -> float | None:
    return round(statistics.fmean(map(_share, pairs)), 4) if pairs else None


def _share(pair: tuple[Sent, Sent]) -> float:
    return shared(pair[0].body, pair[1].body) / len(pair[0].body)
