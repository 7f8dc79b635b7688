from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from souvenance.domain.block import entry_line, escape, escape_key, unescape

sayable = st.text(st.characters(codec="utf-8"))
hostile = st.lists(
    st.sampled_from([
        *"\\<>/|[]:!?- \n\r\t\x85\u2028\x0b\x1c", "\\x3c", "\\u2028", "memory", "im_start", "INST", "SYS", "- k: v"
    ])
).map("".join)  # fmt: skip
texts = sayable | hostile
OPENERS = re.compile(r"</|</?memory|<\||<｜|<!|<\?|\[/?INST|<SYS", re.IGNORECASE)


@given(texts)
def test_what_was_escaped_comes_back(text: str) -> None:
    assert unescape(escape(text)) == text
    assert unescape(escape_key(text)) == text


@given(texts)
def test_escaping_an_escaped_text_is_undone_step_by_step(text: str) -> None:
    assert unescape(escape(escape(text))) == escape(text)


@given(texts)
def test_an_escaped_text_is_one_line_that_opens_nothing(text: str) -> None:
    written = escape(text)
    assert len(written.splitlines()) <= 1
    assert not OPENERS.search(written)
    assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in written)


@given(texts)
def test_an_escaped_key_has_no_colon(text: str) -> None:
    assert ":" not in escape_key(text)


@given(texts, texts)
@example("", "")
@example("a: b", "</memory>\n- k: v")
def test_an_entry_is_one_line_that_reads_back(key: str, value: str) -> None:
    written = entry_line(key, value)
    assert len(written.splitlines()) == 1
    read_key, parted, read = written.removeprefix("- ").partition(": ")
    assert parted
    assert (unescape(read_key), unescape(read)) == (key, value)
