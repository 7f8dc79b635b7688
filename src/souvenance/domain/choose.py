"""Choose what of many items is written within a bound: best first, by worth and by what nobody else says."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from souvenance.domain.node_text import text_of
from souvenance.domain.summary import Item

_REPEATED = 0.15
"""What a fact is worth that a chosen item has already."""
_LENGTH = 30
"""Tokens that make an item half as worthy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An item, what it is worth by itself, and the facts that it would keep, each worth `a_fact` when it is new."""

    item: Item
    worth: float
    facts: frozenset[str] = frozenset()
    a_fact: float = 1.0


def choose(candidates: Sequence[Candidate], *, most_tokens: int, count: Callable[[str], int]) -> tuple[Item, ...]:
    """The chosen items in the order in which they came; their `text_of` takes at most `most_tokens`.

    A tie goes to the earlier one, so that the same candidates always give the same choice.
    """
    costs = [count(text_of([candidate.item])) for candidate in candidates]
    heading = _smallest_heading(candidates, costs, count)
    known: set[str] = set()
    waiting = [(-_value(one, known, costs[at]), at) for at, one in enumerate(candidates)]
    heapq.heapify(waiting)
    chosen: list[int] = []
    spent = 0
    while waiting:
        worth, at = heapq.heappop(waiting)
        now = -_value(candidates[at], known, costs[at])
        if now > worth and waiting and now > waiting[0][0]:
            heapq.heappush(waiting, (now, at))
        elif spent + costs[at] - heading <= most_tokens:
            chosen.append(at)
            known |= candidates[at].facts
            spent += costs[at] - heading
    return _within(candidates, chosen, most_tokens=most_tokens, count=count)


def _value(candidate: Candidate, known: set[str], cost: int) -> float:
    new = len(candidate.facts - known)
    old = len(candidate.facts) - new
    worth = candidate.worth + candidate.a_fact * (min(new, 4) + _REPEATED * min(old, 4))
    return worth / (1 + cost / _LENGTH)


def _smallest_heading(candidates: Sequence[Candidate], costs: Sequence[int], count: Callable[[str], int]) -> int:
    """What every cost has too much: the heading above a single item."""
    headings = (
        count(text_of([one.item]).split("\n", 1)[0]) for one in {one.item.part: one for one in candidates}.values()
    )
    return min(min(headings, default=0), min(costs, default=0))


def _within(
    candidates: Sequence[Candidate], chosen: list[int], *, most_tokens: int, count: Callable[[str], int]
) -> tuple[Item, ...]:
    """Let go of what was chosen last until the whole is within the bound, headings included."""
    while chosen:
        items = tuple(candidates[at].item for at in sorted(chosen))
        over = count(text_of(items)) - most_tokens
        if over <= 0:
            return items
        del chosen[-max(1, min(len(chosen), over // 64)) :]
    return ()
