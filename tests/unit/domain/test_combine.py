"""Merging, folding and condensing without a model (S2, S5, S11)."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from souvenance.domain.combine import combine, condense
from souvenance.domain.node_text import text_of
from souvenance.domain.summary import Item, Part, Spot


def item(part: Part, text: str, at: int = 0) -> Item:
    return Item(part=part, text=text, first=Spot(at, 0), last=Spot(at, 0))


def state(text: str, about: str, at: int) -> Item:
    return replace(item(Part.STATE, text, at), about=about)


def timeline(days: int) -> list[Item]:
    begun = date(2026, 1, 5)
    return [
        replace(item(Part.TIMELINE, f"They sat by the mill, day {at}.", at), day=(begun + timedelta(at)).isoformat())
        for at in range(days)
    ]


PROMISE = item(Part.PROMISES, "Ada: I promise to write.")
KEPT = replace(item(Part.PROMISES, "Ada: I will bring the cake."), kept=True)
NAMED = item(Part.REFERENCES, "user: the mill belongs to Hannah Olsen.")
UNNAMED = item(Part.REFERENCES, "user: the boat cost 4711 euros.")
HOME = state("user: I live with Hannah in Leeds.", "user: home", 3)
PROTECTED = [PROMISE, NAMED, HOME]


def texts(items: tuple[Item, ...]) -> list[str]:
    return [one.text for one in items]


def test_s2_what_says_the_same_is_one_line_over_the_range_of_both() -> None:
    again = item(Part.REFERENCES, "user: The boat cost 4711 euros", 9)
    (made,) = combine([UNNAMED, again], most_tokens=1_000, count=len)
    assert made == replace(UNNAMED, last=Spot(9, 0))


def test_s2_a_promise_that_was_kept_is_open_no_more() -> None:
    (made,) = combine([replace(KEPT, kept=False), KEPT], most_tokens=1_000, count=len)
    assert made.kept


def test_s2_a_later_state_about_the_same_replaces_the_earlier_one() -> None:
    moved = state("user: I live in York now.", "user: home", 7)
    other = state("Ada: I live in Porto.", "Ada: home", 1)
    vague = [state("user: tired", "", 2), state("user: hungry", "", 4)]
    assert combine([HOME, other, *vague, moved], most_tokens=1_000, count=len) == (other, *vague, moved)


def test_s2_the_same_words_on_two_days_are_two_lines() -> None:
    line = replace(item(Part.TIMELINE, "It rained."), day="2026-03-01")
    assert len(combine([line, replace(line, day="2026-03-02")], most_tokens=1_000, count=len)) == 2


def test_s11_what_has_no_room_goes_in_the_order_that_is_written_down() -> None:
    lines = [*timeline(1), KEPT, UNNAMED, HOME, PROMISE]
    left = [Part.TIMELINE, Part.REFERENCES, Part.STATE, Part.PROMISES]
    most = len(text_of(lines))
    made = combine(lines, most_tokens=most - 1, count=len)
    assert made == (*timeline(1), UNNAMED, HOME, PROMISE)
    for at, gone in enumerate(left[:-1]):
        most = len(text_of(made))
        made = combine(lines, most_tokens=most - 1, count=len)
        assert {one.part for one in made} == set(left[at + 1 :]), gone


def test_s5_within_the_bound_nothing_is_condensed() -> None:
    lines = [*PROTECTED, KEPT, UNNAMED, *timeline(30)]
    assert condense(lines, most_tokens=len(text_of(lines)), count=len) == tuple(lines)


def test_s5_only_the_oldest_lines_become_one_a_week_and_the_rest_stay() -> None:
    lines = [*PROTECTED, KEPT, UNNAMED, *timeline(30)]
    made = condense(lines, most_tokens=len(text_of(lines)) - 100, count=len)
    assert set(lines) - set(timeline(30)) <= set(made)
    assert timeline(30)[7:] == [one for one in made if one in timeline(30)][-23:]
    week = next(one for one in made if one.day == "2026-01-05 – 2026-01-11")
    assert (week.first, week.text.split("; ")[0]) == (Spot(0, 0), "They sat by the mill, day 0.")


def test_s5_a_line_of_a_period_names_what_its_other_lines_name() -> None:
    lines = [
        replace(line, text=f"We met {name} there.") for line, name in zip(timeline(2), ["Ewan", "Sigrid"], strict=True)
    ]
    (made,) = condense(lines, most_tokens=len(text_of(lines)) - 1, count=len)
    assert made.text == "We met Ewan there.; Sigrid"
    assert (made.first, made.last) == (Spot(0, 0), Spot(1, 0))


def test_s5_promises_state_and_references_that_a_line_names_stay_when_all_else_goes() -> None:
    lines = [*PROTECTED, KEPT, UNNAMED, *timeline(400)]
    assert condense(lines, most_tokens=len(text_of(PROTECTED)), count=len) == tuple(PROTECTED)


def test_s5_kept_promises_go_before_references_that_no_line_names() -> None:
    lines = [*PROTECTED, KEPT, UNNAMED]
    assert condense(lines, most_tokens=len(text_of(lines)) - 1, count=len) == (*PROTECTED, UNNAMED)


def test_s5_when_the_protected_are_too_much_the_oldest_go_and_open_promises_last() -> None:
    promises = [replace(PROMISE, text=f"Ada: I promise {at}.", first=Spot(at, 0), last=Spot(at, 0)) for at in range(9)]
    lines = [NAMED, HOME, *promises]
    most = len(text_of(promises[4:]))
    assert condense(lines, most_tokens=most, count=len) == tuple(promises[4:])
    assert condense(lines, most_tokens=0, count=len) == ()


def test_s5_lines_without_a_date_are_condensed_too() -> None:
    lines = [item(Part.TIMELINE, f"Something happened at stage {at}.", at) for at in range(64)]
    made = condense(lines, most_tokens=len(text_of(lines)) // 2, count=len)
    assert 0 < len(made) < 64
    assert texts(made)[-1] == lines[-1].text
