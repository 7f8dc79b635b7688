"""A conversation cut, copied and taken away on both databases (T2, T4, T7, D1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from souvenance.domain.epoch import Epoch
from souvenance.domain.ids import BotId, ConversationId, MemoryId, MessageId, PromptId, TurnId
from souvenance.domain.journal import Anchor
from souvenance.domain.memory import Scope
from souvenance.domain.sent import ERASED, Part, SentPrompt
from souvenance.errors import NotFound
from souvenance.ports.memories import Kind
from souvenance.ports.store import Store, Unit
from tests.conformance import rows, summary_rows
from tests.conformance.facts import keep, memory, read, write
from tests.conformance.rows import ALICE, BOB, CHAT

FORK = ConversationId("con_2")


def chat(unit: Unit, turns: int, conversation_id: str = CHAT) -> None:
    """A conversation of whole turns, each reply with a variant that is not chosen."""
    unit.conversations.put(rows.conversation(conversation_id))
    unit.turns.put_all([rows.turn(n, conversation_id) for n in range(turns)])
    unit.messages.put_all(
        [
            rows.message(n, part, variant=variant, conversation_id=conversation_id, chosen=not variant)
            for n in range(turns)
            for part, variant in ((0, 0), (1, 0), (1, 1))
        ]
    )


def copy(unit: Unit, position: int, part: int = 0, *, chosen: bool = True) -> None:
    """A message of CHAT in FORK."""
    origin = rows.message(position, part).message_id
    unit.messages.put(rows.message(position, part, conversation_id=FORK, origin_id=origin, chosen=chosen))


def sent(unit: Unit, number: int, *messages: MessageId, conversation_id: str = CHAT, turn: int = 0) -> None:
    unit.prompts.put(
        SentPrompt(
            prompt_id=PromptId(f"prm_{number}"),
            conversation_id=ConversationId(conversation_id),
            turn_id=rows.turn(turn, conversation_id).turn_id,
            message_id=rows.message(turn, 1, conversation_id=conversation_id).message_id,
            model="tiny",
            at=rows.later(number),
            parts=(Part(data=b"Rules"), *(Part(data=one.encode(), message_id=one) for one in messages)),
        )
    )


def body(unit: Unit, number: int) -> list[bytes]:
    return [part.data for part in unit.prompts.get(PromptId(f"prm_{number}")).parts]


def said(position: int, part: int = 0) -> MessageId:
    return rows.message(position, part).message_id


def summed_up(unit: Unit, here: ConversationId) -> tuple[int, int, bool]:
    return len(unit.summaries.all(here)), len(unit.summaries.rules(here)), unit.rebuilds.newest(here) is not None


async def test_what_a_conversation_holds_is_told_in_order_with_its_variants(store: Store) -> None:
    await write(store, lambda unit: chat(unit, 3))
    await write(store, lambda unit: chat(unit, 5), BOB)
    held = await read(store, lambda unit: unit.branches.held(CHAT, after=1))
    assert [(one.position, one.part, one.chosen) for one in held] == [(2, 0, True), (2, 1, True), (2, 1, False)]
    assert [one.message_id for one in held] == [said(2), said(2, 1), rows.message(2, 1, variant=1).message_id]
    assert len(await read(store, lambda unit: unit.branches.held(CHAT))) == 9


async def test_a_cut_takes_later_turns_of_one_conversation_of_one_owner(store: Store) -> None:
    for owner in (ALICE, BOB):
        for here in (CHAT, FORK):
            await write(store, partial(chat, turns=3, conversation_id=here), owner)
    await write(store, lambda unit: unit.branches.cut(CHAT, after=0))

    def left(unit: Unit) -> list[tuple[int, int]]:
        found = ((unit.branches.held(here), unit.turns.after(here, -1)) for here in (CHAT, FORK))
        return [(len(messages), len(turns)) for messages, turns in found]

    assert await read(store, left) == [(3, 1), (9, 3)]
    assert await read(store, left, BOB) == [(9, 3), (9, 3)]


async def test_turns_before_and_after_a_position_are_found(store: Store) -> None:
    await write(store, lambda unit: unit.turns.put_all([rows.turn(n) for n in (0, 2, 5)]))

    def work(unit: Unit) -> tuple[list[int | None], list[int]]:
        before = [unit.turns.before(CHAT, position) for position in (0, 2, 4, 9)]
        after = unit.turns.after(CHAT, 0)
        return [None if turn is None else turn.position for turn in before], [turn.position for turn in after]

    assert await read(store, work) == ([None, 0, 2, 5], [2, 5])


async def test_copies_of_a_message_are_found_by_their_origin(store: Store) -> None:
    def work(unit: Unit) -> None:
        chat(unit, 2)
        copy(unit, 0)
        copy(unit, 0, 1, chosen=False)

    await write(store, work)
    origins = [said(0), said(0, 1), said(1), MessageId("msg_none")]
    here = await read(store, lambda unit: unit.branches.copies(CHAT, origins))
    there = await read(store, lambda unit: unit.branches.copies(FORK, origins))
    assert {origin: one.message_id for origin, one in here.items()} == {origin: origin for origin in origins[:3]}
    assert {origin: one.position for origin, one in there.items()} == {said(0): 0}
    await write(store, lambda unit: unit.branches.cut(CHAT, after=-1))
    still = await read(store, lambda unit: unit.branches.still_held(origins))
    assert still == {said(0), said(0, 1)}
    assert await read(store, lambda unit: unit.branches.still_held(origins), BOB) == set()


async def test_single_messages_and_empty_turns_go(store: Store) -> None:
    await write(store, lambda unit: chat(unit, 2))
    await write(store, lambda unit: chat(unit, 2), BOB)
    ids = [said(0), said(0, 1), rows.message(0, 1, variant=1).message_id]
    await write(store, lambda unit: unit.branches.remove_messages(ids))
    await write(store, lambda unit: unit.branches.remove_turn(rows.turn().turn_id))
    assert len(await read(store, lambda unit: unit.branches.held(CHAT))) == 3
    assert [turn.position for turn in await read(store, lambda unit: unit.turns.after(CHAT, -1))] == [1]
    assert len(await read(store, lambda unit: unit.branches.held(CHAT), BOB)) == 6


async def test_an_ended_epoch_holds_for_no_prompt_and_its_number_goes_on(store: Store) -> None:
    epochs = [
        Epoch(conversation_id=here, bot_id=bot, number=4, place=1, basis={"level": "b"})
        for here in (CHAT, FORK)
        for bot in (BotId("bot_1"), None)
    ]
    await write(store, rows.each(lambda unit: unit.epochs.save, epochs))
    await write(store, lambda unit: unit.branches.end_epochs(CHAT))

    def work(unit: Unit) -> list[tuple[int, bool]]:
        found = [unit.epochs.get(one.conversation_id, one.bot_id) for one in epochs]
        return [(one.number, bool(one.basis)) for one in found if one is not None]

    assert await read(store, work) == [(4, False), (4, False), (4, True), (4, True)]


async def test_a_conversation_goes_with_all_that_is_its_own_and_nothing_of_others(store: Store) -> None:
    scope = Scope.of_conversation(CHAT)

    def work(unit: Unit) -> None:
        for here in (CHAT, FORK):
            chat(unit, 2, here)
            unit.epochs.save(Epoch(conversation_id=here, bot_id=None, number=1, place=1))
            unit.short_ids.put(here, {MemoryId("mem_1"): 1})
            unit.scopes.lock(Scope.of_conversation(here))
            unit.summaries.put(summary_rows.node(int(here[4:]), 0, 0, conversation_id=here))
            unit.summaries.put_rule(summary_rows.rule(int(here[4:]), "Be brief.", 0, conversation_id=here))
            unit.rebuilds.put(summary_rows.rebuild(int(here[4:]), conversation_id=here))
        unit.due.put(rows.due(owner_id=unit.owner_id, conversation_id=CHAT))

    for owner in (ALICE, BOB):
        await write(store, work, owner)
    await write(store, lambda unit: unit.branches.remove_conversation(CHAT))

    def left(unit: Unit) -> list[object]:
        return [
            len(unit.branches.held(CHAT)),
            len(unit.turns.after(CHAT, -1)),
            unit.epochs.get(CHAT, None) is not None,
            unit.short_ids.last(CHAT),
            unit.scopes.read([scope]).get(scope) is not None and unit.scopes.read([scope])[scope].version,
            len(unit.due.waiting()),
            *summed_up(unit, CHAT),
        ]

    assert await read(store, left) == [0, 0, False, 0, 0, 0, 0, 0, False]
    assert await read(store, left, BOB) == [6, 2, True, 1, 1, 1, 1, 1, True]
    assert len(await read(store, lambda unit: unit.branches.held(FORK))) == 6
    assert await read(store, lambda unit: summed_up(unit, FORK)) == (1, 1, True)
    with pytest.raises(NotFound):
        await read(store, lambda unit: unit.conversations.get(CHAT))


async def test_what_was_sent_for_turns_or_replies_is_forgotten_with_parts_that_only_it_had(store: Store) -> None:
    def work(unit: Unit) -> None:
        sent(unit, 1, said(0), turn=0)
        sent(unit, 2, said(0), said(1), turn=1)
        sent(unit, 3, said(0), said(1), said(2), turn=2)
        sent(unit, 4, said(0), conversation_id=FORK, turn=1)

    await write(store, work)
    await write(store, lambda unit: unit.prompts.forget_turns(CHAT, [rows.turn(1).turn_id, TurnId("trn_none")]))
    await write(store, lambda unit: unit.prompts.forget_replies(CHAT, [said(2, 1)]))

    def left(unit: Unit) -> Sequence[str]:
        return [one.prompt_id for here in (CHAT, FORK) for one in unit.prompts.of_conversation(here, limit=9)]

    assert await read(store, left) == ["prm_1", "prm_4"]
    assert await read(store, lambda unit: body(unit, 1)) == [b"Rules", said(0).encode()]
    await write(store, lambda unit: unit.prompts.forget_conversation(CHAT))
    assert await read(store, left) == ["prm_4"]
    assert await read(store, lambda unit: body(unit, 4)) == [b"Rules", said(0).encode()]


async def test_a_blanked_message_stands_in_no_prompt_of_its_owner(store: Store) -> None:
    def work(unit: Unit) -> None:
        sent(unit, 1, said(0), said(1))
        sent(unit, 2, said(0), conversation_id=FORK)

    for owner in (ALICE, BOB):
        await write(store, work, owner)
    await write(store, lambda unit: unit.prompts.blank([said(0)]))
    assert await read(store, lambda unit: body(unit, 1)) == [b"Rules", ERASED, said(1).encode()]
    assert await read(store, lambda unit: body(unit, 2)) == [b"Rules", ERASED]
    assert await read(store, lambda unit: body(unit, 2), BOB) == [b"Rules", said(0).encode()]


async def test_t4_what_stands_by_nobody_any_more_is_let_go_and_what_fell_stays_down(store: Store) -> None:
    variant = rows.message(0, 1, variant=1).message_id

    def work(unit: Unit) -> None:
        chat(unit, 2)
        copy(unit, 1)
        keep(unit, memory(1), causes=[said(0, 1)])
        keep(unit, memory(2), causes=[variant])
        keep(unit, memory(3), causes=[said(1)])
        unit.journal.settle([variant])
        held = unit.branches.held(CHAT)
        unit.branches.cut(CHAT, after=-1)
        unit.journal.let_go([one.origin_id for one in held])

    await write(store, work)

    def left(unit: Unit) -> list[tuple[bool, tuple[Anchor, ...]]]:
        return [
            (one.revoked, one.causes)
            for number in (1, 2, 3)
            for one in unit.journal.of_memory(memory(number).memory_id)
        ]

    assert await read(store, left) == [
        (False, ()),
        (True, (Anchor(message=variant),)),
        (False, (Anchor(message=said(1)),)),
    ]
    drawn = await read(store, lambda unit: unit.journal.drawn_from([said(1), variant]))
    assert drawn == sorted([memory(2).memory_id, memory(3).memory_id])
    await write(store, lambda unit: unit.journal.settle([said(0, 1), said(1), variant]))
    assert [revoked for revoked, _ in await read(store, left)] == [False, True, False]


async def test_copied_items_are_found_by_the_words_of_what_they_are_copies_of(store: Store) -> None:
    def work(unit: Unit) -> None:
        unit.conversations.put(rows.conversation())
        unit.conversations.put(rows.conversation(FORK))
        unit.messages.put_all([rows.message(n, conversation_id=here) for here in (CHAT, FORK) for n in range(600)])
        unit.index.put_new(Kind.MESSAGE, {said(n): ["red", "fig", "fig"] if n == 7 else ["red"] for n in range(600)})
        unit.index.copy(Kind.MESSAGE, {said(n): rows.message(n, conversation_id=FORK).message_id for n in range(600)})

    await write(store, work)

    def found(unit: Unit) -> tuple[set[tuple[str, int, int]], tuple[int, ...], int]:
        hits = unit.index.find_messages(["fig"], conversation_id=None, leave_out=None, leave_out_from=0)
        return {(p.item, p.frequency, p.length) for p in hits.postings}, hits.frequencies, hits.items

    copied = rows.message(7, conversation_id=FORK).message_id
    assert await read(store, found) == ({(said(7), 2, 3), (copied, 2, 3)}, (2,), 1_200)
    await write(store, lambda unit: unit.index.remove_all(Kind.MESSAGE, [said(n) for n in range(600)]))
    assert await read(store, found) == ({(copied, 2, 3)}, (1,), 600)
