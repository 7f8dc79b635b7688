"""Rank what the text index found, from the rows of one owner's query alone, so that both databases rank alike (Q1).

In plain Python: a query has a thousand candidates at most, on which numpy saves a millisecond or two, and its import
takes a tenth of a second of the first answer.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import NamedTuple

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
    among = frequencies or Counter(posting.term for posting in postings)
    weight = {term: _rarity(items, count) * (k1 + 1) / _GRAIN for term, count in among.items()}
    damping, slope = k1 * (1 - b), k1 * b / max(mean_length, 1.0)
    grains: defaultdict[str, int] = defaultdict(int)
    for term, item, frequency, length in postings:
        grains[item] += round(weight[term] * frequency / (frequency + damping + slope * length))
    scores = [(-round(grain * _GRAIN, 6), item) for item, grain in grains.items()]
    ranked = sorted(scores) if limit is None else nsmallest(limit, scores)
    return [(item, -score) for score, item in ranked]


def _rarity(items: int, among: int) -> float:
    return math.log1p((max(items - among, 0) + 0.5) / (among + 0.5))
