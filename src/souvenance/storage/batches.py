"""Long lists in slices: both databases bound the number of parameters of one statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

BATCH = 500


def batches(items: Sequence[T], size: int = BATCH) -> Iterator[Sequence[T]]:
    """The items in order, at most `size` at a time; nothing for no items."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
