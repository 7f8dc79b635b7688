"""Merge, fold and condense summaries without a model, within a bound whatever is thrown at it (S2, S5, S11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from souvenance.domain.summary import Item


def combine(items: Sequence[Item], *, most_tokens: int, count: Callable[[str], int]) -> tuple[Item, ...]:
    """The items of the nodes to merge or fold, oldest first, as those of one node of at most `most_tokens`."""
    return tuple(items)


def condense(items: Sequence[Item], *, most_tokens: int, count: Callable[[str], int]) -> tuple[Item, ...]:
    """The items of a long-term node within `most_tokens`: its oldest timeline lines become one a period (S5)."""
    return tuple(items)
