"""Rank what the text index found, from the rows of one owner's query alone, so that both databases rank alike (Q1).

numpy is imported at the first ranking: it would take a third of the time in which a process starts.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Scores are summed as whole numbers of this size: sums of floats depend on their order, these do not.
_GRAIN = 1e-9


class Posting(NamedTuple):
    """A term of the query in an item: `frequency` times, in an item of `length` terms. Once per term and item.

    A tuple, because thousands come straight from a row of a query each.
    """

    term: int
    item: str
    frequency: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """An item found, with its score and how many of the `asked` terms it has."""

    item: str
    score: float
    matched: int
    asked: int


def rank(
    postings: Sequence[Posting],
    *,
    terms: Sequence[int],
    frequencies: Sequence[int],
    items: int,
    mean_length: float,
    limit: int | None = None,
) -> list[Ranked]:
    """Return the items found, best first, equal ones by item id; `frequencies` are the document frequencies of `terms`.

    They are those of all that was searched, which the postings, being candidates only, need not show.
    """
    scored = bm25(
        postings,
        items=items,
        mean_length=mean_length,
        frequencies=dict(zip(terms, frequencies, strict=True)),
        limit=limit,
    )
    matched = Counter(posting.item for posting in postings)
    return [Ranked(item=item, score=score, matched=matched[item], asked=len(terms)) for item, score in scored]


def bm25(
    postings: Sequence[Posting],
    *,
    items: int,
    mean_length: float,
    k1: float = 0.6,
    b: float = 0.2,
    frequencies: Mapping[int, int] | None = None,
    limit: int | None = None,
) -> list[tuple[str, float]]:
    """Return the items found with their BM25 scores, best first, equal ones by item id; the best `limit` if given.

    `items` counts all that was searched, `mean_length` is their mean length in terms. A term's document frequency is
    the number of its postings unless `frequencies` says otherwise. Scores are rounded to 6 digits; the order of
    `postings` does not matter.
    """
    if not postings:
        return []
    import numpy as np

    terms, found, times, sizes = zip(*postings, strict=True)
    rarity = {term: _rarity(items, among) for term, among in (frequencies or Counter(terms)).items()}
    # Numbers each item as it is first seen; a loop in Python would cost more than all the arithmetic.
    places: defaultdict[str, int] = defaultdict(count().__next__)
    place_of = np.fromiter(map(places.__getitem__, found), dtype=np.intp, count=len(postings))
    frequency = _column(times)
    parts = _column(map(rarity.__getitem__, terms)) * frequency * (k1 + 1)
    parts /= frequency + k1 * (1 - b + b * _column(sizes) / max(mean_length, 1.0))
    scores = np.round(np.bincount(place_of, weights=np.rint(parts / _GRAIN)) * _GRAIN, 6)
    return _best(list(places), scores, len(places) if limit is None else limit)


def _rarity(items: int, among: int) -> float:
    return math.log1p((max(items - among, 0) + 0.5) / (among + 0.5))


def _column(values: Iterable[float]) -> NDArray[np.float64]:
    import numpy as np

    return np.fromiter(values, dtype=np.float64)


def _best(names: list[str], scores: NDArray[np.float64], limit: int) -> list[tuple[str, float]]:
    import numpy as np

    kept: Sequence[int] = range(len(names))
    if 0 < limit < len(names):
        # Every item that ties with the last one stays in until ids have decided.
        last = np.partition(scores, -limit)[-limit]
        kept = np.flatnonzero(scores >= last).tolist()
    ranked = sorted(zip((-scores[kept]).tolist(), map(names.__getitem__, kept), strict=True))
    return [(name, -score) for score, name in ranked[:limit]]
