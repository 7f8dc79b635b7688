"""A summary without a model: the sentences of the messages that carry what must not be lost (S11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from souvenance.domain.conversation import Role
from souvenance.domain.phrases import Phrases
from souvenance.domain.summary import Item, Spot


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message as a person saw it. `who` is how its author is named in the summary; `time_zone` an IANA name."""

    spot: Spot
    role: Role
    who: str
    text: str
    at: datetime
    time_zone: str


def extract(
    heard: Sequence[Heard], phrases: Phrases, *, most_tokens: int, count: Callable[[str], int]
) -> tuple[Item, ...]:
    """The items of a `recent` node, within `most_tokens` as it is written; the same input gives the same items."""
    return ()
