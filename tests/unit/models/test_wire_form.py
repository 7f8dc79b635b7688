from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.split_pairs import SplitPairs
from souvenance.models.wire_form import ReplyReader
from souvenance.ports.chat_model import ToolCallDelta, Usage


def delta(said: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": said, "finish_reason": finish}]}


def call(call_id: str | None = None, name: str | None = None, arguments: object = "", **rest: Any) -> dict[str, Any]:
    function = {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}
    return {"function": function, **({} if call_id is None else {"id": call_id}), **rest}


def indexes(*chunks: list[dict[str, Any]]) -> list[int]:
    reader = ReplyReader()
    return [call.index for calls in chunks for call in reader.read(delta({"tool_calls": calls})).tool_calls]


def test_the_object_is_kept_as_it_came() -> None:
    wire = {**delta({"content": "a"}), "system_fingerprint": None, "x_new": {"field": [1]}}
    assert ReplyReader().read(wire).wire is wire


def test_a_usage_chunk_without_choices_is_only_usage() -> None:
    chunk = ReplyReader().read({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}})
    assert (chunk.text, chunk.finish, chunk.usage) == ("", None, Usage(tokens_in=5, tokens_out=2))


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_read_under_both_names(field: str) -> None:
    assert ReplyReader().read(delta({field: "hmm", "content": None})).reasoning == "hmm"


def test_content_in_typed_parts_is_text_and_reasoning() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hmm"}]}, {"type": "text", "text": "Tea"}]
    chunk = ReplyReader().read(delta({"content": parts}))
    assert (chunk.text, chunk.reasoning) == ("Tea", "hmm")


def test_a_second_choice_is_not_mixed_into_the_first() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]}
    chunk = ReplyReader().read(other)
    assert (chunk.text, chunk.finish) == ("", None)


def test_calls_without_an_index_are_numbered_in_their_order() -> None:
    assert indexes([call("a", "f"), call("b", "g")], [call("c", "h")]) == [0, 1, 2]


def test_a_piece_without_index_and_id_goes_on_with_the_last_call() -> None:
    assert indexes([call("a", "f")], [call("b", "g")], [call(arguments="{")]) == [0, 1, 1]


def test_a_repeated_id_is_the_same_call() -> None:
    assert indexes([call("a", "f", index=0)], [call("a", "f", "{}", index=0)]) == [0, 0]


def test_parallel_calls_that_all_say_zero_are_told_apart() -> None:
    assert indexes([call("a", "f", index=0)], [call("b", "f", index=0)]) == [0, 1]


def test_stated_indexes_are_kept() -> None:
    assert indexes([call("a", "f", index=3)], [call(arguments="{}", index=3)]) == [3, 3]


def test_arguments_sent_as_an_object_become_json_text() -> None:
    (read,) = ReplyReader().read(delta({"tool_calls": [call("a", "f", {"n": 1}, index=0)]})).tool_calls
    assert read == ToolCallDelta(index=0, call_id="a", name="f", arguments='{"n": 1}')


def test_a_whole_response_without_a_finish_counts_as_stopped() -> None:
    chunk = ReplyReader().read_whole({"choices": [{"message": {"content": "Hi"}}]})
    assert (chunk.text, chunk.finish) == ("Hi", "stop")


@pytest.mark.parametrize(
    "wire",
    [
        {},
        {"choices": None},
        {"choices": "x"},
        {"choices": [None]},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": 5, "tool_calls": [{"function": None}, 3]}}], "usage": []},
    ],
)
def test_fields_of_the_wrong_kind_say_nothing(wire: dict[str, Any]) -> None:
    chunk = ReplyReader().read(wire)
    assert (chunk.text, chunk.finish, chunk.usage) == ("", None, None)


def test_white_space_alone_says_nothing_but_a_stopped_content_filter_does() -> None:
    reader = ReplyReader()
    reader.read(delta({"content": " \n"}, "stop"))
    assert (reader.finished, reader.said_anything) == (True, False)
    reader.read(delta({}, "content_filter"))
    assert reader.said_anything


def test_a_character_cut_into_two_escapes_is_joined() -> None:
    reader = ReplyReader()
    assert [reader.read(delta({"content": half})).text for half in ("a\ud83e", "\uded6b")] == ["a", "🫖b"]


def test_a_half_character_at_the_end_is_replaced() -> None:
    reader = ReplyReader()
    texts = [reader.read(delta({"content": "a\ud83e"})).text, reader.read(delta({}, "stop")).text]
    assert texts == ["a", "\ufffd"]


@given(st.text(st.characters(), max_size=20), st.lists(st.integers(0, 40), max_size=6))
def test_text_cut_between_any_two_code_units_comes_out_whole(text: str, cuts: list[int]) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    bounds = [0, *sorted(min(cut * 2, len(units)) for cut in cuts), len(units)]
    halves = SplitPairs()
    pieces = [units[start:end].decode("utf-16-le", "surrogatepass") for start, end in pairwise(bounds)]
    joined = "".join(halves.join(piece) for piece in pieces) + halves.join("", last=True)
    assert joined == units.decode("utf-16-le", "replace")
    joined.encode()
