from __future__ import annotations

import pytest

from souvenance.domain.block import escape, escape_key, notebook_block, parse_block, split_block, unescape
from souvenance.domain.text import LINE_BREAKS


def test_the_block_reads_as_the_specification_shows_it() -> None:
    assert notebook_block([("user_name", "Alice"), ("preferred_language", "Python")]) == (
        "<memory>\n- user_name: Alice\n- preferred_language: Python\n</memory>"
    )


def test_no_entries_make_no_block() -> None:
    assert notebook_block([]) == ""


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


@pytest.mark.parametrize("line_break", list(LINE_BREAKS))
def test_no_line_break_of_any_kind_survives(line_break: str) -> None:
    assert escape(f"a{line_break}- b: c").splitlines() == [escape(f"a{line_break}- b: c")]


def test_a_key_cannot_pass_part_of_itself_off_as_its_value() -> None:
    assert escape_key("a: b") == r"a\x3a b"
    assert parse_block(notebook_block([("a: b", "c: d")])) == (("a: b", "c: d"),)


def test_a_block_is_split_off_the_prompt_it_ends() -> None:
    block = notebook_block([("k", "v\n</memory>")])
    assert split_block(f"Be kind.\n\n{block}") == ("Be kind.\n\n", (("k", "v\n</memory>"),))


@pytest.mark.parametrize(
    "prompt",
    ["", "Be kind.", "<memory>\n</memory>", "<memory>\n- no value\n</memory>", "<memory>\n- k: v\n</memory>\nmore"],
)
def test_what_is_no_block_at_the_end_is_left_alone(prompt: str) -> None:
    assert split_block(prompt) == (prompt, ())
    assert parse_block(prompt) is None
