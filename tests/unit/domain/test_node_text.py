"""What a person's text of a node is read as (S6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from souvenance.domain.node_text import items_of, text_of
from souvenance.domain.summary import Item, Part, Spot
from souvenance.errors import BadValue

WHOLE = (Spot(0, 0), Spot(9, 0))
TEA = Item(part=Part.STATE, text="# 1 of all is tea", first=Spot(3, 0), last=Spot(3, 0))


@pytest.mark.parametrize("heading", ["## Notes", "##Notes:", "# Open questions", "## State of things", "##", "#"])
def test_s6_a_heading_of_no_part_is_refused_and_the_four_are_named(heading: str) -> None:
    with pytest.raises(BadValue) as refused:
        items_of(f"## State\n- Anna lives in Nice.\n{heading}\n- She has a cat.", (), WHOLE)
    assert refused.value.message == (
        f"text is {heading!r}; expected one of the headings ## Promises, ## References, ## State, ## Timeline."
    )


@pytest.mark.parametrize("line", ["#1 of all is tea", "- ## Notes", "#tea and #cake", "She wrote ## Notes"])
def test_s6_a_line_that_only_holds_such_marks_is_an_item(line: str) -> None:
    (read,) = items_of(f"##State:\n{line}", (), WHOLE)
    assert (read.part, read.text) == (Part.STATE, line.removeprefix("- "))


def test_s6_a_line_that_was_there_stays_even_without_its_dash() -> None:
    dated = replace(TEA, part=Part.TIMELINE, text="They met.", day="2026-05-02")
    assert items_of(text_of((TEA, dated)).replace("- #", "#"), (TEA, dated), WHOLE) == (TEA, dated)
