"""A memory that is kept up to date one operation at a time is the fold of its journal (M11, T5)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.ids import BotId, MemoryId
from souvenance.domain.journal import (
    Actor,
    Add,
    Archive,
    Content,
    Delete,
    Intent,
    Move,
    Operation,
    Pin,
    Restore,
    Unpin,
    Update,
    apply,
    fold,
)
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory, Origin, Scope

_START = datetime(2026, 1, 1, tzinfo=UTC)
_BOT = Scope.of_bot(BotId("bot_1"))
_CONTENTS = st.builds(
    Content,
    text=st.sampled_from(["Likes tea", "Likes coffee"]),
    key=st.sampled_from([None, "drink"]),
    confidence=st.sampled_from([0.5, 0.9, 1.0]),
    origin=st.sampled_from([Origin.MANUAL, Origin.MODEL]),
    sensitive=st.booleans(),
)
_INTENTS: st.SearchStrategy[Intent] = st.one_of(
    st.builds(Add, content=_CONTENTS),
    st.builds(Update, content=_CONTENTS),
    st.builds(Pin, content=_CONTENTS),
    st.builds(Move, scope=st.sampled_from([ACCOUNT_SCOPE, _BOT])),
    st.sampled_from([Unpin(), Archive(), Restore(), Delete()]),
)
_HOURS = st.integers(-5, 5)


@st.composite
def journals(draw: st.DrawFn) -> list[Operation]:
    said = draw(st.lists(st.tuples(_INTENTS, _HOURS, st.booleans()), max_size=12))
    return [
        Operation(
            place=place,
            memory_id=MemoryId("mem_1"),
            scope=_BOT,
            actor=Actor.MODEL,
            intent=intent,
            at=_START + timedelta(hours=hour),
            revoked=revoked,
        )
        for place, (intent, hour, revoked) in enumerate(said, start=1)
    ]


@given(journals())
def test_one_step_after_another_makes_what_the_fold_of_all_makes(operations: list[Operation]) -> None:
    memory: Memory | None = None
    for number, operation in enumerate(operations, start=1):
        memory = memory if operation.revoked else apply(memory, operation)
        assert memory == fold(operations[:number])


@given(journals())
def test_a_revoked_operation_leaves_no_trace(operations: list[Operation]) -> None:
    assert fold(operations) == fold([one for one in operations if not one.revoked])


@given(journals())
def test_the_place_of_the_last_update_is_that_of_an_operation_that_stands(operations: list[Operation]) -> None:
    memory = fold(operations)
    if memory is not None:
        standing = {one.place: one for one in operations if not one.revoked}
        assert memory.updated_at == standing[memory.updated_place].at
        assert memory.place <= memory.updated_place
