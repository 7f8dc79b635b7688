"""Lay the items of several nodes together: what says the same becomes one line (S2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from souvenance.domain.summary import Item, Part
from souvenance.domain.text import fold


def joined_items(items: Sequence[Item]) -> tuple[Item, ...]:
    """Each line once, over the range of all that say it, and no state that a later one about the same replaces.

    What happened on two days is two lines.
    """
    found: dict[tuple[Part, str, str], Item] = {}
    for item in items:
        same = (item.part, fold(item.text), item.day if item.part is Part.TIMELINE else "")
        before = found.get(same)
        found[same] = item if before is None else _both(before, item)
    newest = {item.about: item for item in sorted(found.values(), key=lambda one: one.last) if item.about}
    return tuple(item for item in found.values() if not _is_replaced(item, newest))


def _both(one: Item, other: Item) -> Item:
    return replace(
        one,
        first=min(one.first, other.first),
        last=max(one.last, other.last),
        kept=one.kept or other.kept,
        day=one.day or other.day,
        about=one.about or other.about,
    )


def _is_replaced(item: Item, newest: dict[str, Item]) -> bool:
    return item.part is Part.STATE and item.about != "" and newest[item.about] is not item
