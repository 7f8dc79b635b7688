"""What gives way when a prompt does not fit the model's context (W7)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from souvenance.domain.sent import LeftOut
from souvenance.errors import PromptTooLarge


class Layer(StrEnum):
    """The parts of a prompt that can give way, in the order in which they do."""

    UNPINNED = "unpinned"
    MERGED = "merged"
    LONG_TERM = "long_term"
    WINDOW = "window"
    RECENT = "recent"
    RULES = "rules"
    PINNED = "pinned"


_ORDER = {layer: place for place, layer in enumerate(Layer)}


class Item(NamedTuple):
    """One whole thing of a prompt: a memory, a node, a turn of the window. The greater its `age`, the sooner it gives
    way within its layer; of two equally old ones the first given goes first.

    A tuple, since a prompt has hundreds: it is made in a third of the time that a frozen dataclass takes.
    """

    layer: Layer
    item: str
    tokens: int
    age: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """`kept` in the order given, `left_out` in the order of giving way; `tokens` is all that is sent, `fixed` too."""

    kept: tuple[Item, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int


def fit(
    items: Sequence[Item], *, fixed: int, room: int, context: int, keep: Collection[str] = (), step: int = 1
) -> Fitted:
    """The items that fit into `room` tokens beside the `fixed` ones: whole items go, oldest first, layer by layer.

    Unpinned memories go by `step` at a time, so that the same ones stay for several turns of a prompt that grows (C6).

    `fixed` counts the system prompt and the newest user message; `room` is `context` less the reply's room. `keep`
    names the window's items that W5 protects, the turn before the newest: it stays if it fits the model at all, else
    it is a turn of the window like any other. PromptTooLarge when `fixed` alone is more than `room`.
    """
    if fixed > room:
        raise PromptTooLarge(needed=fixed, available=room, context=context)
    tokens = fixed + sum(item.tokens for item in items)
    if tokens <= room:
        return Fitted(kept=tuple(items), left_out=(), tokens=tokens)
    kept_tokens = sum(item.tokens for item in items if _is_kept(item, keep))
    protected = keep if fixed + kept_tokens <= room else ()
    gone: list[int] = []
    for index in _giving_way(items, protected):
        if tokens <= room and (items[index].layer is not Layer.UNPINNED or len(gone) % step == 0):
            break
        tokens -= items[index].tokens
        gone.append(index)
    return Fitted(
        kept=tuple(items[index] for index in sorted(set(range(len(items))).difference(gone))),
        left_out=tuple(_left_out(items[index]) for index in gone),
        tokens=tokens,
    )


def _is_kept(item: Item, keep: Collection[str]) -> bool:
    return item.layer is Layer.WINDOW and item.item in keep


def _giving_way(items: Sequence[Item], protected: Collection[str]) -> list[int]:
    """The indexes of what may be left out, first to go first."""
    indexes = (index for index, item in enumerate(items) if not _is_kept(item, protected))
    return sorted(indexes, key=lambda index: (_ORDER[items[index].layer], -items[index].age))


def _left_out(item: Item) -> LeftOut:
    return LeftOut(layer=item.layer, item=item.item, tokens=item.tokens)
