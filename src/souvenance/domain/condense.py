"""Condense a long-term node without a model: its oldest timeline lines become one short line a period (S5).

What gives way, and only as far as the bound asks for it, in this order: timeline lines, the oldest first, become one a
week, then one a month, then one a year; promises that were kept; references that no line of another part names, oldest
first; the lines of periods, oldest first; then, when even what is protected is too much, references, state and open
promises, oldest first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import groupby

from souvenance.domain.facts import exact_in, facts
from souvenance.domain.join_items import joined_items
from souvenance.domain.node_text import text_of
from souvenance.domain.summary import Item, Part

_DAY = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?")
_SHORT = 160
"""Characters of the line of a period, before what its other lines name."""
_NAMED = 80
"""Characters of what the other lines of a period name."""
_UNDATED = 8
"""Lines without a date that stand for a period."""

Period = tuple[str, str]
"""What lines of the same period share, and how the period is shown."""


def condense(items: Sequence[Item], *, most_tokens: int, count: Callable[[str], int]) -> tuple[Item, ...]:
    """The items of a long-term node, oldest first, within `most_tokens` as it is written."""
    kept = joined_items(items)
    for grain in (_week, _month, _year):
        if count(text_of(kept)) <= most_tokens:
            return kept
        kept = _with_periods(kept, grain, most_tokens=most_tokens, count=count)
    for leaves in _giving_way(kept):
        if count(text_of(kept)) <= most_tokens:
            return kept
        kept = _without_oldest(kept, leaves, most_tokens=most_tokens, count=count)
    return kept


def _with_periods(
    items: tuple[Item, ...], grain: Callable[[Item], Period | None], *, most_tokens: int, count: Callable[[str], int]
) -> tuple[Item, ...]:
    """With as few of the oldest timeline lines in periods as it takes, or all of them."""
    timeline = [item for item in items if item.part is Part.TIMELINE]
    others = tuple(item for item in items if item.part is not Part.TIMELINE)

    def folded(oldest: int) -> tuple[Item, ...]:
        return (*others, *_periods(timeline[:oldest], grain), *timeline[oldest:])

    fewest = _fewest(len(timeline), lambda oldest: count(text_of(folded(oldest))) <= most_tokens)
    return folded(fewest)


def _without_oldest(
    items: tuple[Item, ...], leaves: frozenset[Item], *, most_tokens: int, count: Callable[[str], int]
) -> tuple[Item, ...]:
    """Without as few of these items, the oldest ones, as it takes, or without any."""
    going = [item for item in items if item in leaves]

    def left(oldest: int) -> tuple[Item, ...]:
        gone = frozenset(going[:oldest])
        return tuple(item for item in items if item not in gone)

    return left(_fewest(len(going), lambda oldest: count(text_of(left(oldest))) <= most_tokens))


def _giving_way(items: tuple[Item, ...]) -> Iterator[frozenset[Item]]:
    """What goes when periods do not suffice, one kind after the other."""
    lines = [item for item in items if item.part is not Part.REFERENCES and not item.kept]
    named = frozenset[str]().union(*(facts(item.text) for item in lines))
    yield frozenset(item for item in items if item.kept)
    yield frozenset(item for item in items if item.part is Part.REFERENCES and named.isdisjoint(facts(item.text)))
    for part in (Part.TIMELINE, Part.REFERENCES, Part.STATE, Part.PROMISES):
        yield frozenset(item for item in items if item.part is part)


def _fewest(most: int, suffices: Callable[[int], bool]) -> int:
    """The smallest number that suffices, where more never does worse; `most` when none does."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if suffices(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _periods(lines: Sequence[Item], grain: Callable[[Item], Period | None]) -> Iterator[Item]:
    shown: Period = ("", "")
    undated = 0
    periods: list[tuple[Period, Item]] = []
    for line in lines:
        period = grain(line)
        if period is None:
            period = shown if shown[0] and undated % _UNDATED else (f"undated {undated // _UNDATED}", "")
            undated += 1
        periods.append((period, line))
        shown = period
    for period, group in groupby(periods, key=lambda pair: pair[0]):
        yield _one_line([line for _, line in group], period[1])


def _one_line(lines: Sequence[Item], shown: str) -> Item:
    """The line that names most, cut short, and what the others name; a single short line stays as it is."""
    if len(lines) == 1 and len(lines[0].text) <= _SHORT:
        return lines[0]
    best = max(lines, key=lambda line: (len(facts(line.text)), -len(line.text)))
    text = _cut(best.text)
    others = dict.fromkeys(name for line in lines for name in exact_in(line.text) if name not in text)
    named = ""
    for name in others:
        if len(named) + len(name) + 2 <= _NAMED:
            named += f"; {name}"
    return replace(
        best,
        text=text + named,
        day=shown or best.day,
        first=min(line.first for line in lines),
        last=max(line.last for line in lines),
    )


def _cut(text: str) -> str:
    if len(text) <= _SHORT:
        return text
    return text[: text.rfind(" ", _SHORT // 2, _SHORT)] if " " in text[_SHORT // 2 : _SHORT] else text[:_SHORT]


def _week(item: Item) -> Period | None:
    day = _date(item)
    if day is None:
        return _month(item)
    year, week, _ = day.isocalendar()
    first, last = date.fromisocalendar(year, week, 1), date.fromisocalendar(year, week, 7)
    return f"{year}-{week}", f"{first.isoformat()} – {last.isoformat()}"


def _month(item: Item) -> Period | None:
    found = _DAY.match(item.day)
    return (f"{found[1]}-{found[2]}", f"{found[1]}-{found[2]}") if found else None


def _year(item: Item) -> Period | None:
    found = _DAY.match(item.day)
    return (found[1], found[1]) if found else None


def _date(item: Item) -> date | None:
    found = _DAY.match(item.day)
    try:
        return date(int(found[1]), int(found[2]), int(found[3])) if found and found[3] else None
    except ValueError:
        return None
