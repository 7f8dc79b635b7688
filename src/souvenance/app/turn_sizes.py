"""How large the turns are that a window is made of (W1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from souvenance.domain.cost import Calibration
from souvenance.domain.window import TurnSize


class Sized(Protocol):
    """A message, told by its place and size."""

    @property
    def position(self) -> int: ...
    @property
    def tokens(self) -> int: ...


def turn_sizes(messages: Sequence[Sized], calibration: Calibration, *, summarised_to: int = -1) -> list[TurnSize]:
    """The turns of chosen messages, with tokens as the model would count them."""
    corrected = calibration.corrector()
    by_position: dict[int, list[int]] = {}
    for message in messages:
        by_position.setdefault(message.position, []).append(corrected(message.tokens))
    return [
        TurnSize(position=p, messages=len(said), tokens=sum(said), covered=p <= summarised_to)
        for p, said in sorted(by_position.items())
    ]
