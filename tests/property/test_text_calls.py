from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from souvenance.domain.text_calls import Call, Event, Malformed, Shown, TextCallParser, split_calls

pieces = st.sampled_from([
    "remember(", "bcz_remember(", "remember", "bcz_", '"', "'", "“", "”", "«", "»", ",", ")", ";", " ", "\n", "\r\n",
    "\t", "`", "``", "```", "~~~", "\\", "\\n", "\\u00e9", "\\u", ".", "x", "key", "é", "中", "  ", "\n\n",
    'remember("a", "b")', "bcz_remember('c', 'd');", 'remember("a")', "(the time)", "\n```py\n", "\n```\n", "r", "b",
])  # fmt: skip
replies = st.lists(pieces, max_size=25).map("".join)
plain = st.text(st.characters(codec="utf-8")) | st.lists(
    st.sampled_from(["`", "```", "~~~", "\n", " ", "\t", "\r", "remember", "(", "bcz_", "x", ".", ";", "\n\n", "\\"])
).map("".join)
calm = st.lists(st.sampled_from(["`x`", "remember", "(", "bcz_", "x", ".", ",", "é", "中", "\n\n"])).map(" ".join)
NAME_STARTS = "|".join(name[:size] for name in ("bcz_remember", "remember") for size in range(len(name)))
POSSIBLE_START = re.compile(rf"[ \t\r\n]*(?:(?:bcz_)?remember\s*(?:\(.*)?|{NAME_STARTS})\Z", re.DOTALL)


def run(chunks: list[str]) -> tuple[str, list[Event]]:
    parser = TextCallParser()
    events = [event for chunk in chunks for event in parser.feed(chunk)] + parser.finish()
    text = "".join(event.text for event in events if isinstance(event, Shown))
    return text, [event for event in events if not isinstance(event, Shown)]


def cut(text: str, places: list[int]) -> list[str]:
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@settings(max_examples=300)
@given(replies, st.lists(st.integers(min_value=0), max_size=10))
@example('remember("a", "b)\nremember("c", "d")', [3, 17, 20])
def test_no_way_of_cutting_the_stream_changes_anything(text: str, places: list[int]) -> None:
    whole = run([text])
    assert run(cut(text, places)) == whole
    assert run(list(text)) == whole


@given(plain)
def test_text_without_calls_passes_byte_for_byte(text: str) -> None:
    assert run(list(text)) == (text, [])
    assert split_calls(text) == (text, ())


@given(replies)
def test_only_what_may_become_a_call_is_held_back(text: str) -> None:
    parser = TextCallParser()
    given_so_far, shown_so_far = "", ""
    for char in text:
        given_so_far += char
        events = parser.feed(char)
        if any(isinstance(event, Call) for event in events):
            return
        shown_so_far += "".join(event.text for event in events if isinstance(event, Shown))
        assert given_so_far.startswith(shown_so_far)
        assert POSSIBLE_START.match(given_so_far[len(shown_so_far) :])


@given(replies)
def test_shown_text_and_calls_in_their_order_are_the_reply_but_for_some_space(text: str) -> None:
    parser = TextCallParser()
    events = parser.feed(text) + parser.finish()
    joined = "".join(
        event.text if isinstance(event, Shown) else event.source if isinstance(event, Call) else "" for event in events
    )
    squeezed = re.compile(r"[\s;]+")
    assert squeezed.sub("", joined) == squeezed.sub("", text)
    shown, noted = run([text])
    assert all(event.source.strip() in shown for event in noted if isinstance(event, Malformed))


@given(calm, st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30))
def test_a_call_on_a_line_of_its_own_outside_code_is_found_whatever_its_value(before: str, value: str) -> None:
    value += "!"
    written = value.replace("\\", "\\\\").replace('"', '\\"')
    shown, calls = split_calls(f'{before}\nremember("k", "{written}")\n')
    assert shown == before.rstrip()
    assert [(call.key, call.value) for call in calls] == [("k", value)]
