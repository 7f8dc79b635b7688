from __future__ import annotations

import math
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.recall import Posting, bm25

keys = st.tuples(st.integers(0, 5), st.sampled_from("abcdefgh"))
counts = st.tuples(st.integers(1, 9), st.integers(1, 90))
postings = st.dictionaries(keys, counts, max_size=40).map(
    lambda rows: [Posting(*key, *numbers) for key, numbers in rows.items()]
)


def plainly(rows: list[Posting], items: int, mean_length: float) -> dict[str, float]:
    among = Counter(row.term for row in rows)
    scores: dict[str, float] = {}
    for row in rows:
        rarity = math.log(1 + (items - among[row.term] + 0.5) / (among[row.term] + 0.5))
        weight = row.frequency * 1.6 / (row.frequency + 0.6 * (0.8 + 0.2 * row.length / mean_length))
        scores[row.item] = scores.get(row.item, 0.0) + rarity * weight
    return scores


@given(postings)
def test_scores_agree_with_a_plain_loop(rows: list[Posting]) -> None:
    found = dict(bm25(rows, items=50, mean_length=20.0))
    expected = plainly(rows, 50, 20.0)
    assert found.keys() == expected.keys()
    assert all(abs(found[item] - expected[item]) < 1e-6 for item in found)


@given(postings.flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows))))
def test_the_order_of_rows_and_the_numbers_of_terms_do_not_matter(orders: tuple[list[Posting], list[Posting]]) -> None:
    rows, shuffled = orders
    renamed = [row._replace(term=2**62 - row.term) for row in shuffled]
    assert bm25(renamed, items=50, mean_length=20.0) == bm25(rows, items=50, mean_length=20.0)


@given(postings, st.integers(1, 10))
def test_a_limit_only_cuts(rows: list[Posting], limit: int) -> None:
    whole = bm25(rows, items=50, mean_length=20.0)
    assert whole == sorted(whole, key=lambda hit: (-hit[1], hit[0]))
    assert bm25(rows, items=50, mean_length=20.0, limit=limit) == whole[:limit]
