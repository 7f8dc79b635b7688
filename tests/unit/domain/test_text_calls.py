from __future__ import annotations

from itertools import combinations

import pytest

from souvenance.domain.text_calls import Call, Event, Malformed, Shown, TextCallParser

JAPANESE = "彼は「本」と言った, (そう) 'です'"

REMOVED = [
    # a call alone on its line goes with its line break
    ('remember("a", "b")', "", [("a", "b")]),
    ('remember("a", "b")\n', "", [("a", "b")]),
    ('Hi.\nbcz_remember("a", "b")\nBye.', "Hi.\nBye.", [("a", "b")]),
    ('Hi.\r\n  remember("a", "b"); \r\nBye.', "Hi.\r\nBye.", [("a", "b")]),
    ('Hi.\n\nremember("a", "b")\n\nBye.', "Hi.\n\nBye.", [("a", "b")]),
    ('remember("a", "b")\n\n\nHi.', "\nHi.", [("a", "b")]),
    ('Hi.\n\nremember("a", "b")\nremember("c", "d")\n \nBye.', "Hi.\n\nBye.", [("a", "b"), ("c", "d")]),
    ('Hi.\n\nremember("a", "b")', "Hi.", [("a", "b")]),
    ('Hi.\n\nremember("a", "b")\nremember("c", "d")\n\n\n', "Hi.", [("a", "b"), ("c", "d")]),
    ('Hi.\nremember("a", "b")\n\nBye.', "Hi.\n\nBye.", [("a", "b")]),
    ('remember("a","b")remember("c","d"); remember("e","f")\n', "", [("a", "b"), ("c", "d"), ("e", "f")]),
    # within a line one space goes
    ('Noted remember("a", "b") for you.', "Noted for you.", [("a", "b")]),
    ('Noted remember("a", "b"). Good.', "Noted. Good.", [("a", "b")]),
    ('Noted remember("a", "b")\nGood.', "Noted\nGood.", [("a", "b")]),
    ('Noted remember("a", "b")', "Noted", [("a", "b")]),
    ('remember("a", "b") Noted.', "Noted.", [("a", "b")]),
    ('Noted remember("a", "b")ly.', "Noted ly.", [("a", "b")]),
    ('Well,remember("a", "b") yes', "Well, yes", [("a", "b")]),
    ('One remember("a","b") remember("c","d") two', "One two", [("a", "b"), ("c", "d")]),
    ('好的remember("城市", "上海")，记住了。', "好的，记住了。", [("城市", "上海")]),
    # how arguments are written
    ("remember('a', \"it's\")", "", [("a", "it's")]),
    ('remember("a", \'say "hi"\')', "", [("a", 'say "hi"')]),
    ("remember(“a”, «b»)", "", [("a", "b")]),
    ('remember ( \n "a" \n , \t"b" , \n )', "", [("a", "b")]),
    (
        r'remember("a", "\"x\" \'y\' C:\\d \d \n\t\u00e9\ud83d\ude00\u12")',
        "",
        [("a", "\"x\" 'y' C:\\d \\d \n\té😀\\u12")],
    ),
    (f'remember("a", "{JAPANESE}")', "", [("a", JAPANESE)]),
    ('remember("a", "two\n\nparagraphs ``` and `")', "", [("a", "two\n\nparagraphs ``` and `")]),
    ('remember(" a ", " b ")', "", [("a", " b ")]),
    (f'remember("{"k" * 128}", "{"v" * 10_000}")', "", [("k" * 128, "v" * 10_000)]),
    # beside code
    ('`x` remember("a", "b")', "`x`", [("a", "b")]),
    ('``a`b`` remember("a", "b")', "``a`b``", [("a", "b")]),
    ('it\\`s remember("a", "b")', "it\\`s", [("a", "b")]),
    ('an ` alone\nremember("a", "b")', "an ` alone", [("a", "b")]),
    ('```x``` remember("a", "b")', "```x```", [("a", "b")]),
    ('```\nx\n````  \nremember("a", "b")', "```\nx\n````  ", [("a", "b")]),
    ('Look:\n  ~~~ py `\nx\n~~~\nremember("a", "b")', "Look:\n  ~~~ py `\nx\n~~~", [("a", "b")]),
]

SHOWN = [
    "",
    "Plain text, remembered (well).",
    "I will remember (the time) and remember\n\n(more)",
    'xremember("a", "b")',
    'obj.remember("a", "b") and _remember("a", "b") and éremember("a", "b")',
    "remember(key, value) and remember() and remember",
    'Remember("a", "b")',
    "remember" + " " * 200 + '("a", "b")',
    'try `remember("a", "b")` and `` ` remember("a", "b") ``',
    'an unclosed ` hides remember("a", "b") up to the line\'s end',
    '```\nremember("a", "b")\n``\n~~~\nremember("c", "d")',
    '   ````py\nremember("a", "b")\n```\nremember("c", "d")\n   ````',
    '```\nremember("a", "b")\n    ```\nremember("c", "d")',
    '1. So:\n\n      ```\n      remember("a", "b")\n      ```\n',
    '~~~\nremember("a", "b")\n~~~ x\nremember("c", "d")',
    '~~~ remember("a", "b")',
    "  a  \n\n \n\t b \r\n\n",
    "trailing remem",
]  # fmt: skip

