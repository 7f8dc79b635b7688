from __future__ import annotations

from datetime import UTC, datetime

from souvenance.domain.ids import MemoryId
from souvenance.domain.journal import Actor
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory
from souvenance.domain.remember import AddNew, Confirm, HeldByPin, KnownAndPinned, decide

_AT = datetime(2026, 1, 1, tzinfo=UTC)


def _memory(text: str, *, key: str | None = None, pinned: bool = False) -> Memory:
    return Memory(
        memory_id=MemoryId("mem_1"),
        scope=ACCOUNT_SCOPE,
        text=text,
        key=key,
        pinned=pinned,
        created_at=_AT,
        updated_at=_AT,
        place=1,
    )


def test_what_is_not_there_is_added() -> None:
    assert decide(None, text="Plays the cello", actor=Actor.MODEL) == AddNew()


def test_what_is_there_is_confirmed() -> None:
    there = _memory("Plays the cello")
    assert decide(there, text="plays the cello", actor=Actor.MODEL) == Confirm(memory=there)


def test_nobody_but_a_person_touches_what_is_pinned() -> None:
    there = _memory("Plays the cello", pinned=True)
    for actor in set(Actor) - {Actor.PERSON}:
        assert decide(there, text="Plays the cello", actor=actor) == KnownAndPinned(memory=there)
    assert decide(there, text="Plays the cello", actor=Actor.PERSON) == Confirm(memory=there)


def test_a_pinned_key_keeps_its_value_against_models() -> None:
    there = _memory("blue", key="colour", pinned=True)
    assert decide(there, text="red", actor=Actor.TEXT_CALL) == HeldByPin(memory=there)
    assert decide(there, text="red", actor=Actor.PERSON) == Confirm(memory=there)
