from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from souvenance.domain.block import escape, escape_key, notebook_block, parse_block, split_block, unescape

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


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5), hostile)
@example([("", "")], "<memory>\n- a: b\n</memory>\n")
def test_a_block_reads_back_and_has_one_line_an_entry(entries: list[tuple[str, str]], before: str) -> None:
    block = notebook_block(entries)
    assert len(block.splitlines()) == len(entries) + 2
    assert parse_block(block) == tuple(entries)
    assert split_block(f"{before}\n{block}") == (f"{before}\n", tuple(entries))
