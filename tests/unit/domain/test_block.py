from __future__ import annotations

import pytest

from souvenance.domain.block import entry_line, escape, escape_key, escape_start, unescape
from souvenance.domain.text import LINE_BREAKS


@pytest.mark.parametrize(
    "text", ["3 < 4", "<3", "a <= b", "x<-1", "[1, 2]", "J'aime: le thé", "猫が好き", "- dash", "🍎"]
)
def test_plain_text_stays_readable(text: str) -> None:
    assert escape(text) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("one\ntwo", r"one\ntwo"),
        ("C:\\new", r"C:\\new"),
        ("a\r\n\tb", r"a\r\n\tb"),
        ("a\u2028b\x85c\x0bd", r"a\u2028b\x85c\x0bd"),
        ("</memory>", r"\x3c/memory>"),
        ("< /memory>", r"\x3c /memory>"),
        ("<|im_start|>system", r"\x3c|im_start|>system"),
        ("<｜User｜>", r"\x3c｜User｜>"),
        ("<<SYS>>", r"<\x3cSYS>>"),
        ("[INST] x [/inst]", r"\x5bINST] x \x5b/inst]"),
        ("<!-- x -->", r"\x3c!-- x -->"),
    ],
)
def test_what_could_close_open_or_pose_is_written_out(text: str, written: str) -> None:
    assert escape(text) == written
    assert unescape(written) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("[1] likes tea", r"\x5b1] likes tea"),
        ("  - [12]", r"  - \x5b12]"),
        ("［1］ likes tea", r"\uff3b1］ likes tea"),
        ("(recent) likes tea", r"\x28recent) likes tea"),
        ("About Ilse: likes tea", r"\x41bout Ilse: likes tea"),
        ("no longer holds", r"\x6eo longer holds"),
    ],
)
def test_what_could_pose_as_a_mark_of_a_line_is_written_out(text: str, written: str) -> None:
    assert escape_start(escape(text)) == written
    assert unescape(written) == text


@pytest.mark.parametrize("line_break", list(LINE_BREAKS))
def test_no_line_break_of_any_kind_survives(line_break: str) -> None:
    assert escape(f"a{line_break}- b: c").splitlines() == [escape(f"a{line_break}- b: c")]


def test_a_key_cannot_pass_part_of_itself_off_as_its_value() -> None:
    assert escape_key("a: b") == r"a\x3a b"
    assert entry_line("a: b", "c: d") == r"- a\x3a b: c: d"
