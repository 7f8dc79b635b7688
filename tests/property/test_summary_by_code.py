"""What the summary by code holds for any text and any items: bounds, ranges, nothing invented (S4, S5, S11)."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import FrameType
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from souvenance.domain.combine import combine, condense
from souvenance.domain.conversation import Role
from souvenance.domain.extract import Heard, extract
from souvenance.domain.find_rules import find_rules, occurs
from souvenance.domain.limits import Limits
from souvenance.domain.node_text import one_line, text_of
from souvenance.domain.own_words import own_words
from souvenance.domain.sentences import sentences
from souvenance.domain.summary import Item, Part, Spot
from souvenance.wiring import installed_phrases

if TYPE_CHECKING:
    from _typeshed import TraceFunction

PHRASES = installed_phrases()
FRAGMENTS = [
    *(
        "Never shout.",
        "from now on",
        "ok?",
        "I promise",
        "42",
        "Anna Kern",
        "3. Mai",
        "z. B.",
        "e.g.",
        "https://x.org/a?b=c",
    ),
    *("“", "”", '"', "'", "```", "`", ">", "*", "—", ",", ";", "(", ")", "「", "」", "¿", "¡", "…", "...", "\n", "  "),
    *("以后叫我小雨。", "约定!", "これからは、", "使わないで。", "désormais", "n'utilise pas", "you can swear again"),
    *("forget that rule", "I live in Porto now."),
]
texts = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=40).map(" ".join)
counts: st.SearchStrategy[Callable[[str], int]] = st.sampled_from(
    [len, lambda text: len(text.split()), lambda text: -(-len(text) // 4), lambda text: len(text.encode())]
)
rooms = st.integers(0, 400)

days = st.sampled_from(
    ["", "2026-02-30", "spring", "2026-03", *(f"2026-0{month}-{day}" for month in (3, 4) for day in (11, 12, 29))]
)
lines = st.builds(
    lambda part, text, at, length, kept, day, about: Item(
        part=part,
        text=one_line(text) or "x",
        first=Spot(at, 0),
        last=Spot(at + length, 1),
        kept=kept and part is Part.PROMISES,
        day=day if part is Part.TIMELINE else "",
        about=about if part is Part.STATE else "",
    ),
    st.sampled_from(Part),
    texts,
    st.integers(0, 50),
    st.integers(0, 3),
    st.booleans(),
    days,
    st.sampled_from(["", "user: home", "user: work"]),
)
nodes = st.lists(lines, max_size=25)


def pieces_of(items: list[Item]) -> str:
    return "\n".join(item.text for item in items)


@given(text=texts)
def test_sentences_joined_are_the_text(text: str) -> None:
    assert "".join(sentences(text, PHRASES)) == text
    assert len(own_words(text)) == len(text)


@given(text=texts)
def test_s4_every_rule_found_occurs_and_is_short_enough(text: str) -> None:
    for rule in find_rules(text, PHRASES, Limits()):
        assert rule in text
        assert occurs(rule, text)
        assert rule == rule.strip() != ""
        assert len(rule) <= Limits().rule_characters


@given(said=st.lists(texts, max_size=6), most=rooms, count=counts)
@settings(max_examples=60)
def test_s11_an_extract_is_within_its_budget_and_of_the_words_that_were_said(
    said: list[str], most: int, count: Callable[[str], int]
) -> None:
    heard = [
        Heard(
            spot=Spot(at // 2, at % 2),
            role=Role.USER if at % 2 == 0 else Role.BOT,
            who="user" if at % 2 == 0 else "Ada",
            text=text,
            at=datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=at),
            time_zone="Asia/Tokyo",
        )
        for at, text in enumerate(said)
    ]
    items = extract(heard, PHRASES, most_tokens=most, count=count)
    assert items == () or count(text_of(items)) <= most
    for item in items:
        (source,) = [one for one in heard if one.spot == item.first]
        assert item.first == item.last
        prefix = re.compile(rf"{source.who}(, {source.day})?: ")
        assert prefix.match(item.text)
        assert prefix.sub("", item.text, count=1) in one_line(source.text)
    assert [item.first for item in items] == sorted(item.first for item in items)


@given(items=nodes, most=rooms, count=counts)
def test_s2_what_is_combined_is_within_the_bound_and_each_line_as_it_was(
    items: list[Item], most: int, count: Callable[[str], int]
) -> None:
    made = combine(items, most_tokens=most, count=count)
    assert made == () or count(text_of(made)) <= most
    assert {item.text for item in made} <= {item.text for item in items}
    spots = [spot for item in items for spot in (item.first, item.last)]
    assert all(min(spots) <= item.first <= item.last <= max(spots) for item in made)


@given(items=nodes, most=rooms, count=counts)
def test_s5_what_is_condensed_is_within_the_bound_and_nothing_is_invented(
    items: list[Item], most: int, count: Callable[[str], int]
) -> None:
    made = condense(items, most_tokens=most, count=count)
    assert made == () or count(text_of(made)) <= most
    given_text = pieces_of(items)
    for item in made:
        assert item.text in given_text or all(piece in given_text for piece in item.text.split("; "))


@given(items=nodes, count=counts)
@settings(max_examples=60)
def test_s5_open_promises_and_standing_state_stay_while_they_alone_have_room(
    items: list[Item], count: Callable[[str], int]
) -> None:
    whole = condense(items, most_tokens=1_000_000, count=count)
    protected = [item for item in whole if (item.part is Part.PROMISES and not item.kept) or item.part is Part.STATE]
    most = count(text_of(protected))
    assert set(protected) <= set(condense(items, most_tokens=most, count=count))


LONG = [
    "a",
    "a ",
    "never ",
    "n'",
    '"',
    "“",
    "'",
    "`",
    "*",
    "x.",
    "...",
    "?",
    "> ",
    "```\n",
    "不要",
    "ないで",
    "「",
    "再",
    "@",
    "www.",
    "1.",
    "A b ",
    "you can ",
]


def steps(text: str) -> int:
    """Lines of Python that finding rules and extracting run through: a count of work that no machine's load changes."""
    seen = 0

    def trace(frame: FrameType, event: str, argument: object) -> TraceFunction:
        nonlocal seen
        seen += event == "line"
        return trace

    told = Heard(
        spot=Spot(0, 0), role=Role.USER, who="user", text=text, at=datetime(2026, 3, 1, tzinfo=UTC), time_zone="UTC"
    )
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        extract([told], PHRASES, most_tokens=100, count=len)
    finally:
        sys.settrace(before)
    return seen


@pytest.mark.parametrize("piece", LONG)
def test_work_grows_no_faster_than_the_text(piece: str) -> None:
    steps(piece * 10)
    short, long = steps(piece * 200), steps(piece * 1_600)
    assert long <= 10 * short
