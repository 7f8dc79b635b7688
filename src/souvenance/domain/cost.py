"""Token counts before a model reports them, and what its reports teach (C5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

RESERVE = 0.15
LEARNT_AFTER = 5
_MEMORY = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What one model's reports have shown: sums over the last replies of what was estimated and what it counted."""

    replies: int = 0
    estimated: float = 0.0
    reported: float = 0.0

    @property
    def learnt(self) -> bool:
        """Whether the estimate can be trusted without the reserve; until then a count is called "estimated"."""
        return self.replies >= LEARNT_AFTER

    @property
    def factor(self) -> float:
        """What to multiply an estimate by; on the safe side until enough has been reported."""
        ratio = self.reported / self.estimated if self.estimated else 1.0
        return ratio if self.learnt else max(ratio, 1.0) * (1.0 + RESERVE)

    def corrected(self, estimate: int) -> int:
        """The tokens to reckon with for an estimate."""
        return ceil(estimate * self.factor)

    def corrector(self) -> Callable[[int], int]:
        """`corrected` for hundreds of estimates."""
        factor = self.factor
        return lambda estimate: ceil(estimate * factor)


def learn(before: Calibration, *, estimated: int, reported: int) -> Calibration:
    """The calibration after one more report; a report of nothing teaches nothing. Old replies fade."""
    if estimated <= 0 or reported <= 0:
        return before
    keep = 1.0 if before.replies < _MEMORY else 1.0 - 1.0 / _MEMORY
    return Calibration(
        replies=before.replies + 1,
        estimated=before.estimated * keep + estimated,
        reported=before.reported * keep + reported,
    )
