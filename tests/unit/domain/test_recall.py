from __future__ import annotations

import math

from souvenance.domain.recall import Posting, Ranked, bm25, rank

TEA, OOLONG = 1, 2


def posting(term: int, item: str, frequency: int = 1, length: int = 10) -> Posting:
    return Posting(term=term, item=item, frequency=frequency, length=length)


def test_a_score_is_what_the_formula_says() -> None:
    [(item, score)] = bm25([posting(TEA, "a", frequency=2, length=5)], items=10, mean_length=10.0)
    rarity = math.log(1 + (10 - 1 + 0.5) / (1 + 0.5))
    assert item == "a"
    assert score == round(rarity * 2 * 1.6 / (2 + 0.6 * (0.8 + 0.2 * 5 / 10)), 6)


def test_the_rarer_term_weighs_more() -> None:
    found = bm25([posting(TEA, "a"), posting(TEA, "b"), posting(OOLONG, "c")], items=10, mean_length=10.0)
    assert [item for item, _ in found] == ["c", "a", "b"]


def test_more_terms_more_often_in_less_text_come_first() -> None:
    both = [posting(TEA, "both"), posting(OOLONG, "both")]
    often = [posting(TEA, "often", frequency=3), posting(TEA, "short", length=5), posting(TEA, "long", length=50)]
    found = bm25([*often, *both], items=100, mean_length=10.0)
    assert [item for item, _ in found] == ["both", "often", "short", "long"]


def test_equal_scores_are_ordered_by_id_also_where_the_limit_cuts() -> None:
    postings = [posting(TEA, item) for item in "dbace"]
    assert [item for item, _ in bm25(postings, items=9, mean_length=10.0)] == list("abcde")
    assert [item for item, _ in bm25(postings, items=9, mean_length=10.0, limit=2)] == ["a", "b"]


def test_nothing_found_is_an_empty_list() -> None:
    assert bm25([], items=0, mean_length=0.0) == []
    assert rank([], terms=(), frequencies=(), items=0, mean_length=0.0) == []


def test_a_term_that_every_item_has_still_counts_a_little() -> None:
    [(_, score)] = bm25([posting(TEA, "a")], items=1, mean_length=10.0)
    assert score > 0


def test_document_frequencies_come_from_all_that_was_searched() -> None:
    postings = [posting(TEA, "a"), posting(OOLONG, "b")]
    found = rank(postings, terms=(TEA, OOLONG, 3), frequencies=(50, 2, 0), items=100, mean_length=10.0)
    assert [(hit.item, hit.matched, hit.asked) for hit in found] == [("b", 1, 3), ("a", 1, 3)]


def test_a_ranked_item_says_how_many_terms_it_has() -> None:
    postings = [posting(TEA, "a"), posting(OOLONG, "a")]
    [hit] = rank(postings, terms=(TEA, OOLONG), frequencies=(1, 1), items=10, mean_length=10.0)
    assert hit == Ranked(item="a", score=hit.score, matched=2, asked=2)
