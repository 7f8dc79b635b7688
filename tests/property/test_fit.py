"""Fitting any prompt into any context (W7)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.fit import Fitted, Item, Layer, fit
from souvenance.errors import PromptTooLarge

ORDER = list(Layer)

drawn = st.tuples(st.sampled_from(Layer), st.integers(0, 300), st.integers(0, 5))
items = st.lists(drawn, max_size=30).map(
    lambda rows: [
        Item(layer=layer, item=f"item {index}", tokens=tokens, age=age)
        for index, (layer, tokens, age) in enumerate(rows)
    ]
)
rooms = st.integers(0, 4_000)


def fitted_or_refused(given_items: list[Item], fixed: int, room: int, keep: frozenset[str]) -> Fitted | None:
    try:
        return fit(given_items, fixed=fixed, room=room, context=room, keep=keep)
    except PromptTooLarge:
        return None


@given(items=items, fixed=rooms, room=rooms)
def test_the_result_fits_and_only_fixed_parts_too_large_are_refused(items: list[Item], fixed: int, room: int) -> None:
    fitted = fitted_or_refused(items, fixed, room, frozenset())
    assert (fitted is None) == (fixed > room)
    if fitted is not None:
        assert fitted.tokens == fixed + sum(item.tokens for item in fitted.kept) <= room


@given(items=items, fixed=st.integers(0, 500), spare=rooms)
def test_every_item_is_kept_or_left_out_and_stays_in_its_order(items: list[Item], fixed: int, spare: int) -> None:
    fitted = fit(items, fixed=fixed, room=fixed + spare, context=fixed + spare)
    names = {out.item for out in fitted.left_out}
    assert fitted.kept == tuple(item for item in items if item.item not in names)
    assert len(fitted.kept) + len(fitted.left_out) == len(items)


@given(items=items, fixed=st.integers(0, 500), spare=rooms)
def test_the_last_item_to_give_way_would_not_have_fitted(items: list[Item], fixed: int, spare: int) -> None:
    fitted = fit(items, fixed=fixed, room=fixed + spare, context=fixed + spare)
    if fitted.left_out:
        assert fitted.tokens + fitted.left_out[-1].tokens > fixed + spare


@given(items=items, spare=rooms, step=st.integers(1, 12))
def test_c6_unpinned_memories_give_way_by_steps_and_nothing_else_for_them(
    items: list[Item], spare: int, step: int
) -> None:
    exact, stepped = (fit(items, fixed=0, room=spare, context=spare, step=by) for by in (1, step))
    needed = len(exact.left_out)
    more = stepped.left_out[needed:]
    assert stepped.left_out[:needed] == exact.left_out
    assert {out.layer for out in more} <= {"unpinned"}
    assert len(more) < step
    if any(item.layer is Layer.UNPINNED for item in stepped.kept):
        assert len(stepped.left_out) % step == 0


@given(items=items, fixed=st.integers(0, 500), spare=rooms)
def test_what_gave_way_stands_before_all_that_was_kept(items: list[Item], fixed: int, spare: int) -> None:
    fitted = fit(items, fixed=fixed, room=fixed + spare, context=fixed + spare)
    by_name = {item.item: item for item in items}
    gone = [(ORDER.index(by_name[out.item].layer), -by_name[out.item].age) for out in fitted.left_out]
    kept = [(ORDER.index(item.layer), -item.age) for item in fitted.kept]
    assert gone == sorted(gone)
    assert not gone or not kept or gone[-1] <= min(kept)


@given(items=items, fixed=st.integers(0, 500), spare=rooms, data=st.data())
def test_the_turn_before_the_newest_stays_exactly_when_it_fits_the_model(
    items: list[Item], fixed: int, spare: int, data: st.DataObject
) -> None:
    window = sorted((item for item in items if item.layer is Layer.WINDOW), key=lambda item: item.age)
    before = window[: data.draw(st.integers(0, len(window)))]
    keep = frozenset(item.item for item in before)
    fitted = fit(items, fixed=fixed, room=fixed + spare, context=fixed + spare, keep=keep)
    if sum(item.tokens for item in before) <= spare:
        assert keep <= {item.item for item in fitted.kept}
    else:
        assert fitted == fit(items, fixed=fixed, room=fixed + spare, context=fixed + spare)
        assert not keep <= {item.item for item in fitted.kept}
