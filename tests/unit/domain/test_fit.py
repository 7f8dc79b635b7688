"""What gives way, case by case (W5, W7)."""

from __future__ import annotations

import pytest

from souvenance.domain.fit import Item, Layer, fit
from souvenance.domain.sent import LeftOut
from souvenance.errors import PromptTooLarge


def item(layer: Layer, name: str, tokens: int = 100, age: int = 0) -> Item:
    return Item(layer=layer, item=name, tokens=tokens, age=age)


ONE_OF_EACH = [item(layer, layer.value) for layer in reversed(Layer)]


def test_layers_give_way_in_the_order_of_the_rule() -> None:
    fitted = fit(ONE_OF_EACH, fixed=50, room=50, context=80)
    assert [out.layer for out in fitted.left_out] == [
        "unpinned",
        "merged",
        "long_term",
        "window",
        "recent",
        "rules",
        "pinned",
    ]
    assert (fitted.kept, fitted.tokens) == ((), 50)


def test_nothing_gives_way_while_all_fits_exactly() -> None:
    fitted = fit(ONE_OF_EACH, fixed=50, room=750, context=1_000)
    assert (fitted.kept, fitted.left_out, fitted.tokens) == (tuple(ONE_OF_EACH), (), 750)


def test_one_token_too_many_costs_the_oldest_unpinned_memory_whole() -> None:
    memories = [
        item(Layer.UNPINNED, "new", age=1),
        item(Layer.UNPINNED, "old", age=2),
        item(Layer.PINNED, "pin", age=9),
    ]
    fitted = fit(memories, fixed=0, room=299, context=400)
    assert fitted.left_out == (LeftOut(layer="unpinned", item="old", tokens=100),)
    assert [kept.item for kept in fitted.kept] == ["new", "pin"]


def test_of_equally_old_items_the_first_given_goes_first() -> None:
    fitted = fit([item(Layer.RECENT, "b"), item(Layer.RECENT, "a")], fixed=0, room=100, context=100)
    assert [out.item for out in fitted.left_out] == ["b"]


def test_the_turn_before_the_newest_outlives_even_pinned_memories() -> None:
    items = [item(Layer.WINDOW, "older", age=2), item(Layer.WINDOW, "before", age=1), item(Layer.PINNED, "pin")]
    fitted = fit(items, fixed=10, room=110, context=200, keep={"before"})
    assert [kept.item for kept in fitted.kept] == ["before"]
    assert [out.item for out in fitted.left_out] == ["older", "pin"]


def test_a_turn_before_the_newest_that_cannot_fit_gives_way_with_the_window() -> None:
    items = [item(Layer.WINDOW, "before", tokens=500), item(Layer.PINNED, "pin"), item(Layer.UNPINNED, "memory")]
    fitted = fit(items, fixed=10, room=400, context=500, keep={"before"})
    assert [kept.item for kept in fitted.kept] == ["pin"]


def test_keep_protects_items_of_the_window_only() -> None:
    fitted = fit([item(Layer.UNPINNED, "before")], fixed=0, room=99, context=100, keep={"before"})
    assert fitted.kept == ()


def test_a_message_that_cannot_fit_is_refused_with_both_sizes() -> None:
    with pytest.raises(PromptTooLarge) as refused:
        fit(ONE_OF_EACH, fixed=7_169, room=7_168, context=8_192)
    assert refused.value.details == {"needed": 7_169, "available": 7_168, "context": 8_192}
