"""Merge, fold and condense summaries without a model, within a bound whatever is thrown at it (S2, S11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from souvenance.domain.choose import Candidate, choose
from souvenance.domain.condense import condense
from souvenance.domain.facts import facts
from souvenance.domain.join_items import joined_items
from souvenance.domain.node_text import text_of
from souvenance.domain.summary import Item, Part

__all__ = ["combine", "condense"]

_WORTH = {Part.PROMISES: 60.0, Part.REFERENCES: 20.0, Part.STATE: 40.0, Part.TIMELINE: 0.5}
"""How much a line of a part matters: far enough apart that length and facts order lines within a part only."""
_KEPT_PROMISE = 0.1
_A_FACT = {Part.PROMISES: 1.0, Part.REFERENCES: 6.0, Part.STATE: 1.0, Part.TIMELINE: 0.5}


def combine(items: Sequence[Item], *, most_tokens: int, count: Callable[[str], int]) -> tuple[Item, ...]:
    """The items of the nodes to merge or fold, oldest first, as those of one node of at most `most_tokens`.

    What says the same is one line; a state is replaced by the later one about the same. Where not all has room,
    promises that were kept go first, then timeline lines, references and state, and open promises last; within a part
    what names least that no other line names.
    """
    joined = joined_items(items)
    if count(text_of(joined)) <= most_tokens:
        return joined
    return choose([_candidate(item) for item in joined], most_tokens=most_tokens, count=count)


def _candidate(item: Item) -> Candidate:
    worth = _KEPT_PROMISE if item.kept else _WORTH[item.part]
    a_fact = 0.0 if item.kept else _A_FACT[item.part]
    return Candidate(item=item, worth=worth, facts=facts(item.text), a_fact=a_fact)
