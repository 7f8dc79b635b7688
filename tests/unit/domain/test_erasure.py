"""Which operations fall because a person erased since then what they say (M14), and which stay (M5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from souvenance.domain.erasure import Stones, Tombstone, without_erased
from souvenance.domain.ids import MemoryId
from souvenance.domain.journal import Actor, Add, Content, Intent, Move, Operation, Pin, Update, fold
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory, MemoryState

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
TEA, RUM = Content(text="Likes tea"), Content(text="Likes rum")


def history(*intents: Intent) -> list[Operation]:
    """One operation a minute, at places 1, 2, …"""
    return [
        Operation(
            place=place,
            memory_id=MemoryId("mem_1"),
            scope=ACCOUNT_SCOPE,
            actor=Actor.MODEL,
            intent=intent,
            at=START + timedelta(minutes=place),
        )
        for place, intent in enumerate(intents, start=1)
    ]


def erased(text: str, *, minute: float) -> Stones:
    """The tombstone of this text, erased so many minutes after the start."""
    stone = Tombstone(
        scope=ACCOUNT_SCOPE,
        text_hash=b"text",
        subject_hash=b"subject",
        sources=(),
        erased_at=START + timedelta(minutes=minute),
    )
    return lambda memory: [stone] if memory.text.casefold() == text.casefold() else []


def before(state: MemoryState, content: Content = RUM) -> Memory:
    memory = fold(history(Add(content=content)))
    assert memory is not None
    return replace(memory, state=state)


def standing(operations: Sequence[Operation]) -> list[int]:
    return [one.place for one in operations if not one.revoked]


def test_m14_what_says_an_erased_text_falls_and_the_rest_stands() -> None:
    left = without_erased(
        before(MemoryState.LIVE), history(Add(content=RUM), Update(content=TEA)), erased("likes TEA", minute=2)
    )
    assert standing(left) == [1]


def test_m14_an_erased_text_that_something_stands_over_stays_in_the_history() -> None:
    operations = history(Add(content=TEA), Update(content=RUM))
    assert without_erased(before(MemoryState.DELETED), operations, erased("Likes tea", minute=9)) == operations


def test_m14_one_erased_text_under_another_falls_too() -> None:
    both = erased("Likes tea", minute=9), erased("Likes rum", minute=9)
    left = without_erased(
        before(MemoryState.DELETED),
        history(Add(content=TEA), Update(content=RUM)),
        lambda memory: [stone for stones in both for stone in stones(memory)],
    )
    assert standing(left) == []


def test_m14_what_was_said_after_the_erasure_stands() -> None:
    left = without_erased(
        before(MemoryState.DELETED), history(Add(content=TEA), Add(content=TEA)), erased("Likes tea", minute=1.5)
    )
    assert standing(left) == [2]


def test_m5_a_pinned_one_stays() -> None:
    operations = history(Add(content=TEA), Pin(content=TEA))
    assert without_erased(before(MemoryState.DELETED), operations, erased("Likes tea", minute=9)) == operations


def test_m14_one_that_says_it_already_does_not_come_back_by_a_fold() -> None:
    operations = history(Add(content=TEA))
    for state in (MemoryState.LIVE, MemoryState.SHADOWED):
        assert without_erased(before(state, TEA), operations, erased("Likes tea", minute=9)) == operations
    assert standing(without_erased(before(MemoryState.DELETED, TEA), operations, erased("Likes tea", minute=9))) == []


def test_m14_one_that_is_being_erased_waits_for_its_own_offer() -> None:
    operations = history(Add(content=TEA))
    assert without_erased(before(MemoryState.ERASING, TEA), operations, erased("Likes tea", minute=9)) == operations


def test_m10_an_erased_text_falls_for_its_subject_only() -> None:
    ann, bob = Content(text="Likes tea", subject="Ann"), Content(text="Likes tea", subject="Bob")
    operations = history(Add(content=ann), Update(content=bob))
    left = without_erased(
        before(MemoryState.DELETED),
        operations,
        lambda memory: erased("Likes tea", minute=9)(memory) if memory.subject == "Bob" else [],
    )
    assert standing(left) == [1]


def test_m8_what_says_an_erased_text_only_since_it_was_moved_falls_too() -> None:
    keyed = Content(key="drink", text="tea")
    operations = history(Add(content=keyed), Move(scope=ACCOUNT_SCOPE))
    assert standing(without_erased(before(MemoryState.DELETED), operations, erased("Drink: tea", minute=9))) == [2]
    assert without_erased(before(MemoryState.DELETED), operations, erased("tea", minute=9)) == operations
