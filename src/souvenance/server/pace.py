"""How long this room waits, in seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """`purge` and `poll`: between purges of ended offers (M14), and between looks for notifications.

    `patience`: how long a stream's headers wait for the model's first word, so that a refusal keeps its status;
    `quiet`: the silence after which a stream says that it is still there.
    """

    purge: float = 5.0
    poll: float = 5.0
    patience: float = 1.0
    quiet: float = 10.0


USUAL = Pace()