MALFORMED = [
    ('Say remember("only one") twice', 'remember("only one")', "second argument is missing"),
    ('remember("a", b)', 'remember("a", ', "not a quoted text"),
    ('remember("a", "b", "c")', 'remember("a", "b", ', "closing parenthesis"),
    ('remember("a", "say "hi"")', 'remember("a", "say "', "closing parenthesis"),
    ('remember("", "b")', 'remember("", "b")', "key is empty"),
    ('remember("a", " ")', 'remember("a", " ")', "value is empty"),
    (r'remember("a\nb", "c")', r'remember("a\nb", "c")', "line break"),
    (r'remember("a", "\u0000")', r'remember("a", "\u0000")', "NUL"),
    (r'remember("a", "\ud83d")', r'remember("a", "\ud83d")', "surrogate"),
    (f'remember("{"k" * 129}", "v")', f'remember("{"k" * 129}", "v")', "129 characters"),
    (f'remember("a", "{"v" * 10_001}")', f'remember("a", "{"v" * 10_000}', "oversized"),
    ('So remember("a", "b"', 'remember("a", "b"', "cut off"),
    ("remember(“a”, “b", "remember(“a”, “b", "cut off"),
]


def run(*chunks: str) -> list[Event]:
    parser = TextCallParser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.finish()


def shown(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Shown))


def noted(events: list[Event]) -> list[Event]:
    return [event for event in events if not isinstance(event, Shown)]


def pairs(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.key, event.value) for event in events if isinstance(event, Call)]


@pytest.mark.parametrize(("text", "left", "expected"), REMOVED)
def test_a_call_is_taken_out_and_its_gap_closed(text: str, left: str, expected: list[tuple[str, str]]) -> None:
    events = run(text)
    assert shown(events) == left
    assert pairs(events) == expected
    assert len(noted(events)) == len(expected)


@pytest.mark.parametrize("text", SHOWN)
def test_what_is_no_call_passes_byte_for_byte(text: str) -> None:
    events = run(text)
    assert shown(events) == text
    assert noted(events) == []


@pytest.mark.parametrize(("text", "source", "reason"), MALFORMED)
def test_a_malformed_call_stays_visible_and_is_noted(text: str, source: str, reason: str) -> None:
    events = run(text)
    assert shown(events) == text
    [malformed] = noted(events)
    assert isinstance(malformed, Malformed)
    assert malformed.source == source
    assert reason in malformed.reason


def test_a_malformed_call_does_not_take_the_next_lines_with_it() -> None:
    events = run('remember("a", "b)\nremember("c", "d")\nDone.')
    assert shown(events) == 'remember("a", "b)\nDone.'
    assert pairs(events) == [("c", "d")]


def test_a_call_quoted_in_a_malformed_one_stores_nothing() -> None:
    assert pairs(run("remember(\"a\", \"as in remember('b', 'c')\" oops)")) == []


def test_a_call_that_breaks_off_into_another_lets_the_other_count() -> None:
    assert pairs(run('remember("a", remember("b", "c")')) == [("b", "c")]


SAMPLES = [*(row[0] for row in REMOVED + MALFORMED if len(row[0]) < 130), *SHOWN]


@pytest.mark.parametrize("text", SAMPLES)
def test_no_cut_in_one_place_changes_anything(text: str) -> None:
    whole = run(text)
    for place in range(len(text) + 1):
        events = run(text[:place], text[place:])
        assert (shown(events), noted(events)) == (shown(whole), noted(whole))


@pytest.mark.parametrize("text", [text for text in SAMPLES if len(text) <= 50])
def test_no_cut_in_two_places_changes_anything(text: str) -> None:
    whole = run(text)
    for one, two in combinations(range(len(text) + 1), 2):
        events = run(text[:one], text[one:two], text[two:])
        assert (shown(events), noted(events)) == (shown(whole), noted(whole))


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_no_cut_changes_an_oversized_call(size: int) -> None:
    text = f'One remember("a", "{"v" * 10_050}") two\nremember("c", "d")'
    events = run(*(text[start : start + size] for start in range(0, len(text), size)))
    assert shown(events) == shown(run(text))
    assert noted(events) == noted(run(text))
    assert pairs(events) == [("c", "d")]


def test_a_complete_call_counts_at_its_closing_parenthesis() -> None:
    parser = TextCallParser()
    assert noted(parser.feed('Yes. remember("a", "b")')) == [Call(key="a", value="b", source='remember("a", "b")')]


def test_text_that_cannot_be_part_of_a_call_leaves_with_its_chunk() -> None:
    parser = TextCallParser()
    assert shown(parser.feed("Sure, I know that")) == "Sure, I know that"
    assert shown(parser.feed(" I remember ")) == " I"
    assert shown(parser.feed("you")) == " remember you"
    assert shown(parser.feed(" bcz_r")) == ""
    assert shown(parser.feed("x")) == " bcz_rx"
    assert shown(parser.feed("\n```\n  ")) == "\n```\n  "


def test_an_endless_argument_is_let_go_once_it_is_too_long() -> None:
    parser = TextCallParser()
    parser.feed('remember("a", "')
    held = [parser.feed("v" * 100) for _ in range(101)]
    assert not any(held[:-1])
    assert len(shown(held[-1])) == len('remember("a", "') + 10_100
