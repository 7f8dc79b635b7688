"""A request's bytes are its parts, and its parts are what was meant to be sent (C1, M14)."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.ids import MemoryId, MessageId, NodeId
from souvenance.domain.prompt import AsSent, Piece, Run, Said, assemble
from souvenance.domain.sent import Part

_TEXT = st.text(st.characters(codec="utf-8"), max_size=40)
_RUN = st.builds(
    lambda text, of: Run(
        text=text,
        memory_id=MemoryId("mem_1") if of == "memory" else None,
        message_id=MessageId("msg_1") if of == "message" else None,
        node_id=NodeId("nod_1") if of == "node" else None,
    ),
    _TEXT,
    st.sampled_from(["memory", "message", "node", "nobody"]),
)
_CLIENTS = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool"]), "content": _TEXT}, optional={"name": _TEXT}
)
_BEFORE = st.one_of(_TEXT, st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": _TEXT}), max_size=3))
_SAID = st.builds(
    lambda runs, before: Said(layer="window", fields={"role": "user"}, runs=tuple(runs), before=before),
    st.lists(_RUN, max_size=5),
    _BEFORE,
)
_PIECE: st.SearchStrategy[Piece] = st.one_of(_SAID, st.builds(lambda wire: AsSent(layer="tail", wire=wire), _CLIENTS))
_HEAD = st.fixed_dictionaries({"model": _TEXT}, optional={"temperature": st.floats(0, 2), "stop": st.lists(_TEXT)})


@given(head=_HEAD, pieces=st.lists(_PIECE, max_size=6))
def test_the_body_is_the_head_and_the_messages_in_their_order(head: dict[str, object], pieces: list[Piece]) -> None:
    made = assemble(head, pieces)
    assert json.loads(made.body) == {**head, "messages": [dict(message) for message in made.messages]}
    assert b"".join(part.data for part in made.parts) == made.body


@given(head=_HEAD, pieces=st.lists(_PIECE, max_size=6))
def test_the_same_input_gives_the_same_bytes(head: dict[str, object], pieces: list[Piece]) -> None:
    assert assemble(head, pieces) == assemble(head, pieces)


@given(pieces=st.lists(_SAID, max_size=6))
def test_what_a_memory_a_message_or_a_node_says_is_a_part_of_its_own(pieces: list[Said]) -> None:
    named = [part for part in assemble({"model": "m"}, pieces).parts if any(_names(part))]
    runs = [run for piece in pieces for run in piece.runs if any(_names(run)) and run.text]
    assert [_names(part) for part in named] == [_names(run) for run in runs]
    assert [json.loads(b'"' + part.data + b'"') for part in named] == [run.text for run in runs]


def _names(one: Run | Part) -> tuple[str | None, ...]:
    return one.memory_id, one.message_id, one.node_id


def test_half_a_surrogate_pair_of_a_client_goes_on_as_an_escape() -> None:
    made = assemble({"model": "m"}, [AsSent(layer="newest", wire={"role": "user", "content": "\ud83d"})])
    assert b'"\\ud83d"' in made.body
