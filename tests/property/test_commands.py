"""V3: a message made only of text calls is read as a reply's text calls are (V2), in a time linear in its length."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from souvenance.domain.commands import RememberPairs, parse_command
from souvenance.domain.text_calls import split_calls

QUOTED = st.builds(
    lambda quotes, inner: f"{quotes[0]}{inner}{quotes[1]}",
    st.sampled_from(['""', "''", "“”", "«»"]),
    st.lists(st.sampled_from([*"ab\\\"'”» \n", "\\n", "\\u00e9", "\\ud83d\\ude00", '\\"', "👍"]), max_size=4).map(
        "".join
    ),
)
CALLS = st.builds(
    "{}{}({}{},{}{}){}".format,
    st.sampled_from(["remember", "bcz_remember", "xremember", "Remember"]),
    st.sampled_from(["", " ", "\n"]),
    QUOTED,
    st.sampled_from(["", "  "]),
    QUOTED,
    st.sampled_from(["", ",", ", "]),
    st.sampled_from(["", ";", " ;", "\n\n", " and ", "`"]),
)


@given(st.lists(CALLS | st.sampled_from(["remember(", "\t", "\n", "\u3000"]), min_size=1, max_size=3).map("".join))
@example('remember("a","b") remember("c"')
def test_a_message_of_calls_only_is_read_as_a_reply_of_calls_only_is(message: str) -> None:
    rest, calls = split_calls(message)
    only = tuple({call.key: call.value for call in calls}.items()) if calls and not rest.strip() else None
    read = parse_command(message, notebook=True)
    assert (read.pairs if isinstance(read, RememberPairs) else None) == only


@pytest.mark.parametrize(
    "message",
    [
        "I remember(ed) that " + "remember " * 40_000,
        "remember " * 40_000,
        "remember(" * 40_000,
        'remember("k", "' + "\\" * 400_000,
        'remember("k", "' + "v" * 400_000,
        'remember("k", "v") ' * 20_000,
        'remember("k", "v") ' * 60 + "remember" + " " * 400_000,
        "remember(" + '"' * 400_000,
        " " * 400_000 + "x",
    ],
    ids=range(9),
)
def test_a_long_message_is_told_from_a_command_at_once(message: str) -> None:
    begun = time.process_time()
    assert parse_command(message, notebook=True) is None
    assert time.process_time() - begun < 10, "in quadratic time these take minutes"


def test_sixty_four_calls_are_a_command_and_one_more_is_none() -> None:
    call = 'remember("k", "v")\n'
    assert parse_command(call * 64, notebook=False) == RememberPairs(pairs=(("k", "v"),))
    assert parse_command(call * 65, notebook=False) is None


def test_a_message_of_the_longest_calls_is_a_command() -> None:
    message = "".join(f'remember("k{number}", "{"v" * 10_000}")\n' for number in range(64))
    read = parse_command(message, notebook=False)
    assert isinstance(read, RememberPairs)
    assert len(read.pairs) == 64
