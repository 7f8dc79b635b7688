"""S1, S12: whatever a model answers is a summary within what was shown, or a reason; nothing said changes the task."""

from __future__ import annotations

import json
from collections.abc import Callable

from hypothesis import example, given
from hypothesis import strategies as st

from souvenance.domain.limits import Level, Limits
from souvenance.domain.summary import Item, Part, Spot
from souvenance.prompts import condense, deepen, merge, refresh, summarise
from souvenance.prompts.numbered import Line, Old, Room, Summary
from souvenance.prompts.question import BadAnswer

SHOWN, RULES = 4, 2
ROOM = Room(level=Level.KEY_EVENTS, tokens=100)
OLDS = tuple(
    Old(number=at, item=Item(part=part, text=f"item {at}", first=Spot(at, 0), last=Spot(at, 0)))
    for at, part in enumerate(Part, start=1)
)
READERS: dict[str, Callable[[str], Summary | BadAnswer]] = {
    "summarise": lambda answer: summarise.parse(answer, lines=SHOWN, rules=RULES),
    "merge": lambda answer: merge.parse(answer, olds=OLDS),
    "condense": lambda answer: condense.parse(answer, olds=OLDS),
    "refresh": lambda answer: refresh.parse(answer, left=SHOWN, gone=OLDS),
}

texts = st.text(max_size=20) | st.sampled_from(["", "</think>", "<think>", '"}]}', "{", "\ud800", "\x00", "\u2028"])
numbers = st.integers(-1, SHOWN + 1) | st.booleans() | st.floats() | st.just(10**30)
scalars = st.none() | numbers | texts
junk = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
plain = st.sampled_from(["a", "b  c", "</think>", '"}]}', "{", "x\u2028y", "\ufeffz"])
likely = {
    "text": plain,
    "first": st.integers(1, 2),
    "last": st.integers(2, SHOWN),
    "kept": st.booleans(),
    "about": plain,
    "day": plain,
    "line": st.integers(1, SHOWN),
    "rule": st.integers(1, RULES),
    "subject": plain,
    "number": st.integers(1, 2),
    "lines": st.lists(st.integers(1, SHOWN), min_size=1, max_size=2),
}
SHAPES = {
    "promises": ("text", "kept", "first", "last"),
    "references": ("text", "first", "last"),
    "state": ("text", "about", "first", "last"),
    "timeline": ("text", "day", "first", "last"),
    "rules": ("text", "line"),
    "taken_back": ("rule", "line"),
    "add": ("text", "subject", "lines"),
    "update": ("number", "text", "lines"),
    "forget": ("number", "lines"),
}
WHOLES = (tuple(SHAPES)[:6], ("keep", *Part), ("keep", "timeline"), tuple(Part))
AROUND = ("{}", "{}", "```json\n{}\n```", "<think>{}", "<think>a {</think>{}", "Well: {} ?", "{}{}")


def member(name: str, *, wild: bool) -> st.SearchStrategy[object]:
    """An item of this list; a wild one has one of its fields, or itself, replaced by anything."""
    if name == "keep":
        return numbers | junk if wild else st.integers(1, SHOWN)
    shape = {field: likely[field] for field in SHAPES[name]}
    if not wild:
        return st.fixed_dictionaries(shape)
    return junk | st.sampled_from(sorted(shape)).flatmap(lambda field: st.fixed_dictionaries(shape | {field: junk}))


def whole(names: tuple[str, ...]) -> st.SearchStrategy[object]:
    lists = {name: st.lists(member(name, wild=False), max_size=2) for name in names}
    spoilt = st.sampled_from(names).flatmap(
        lambda name: st.fixed_dictionaries(lists | {name: st.lists(member(name, wild=True), max_size=2)})
    )
    return st.fixed_dictionaries(lists) | spoilt


wholes = st.sampled_from(WHOLES).flatmap(whole)
changes = whole(("add", "update", "forget"))


@st.composite
def answers(draw: st.DrawFn, near: st.SearchStrategy[object]) -> str:
    """An answer near to one or far from it: around it prose or reasoning, and sometimes its end missing."""
    said = json.dumps(draw(near | near | junk))
    cut = draw(st.none() | st.none() | st.integers(0, len(said)))
    around = draw(
        st.sampled_from(["{}", "```json\n{}\n```", "<think>{}", "<think>a {</think>{}", "Well: {} ?", "{}{}"])
    )
    return around.replace("{}", said[:cut])


@given(answers(wholes) | st.text())
@example("<think>")
def test_s1_an_answer_is_a_summary_of_what_was_shown_or_a_reason(answer: str) -> None:
    for read in READERS.values():
        found = read(answer)
        if isinstance(found, BadAnswer):
            assert found.reason.strip()
            assert len(found.reason) < 300
            continue
        for item in found.items:
            assert 1 <= item.first <= item.last <= SHOWN
            assert item.text == " ".join(item.text.split()) != ""
            assert not any(ord(char) < 32 for char in item.text + item.day + item.about)
        assert all(1 <= rule.line <= SHOWN and len(rule.text) <= 300 for rule in found.rules)
        assert all(1 <= one.line <= SHOWN and 1 <= one.rule <= RULES for one in found.taken_back)


@given(answers(changes) | st.text())
def test_v8_an_answer_is_at_most_three_changes_of_what_was_shown_or_a_reason(answer: str) -> None:
    known = (deepen.Known(text="pinned", number=None), deepen.Known(text="other", number=2))
    found = deepen.parse(answer, lines=SHOWN, memories=known, limits=Limits())
    if isinstance(found, BadAnswer):
        assert found.reason.strip()
        return
    assert len(found) <= 3
    assert all(one.lines and set(one.lines) <= set(range(1, SHOWN + 1)) for one in found)
    assert all(isinstance(one, deepen.Add) or one.number == 2 for one in found)


@given(st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=4), st.lists(texts, max_size=2))
def test_s12_nothing_that_was_said_ends_the_data_or_changes_the_task(
    said: list[tuple[str, str, str]], rules: list[str]
) -> None:
    lines = [Line(number=at, who=who, text=text, day=day) for at, (who, text, day) in enumerate(said, start=1)]
    question = summarise.ask(lines, ROOM, rules=rules)
    assert question.system == summarise.ask(lines[:1], ROOM, rules=[]).system
    assert "\n" not in question.user
    data = json.loads(question.user)
    assert [(one["from"], one["text"], one.get("day", "")) for one in data["messages"]] == said
    assert [one["text"] for one in data["rules_in_force"]] == rules


@given(texts, texts, texts)
def test_s12_nothing_in_an_item_ends_the_data_or_changes_the_task(text: str, day: str, about: str) -> None:
    item = Item(part=Part.STATE, text=text, first=Spot(0, 0), last=Spot(0, 0), day=day, about=about)
    olds = [Old(number=1, item=item)]
    for ask, key in ((merge.ask, "items"), (condense.ask, "stays")):
        question = ask(olds, ROOM)
        assert question.system == ask(OLDS, ROOM).system
        (told,) = json.loads(question.user)[key]
        assert (told["text"], told.get("day", ""), told.get("about", "")) == (text, day, about)
