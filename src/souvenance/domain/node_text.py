"""A node as text: how it is counted, shown, edited and sent, one line for each item (S4, S6)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from souvenance.domain.block import escape
from souvenance.domain.summary import Item, Part, Spot
from souvenance.errors import BadValue

_HEADINGS = {part: f"## {part.capitalize()}" for part in Part}
_HEADING = re.compile(r"#{1,6}\s*(\w+)\s*:?")
_LIKE_A_HEADING = re.compile(r"#{1,6}(?:\s.*)?|#{2,6}[^#\s].*")
"""Not `#1` or `#tag`: those begin a sentence."""
_LINE = re.compile(r"(?:[-*•]\s+)?(?:\[(?P<day>[^\[\]\n]{1,40})\]\s+)?(?P<kept>\(kept\)\s+)?(?P<text>.+)")


def text_of(items: Sequence[Item]) -> str:
    """The parts in their order, each under its heading, each item a line; empty for no items."""
    return "\n".join(_lines(items))


def prompt_text(items: Sequence[Item]) -> str:
    """As `text_of`, so that no line opens or closes anything in a prompt (M12)."""
    return "\n".join(map(escape, _lines(items)))


def one_line(text: str) -> str:
    """`text` with every run of white space as one space: what an item may be."""
    return " ".join(text.split())


def items_of(text: str, before: Sequence[Item], whole: tuple[Spot, Spot]) -> tuple[Item, ...]:
    """The items of a text that a person edited: a line that was there keeps what it was drawn from, any other is drawn
    from the `whole` of the node. Lines before the first heading are state. BadValue for a heading of no part.
    """
    known = {(item.part, _line(item)): item for item in before}
    part, found = Part.STATE, []
    for line in filter(None, map(str.strip, text.splitlines())):
        heading = _HEADING.fullmatch(line)
        if heading is not None and heading[1].lower() in set(Part):
            part = Part(heading[1].lower())
            continue
        there = known.get((part, line)) or known.get((part, f"- {line}"))
        if there is None and _LIKE_A_HEADING.fullmatch(line):
            raise BadValue("text", value=line, expected=f"one of the headings {', '.join(_HEADINGS.values())}")
        found.append(there or _read(line, part, whole))
    return tuple(found)


def without(items: Sequence[Item], spots: frozenset[Spot]) -> tuple[Item, ...]:
    """Those that were drawn from none of these messages (S9)."""
    return tuple(item for item in items if not holds_any(item, spots))


def holds_any(item: Item, spots: frozenset[Spot]) -> bool:
    """Whether the item's range holds one of these."""
    return any(item.first <= spot <= item.last for spot in spots)


def _lines(items: Sequence[Item]) -> Iterator[str]:
    for part in Part:
        of_part = [item for item in items if item.part is part]
        if of_part:
            yield _HEADINGS[part]
            yield from map(_line, of_part)


def _line(item: Item) -> str:
    day = f"[{item.day}] " if item.day else ""
    kept = "(kept) " if item.kept else ""
    return f"- {day}{kept}{item.text}"


def _read(line: str, part: Part, whole: tuple[Spot, Spot]) -> Item:
    first, last = whole
    item = Item(part=part, text=one_line(line), first=first, last=last)
    found = _LINE.fullmatch(line)
    if found is None:
        return item
    day = found["day"] or "" if part is Part.TIMELINE else ""
    shown = found["text"] if day or not found["day"] else f"[{found['day']}] {found['text']}"
    return replace(item, text=one_line(shown), day=day, kept=bool(found["kept"]) and part is Part.PROMISES)
