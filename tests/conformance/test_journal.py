"""The journal on both databases: what was done, in order, and what stands of it (M11, T1–T4)."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy.exc import DBAPIError

from souvenance.domain.ids import ConversationId, MemoryId, MessageId
from souvenance.domain.journal import (
    Actor,
    Add,
    Anchor,
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
    fold,
)
from souvenance.domain.memory import ACCOUNT_SCOPE, Evidence, Origin
from souvenance.errors import SouvenanceError
from souvenance.ports.store import Store, Unit
from tests.conformance.facts import BOT_SCOPE, do, folded, read, say, write
from tests.conformance.rows import ALICE, BOB, NOW, later, message

TEA = Add(content=Content(text="Likes tea"))
ONE = MemoryId("mem_1")
TWO = MemoryId("mem_2")


def revoked(unit: Unit, memory_id: MemoryId = ONE) -> list[bool]:
    return [operation.revoked for operation in unit.journal.of_memory(memory_id)]


def append(unit: Unit, anchor: Anchor) -> None:
    operation = Operation(
        place=unit.owners.next_place(),
        memory_id=ONE,
        scope=BOT_SCOPE,
        actor=Actor.MODEL,
        intent=TEA,
        at=NOW,
        causes=(anchor,),
    )
    unit.journal.append(operation)


async def test_operations_read_back_in_order_with_their_causes(store: Store) -> None:
    content = Content(text="Aime le thé 🍵", key="boisson", subject="Ilse", evidence=(Evidence(at=NOW),))
    first = Operation(
        place=3,
        memory_id=ONE,
        scope=BOT_SCOPE,
        actor=Actor.TEXT_CALL,
        intent=Add(content=content),
        at=NOW,
        causes=(
            Anchor(message=MessageId("msg_1")),
            Anchor(message=MessageId("msg_2"), said=MessageId("msg_0"), held_in=ConversationId("cnv_1")),
        ),
    )
    second = replace(first, place=4, actor=Actor.PERSON, intent=Move(scope=ACCOUNT_SCOPE), causes=(), at=later(1))
    third = replace(second, place=10, intent=Delete(), revoked=True)

    def append(unit: Unit) -> None:
        for operation in (third, first, second, replace(first, place=5, memory_id=TWO)):
            unit.journal.append(operation)

    await write(store, append)
    assert await read(store, lambda unit: unit.journal.of_memory(ONE)) == [first, second, third]
    both = await read(store, lambda unit: unit.journal.of_memories([TWO, ONE, MemoryId("mem_3")]))
    assert both == {ONE: [first, second, third], TWO: [replace(first, place=5, memory_id=TWO)]}


async def test_what_counts_folds_to_what_everything_folds_to(store: Store) -> None:
    dice = random.Random(5)
    ids = [MemoryId(f"mem_{number}") for number in range(150)]
    places = list(range(1, 12 * len(ids) + 1))
    dice.shuffle(places)
    drawn = [replace(any_operation(dice), place=place, memory_id=dice.choice(ids)) for place in places]
    await write(store, lambda unit: unit.journal.append_all(drawn))

    every = await read(store, lambda unit: unit.journal.of_memories(ids))
    counting = await read(store, lambda unit: unit.journal.counting(ids))
    assert {one: fold(counting.get(one, ())) for one in ids} == {one: fold(every.get(one, ())) for one in ids}
    assert not any(one.revoked for operations in counting.values() for one in operations)


async def test_what_the_next_says_anew_at_once_does_not_count(store: Store) -> None:
    secret = Update(content=Content(text="1234", sensitive=True))
    sure = Add(content=Content(text="Likes tea", confidence=0.9))
    said = (sure, Update(content=TEA.content), TEA, secret, Update(content=TEA.content), sure, TEA, Delete(), TEA)

    def write_all(unit: Unit) -> None:
        for intent in said:
            do(unit, ONE, intent)

    await write(store, write_all)
    counting = await read(store, lambda unit: unit.journal.counting([ONE]))
    assert [one.place for one in counting[ONE]] == [1, 2, 4, 5, 7, 8, 9]


def any_operation(dice: random.Random) -> Operation:
    content = Content(
        text=dice.choice(["Likes tea", "Likes coffee"]),
        key=dice.choice([None, "drink"]),
        confidence=dice.choice([0.5, 0.9, 1.0]),
        origin=dice.choice([Origin.MANUAL, Origin.MODEL]),
        sensitive=dice.random() < 0.2,
    )
    says: list[Intent] = [Add(content=content), Update(content=content)]
    rare: list[Intent] = [Pin(content=content), Unpin(), Archive(), Restore(), Delete(), Move(scope=ACCOUNT_SCOPE)]
    intent = dice.choice([*says, *says, *says, *rare])
    revoked = dice.random() < 0.2
    return Operation(place=0, memory_id=ONE, scope=BOT_SCOPE, actor=Actor.MODEL, intent=intent, at=NOW, revoked=revoked)


async def test_one_place_holds_one_operation(store: Store) -> None:
    await write(store, lambda unit: do(unit, ONE, TEA))
    operation = (await read(store, lambda unit: unit.journal.of_memory(ONE)))[0]
    with pytest.raises((DBAPIError, SouvenanceError)):
        await write(store, lambda unit: unit.journal.append(replace(operation, memory_id=TWO)))
    assert await read(store, lambda unit: unit.journal.of_memory(TWO)) == []


async def test_an_operation_stands_while_its_message_is_chosen(store: Store) -> None:
    def turn(unit: Unit) -> MessageId:
        cause = say(unit, 0, part=1)
        do(unit, ONE, TEA, causes=[cause])
        do(unit, TWO, TEA, causes=["msg_other"])
        return cause

    cause = await write(store, turn)
    assert await write(store, lambda unit: unit.journal.settle([cause])) == []

    def unchoose(unit: Unit) -> list[MemoryId]:
        unit.messages.save(replace(unit.messages.get(cause), chosen=False))
        return unit.journal.settle([cause])

    assert await write(store, unchoose) == [ONE]
    assert await read(store, revoked) == [True]
    assert await read(store, lambda unit: folded(unit, ONE)) is None
    assert await write(store, lambda unit: unit.journal.settle([cause])) == []

    def choose(unit: Unit) -> list[MemoryId]:
        unit.messages.save(replace(unit.messages.get(cause), chosen=True))
        return unit.journal.settle([cause])

    assert await write(store, choose) == [ONE]
    assert await read(store, revoked) == [False]
    assert await read(store, lambda unit: revoked(unit, TWO)) == [False]


async def test_an_operation_stands_while_a_fork_still_holds_its_origin(store: Store) -> None:
    def fork(unit: Unit) -> MessageId:
        origin = say(unit, 0)
        say(unit, 0, conversation_id="con_2", origin_id=origin)
        do(unit, ONE, TEA, causes=[origin])
        return origin

    origin = await write(store, fork)

    def let_go(unit: Unit, conversation_id: str) -> list[MemoryId]:
        held = message(0, conversation_id=conversation_id, origin_id=origin, chosen=False)
        unit.messages.save(held)
        return unit.journal.settle([origin])

    assert await write(store, lambda unit: let_go(unit, "con_1")) == []
    assert await write(store, lambda unit: let_go(unit, "con_2")) == [ONE]


async def test_two_conversations_that_let_go_at_once_leave_nothing_standing(store: Store) -> None:
    def fork(unit: Unit) -> MessageId:
        origin = say(unit, 0)
        for number in range(2, 7):
            say(unit, 0, conversation_id=f"con_{number}", origin_id=origin)
        do(unit, ONE, TEA, causes=[origin])
        return origin

    origin = await write(store, fork)

    def let_go(unit: Unit, number: int) -> list[MemoryId]:
        unit.messages.save(message(0, conversation_id=f"con_{number}", origin_id=origin, chosen=False))
        return unit.journal.settle([origin])

    touched = await asyncio.gather(*(write(store, partial(let_go, number=n)) for n in range(1, 7)))
    assert [one for some in touched for one in some] == [ONE]
    assert await read(store, revoked) == [True]


async def test_what_a_reply_wrote_goes_with_the_message_that_it_answered(store: Store) -> None:
    def answer(unit: Unit) -> MessageId:
        asked, answered = say(unit, 0), say(unit, 0, part=1)
        say(unit, 1)
        append(unit, Anchor(message=answered, said=asked))
        return asked

    asked = await write(store, answer)

    def edit(unit: Unit) -> list[MemoryId]:
        unit.messages.save(message(0, origin_id=MessageId("msg_edited")))
        return unit.journal.settle([asked])

    assert await write(store, edit) == [ONE]
    assert await read(store, revoked) == [True]


async def test_session_memory_has_one_holder_whatever_a_fork_holds(store: Store) -> None:
    def fork(unit: Unit) -> MessageId:
        origin = say(unit, 0)
        say(unit, 0, conversation_id="con_2", origin_id=origin)
        append(unit, Anchor(message=origin, held_in=ConversationId("con_2")))
        return origin

    origin = await write(store, fork)

    def let_go(unit: Unit, conversation_id: str) -> list[MemoryId]:
        unit.messages.save(message(0, conversation_id=conversation_id, origin_id=origin, chosen=False))
        return unit.journal.settle([origin])

    assert await write(store, lambda unit: let_go(unit, "con_1")) == []
    assert await write(store, lambda unit: let_go(unit, "con_2")) == [ONE]


async def test_t6_what_hung_on_the_first_half_hangs_on_the_whole_too_but_for_other_branches_session_memory(
    store: Store,
) -> None:
    half, whole, here, fork = MessageId("msg_half"), MessageId("msg_whole"), "con_1", "con_2"
    held = [None, ConversationId(here), ConversationId(fork)]

    def hand_on(unit: Unit) -> list[tuple[Anchor, ...]]:
        for one in held:
            append(unit, Anchor(message=half, said=MessageId("msg_said"), held_in=one))
        unit.journal.hand_on(half, whole, conversation_id=ConversationId(here))
        unit.journal.hand_on(MessageId("msg_nobody"), whole, conversation_id=ConversationId(here))
        return [operation.causes for operation in unit.journal.of_memory(ONE)]

    first, session, theirs = await write(store, hand_on)
    assert [anchor.message for anchor in first] == [anchor.message for anchor in session] == [half, whole]
    assert session[1] == replace(session[0], message=whole)
    assert [anchor.message for anchor in theirs] == [half]


async def test_any_one_of_several_causes_is_enough(store: Store) -> None:
    def merge(unit: Unit) -> list[MessageId]:
        causes = [say(unit, position) for position in (0, 1)]
        do(unit, ONE, TEA, causes=causes)
        return causes

    first, second = await write(store, merge)

    def unchoose(unit: Unit, cause: MessageId) -> list[MemoryId]:
        unit.messages.save(replace(unit.messages.get(cause), chosen=False))
        return unit.journal.settle([first, second, first])

    assert await write(store, lambda unit: unchoose(unit, first)) == []
    assert await write(store, lambda unit: unchoose(unit, second)) == [ONE]


async def test_what_has_no_cause_is_never_revoked(store: Store) -> None:
    def turn(unit: Unit) -> MessageId:
        cause = say(unit, 0, chosen=False)
        do(unit, ONE, TEA, causes=[cause])
        do(unit, ONE, Update(content=Content(text="Likes coffee")), actor=Actor.PERSON)
        return cause

    cause = await write(store, turn)
    assert await write(store, lambda unit: unit.journal.settle([cause])) == [ONE]
    assert await read(store, revoked) == [True, False]
    memory = await read(store, lambda unit: folded(unit, ONE))
    assert memory is not None
    assert memory.text == "Likes coffee"


async def test_the_same_ids_of_another_owner_neither_hold_nor_fall(store: Store) -> None:
    def turn(unit: Unit, *, chosen: bool) -> MessageId:
        cause = say(unit, 0, chosen=chosen)
        do(unit, ONE, TEA, causes=[cause])
        return cause

    cause = await write(store, lambda unit: turn(unit, chosen=False), ALICE)
    await write(store, lambda unit: turn(unit, chosen=True), BOB)
    assert await write(store, lambda unit: unit.journal.settle([cause]), BOB) == []
    assert await write(store, lambda unit: unit.journal.settle([cause]), ALICE) == [ONE]
    assert await read(store, revoked, BOB) == [False]


async def test_a_long_rewind_settles_in_one_go(store: Store) -> None:
    def rewind(unit: Unit) -> list[MemoryId]:
        origins = [MessageId(f"msg_{number}") for number in range(1_200)]
        for number in (0, 700, 1_199):
            do(unit, f"mem_{number}", TEA, causes=[origins[number]])
        do(unit, "mem_5", TEA, causes=[origins[5], say(unit, 3)])
        return unit.journal.settle(origins)

    assert await write(store, rewind) == ["mem_0", "mem_1199", "mem_700"]


async def test_m14_what_fell_stays_revoked_whatever_is_chosen_again(store: Store) -> None:
    def turn(unit: Unit) -> list[int]:
        cause = say(unit, 0, part=1)
        return [do(unit, ONE, TEA, causes=[cause]), do(unit, ONE, Delete(), causes=[cause])]

    first, _ = await write(store, turn)

    def fall_and_settle(unit: Unit) -> list[bool]:
        unit.journal.let_fall([first])
        unit.journal.settle([message(0, 1).message_id])
        return revoked(unit)

    assert await write(store, fall_and_settle) == [True, False]


async def test_t2_what_nobody_holds_any_more_is_forgotten_with_its_causes_and_sources(store: Store) -> None:
    gone, left, kept = MessageId("msg_gone"), MemoryId("mem_left"), MemoryId("mem_kept")

    def turn(unit: Unit) -> None:
        variant, held = say(unit, 0, part=1, chosen=False), say(unit, 1, conversation_id="con_2")
        do(unit, ONE, Add(content=Content(text="Likes figs", evidence=(Evidence(at=NOW),))), causes=[gone])
        do(unit, TWO, TEA, causes=[gone])
        do(unit, TWO, Pin(content=TEA.content), actor=Actor.PERSON)
        do(unit, left, TEA, causes=[gone, variant])
        do(unit, kept, TEA, causes=[gone, held])

    await write(store, turn)
    await write(store, lambda unit: unit.journal.settle([gone]))
    assert await write(store, lambda unit: unit.journal.forget_dead([gone, gone])) == [ONE, TWO]
    journal = await read(store, lambda unit: unit.journal.of_memories([ONE, TWO, left, kept]))
    assert {memory_id: [one.revoked for one in done] for memory_id, done in journal.items()} == {
        TWO: [False],
        left: [True],
        kept: [False],
    }
    assert await read(store, lambda unit: unit.journal.drawn_from([gone])) == [kept, left]
    assert await read(store, lambda unit: unit.memories.evidence([ONE])) == {ONE: ()}
    assert await write(store, lambda unit: unit.journal.forget_dead([gone])) == []


async def test_t7_what_a_reply_wrote_is_forgotten_once_the_message_that_it_answered_is_another(store: Store) -> None:
    def answer(unit: Unit) -> MessageId:
        asked, answered = say(unit, 0), say(unit, 0, part=1)
        append(unit, Anchor(message=answered, said=asked))
        unit.messages.save(replace(unit.messages.get(answered), chosen=False))
        unit.journal.settle([asked])
        return asked

    asked = await write(store, answer)
    assert await write(store, lambda unit: unit.journal.forget_dead([asked])) == []

    def edit(unit: Unit) -> list[MemoryId]:
        unit.messages.save(message(0, origin_id=MessageId("msg_edited")))
        return unit.journal.forget_dead([asked])

    assert await write(store, edit) == [ONE]


async def test_t2_session_memory_is_forgotten_when_its_one_holder_is_gone_whatever_a_fork_holds(store: Store) -> None:
    def fork(unit: Unit) -> MessageId:
        origin = say(unit, 0)
        say(unit, 0, conversation_id="con_2", origin_id=origin, chosen=False)
        append(unit, Anchor(message=origin, held_in=ConversationId("con_2")))
        unit.journal.settle([origin])
        return origin

    origin = await write(store, fork)
    assert await write(store, lambda unit: unit.journal.forget_dead([origin])) == []

    def cut(unit: Unit) -> list[MemoryId]:
        unit.branches.cut(ConversationId("con_2"), after=-1)
        return unit.journal.forget_dead([origin])

    assert await write(store, cut) == [ONE]


async def test_the_same_ids_of_another_owner_neither_keep_nor_go(store: Store) -> None:
    def turn(unit: Unit) -> MessageId:
        cause = say(unit, 0, chosen=False)
        do(unit, ONE, TEA, causes=[cause])
        unit.journal.settle([cause])
        return cause

    for owner in (ALICE, BOB):
        cause = await write(store, turn, owner)

    def rewind(unit: Unit) -> list[MemoryId]:
        unit.branches.cut(ConversationId("con_1"), after=-1)
        return unit.journal.forget_dead([cause])

    assert await write(store, rewind, ALICE) == [ONE]
    assert await read(store, revoked, BOB) == [True]
