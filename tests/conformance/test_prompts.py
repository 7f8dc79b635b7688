"""Epochs, short ids, sent prompts and calibrations on both databases (C1, C5, C6, V1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from souvenance.domain.cost import Calibration
from souvenance.domain.epoch import Epoch, EpochLine
from souvenance.domain.ids import BotId, ConversationId, MemoryId, MessageId, NodeId, OwnerId, PromptId, TurnId
from souvenance.domain.sent import ERASED, LeftOut, Part, SentPrompt
from souvenance.errors import NotFound
from souvenance.ports.store import Store, Unit
from tests.conformance.facts import converse, read, write
from tests.conformance.rows import BOB, CHAT, NOW, later

OTHER = ConversationId("con_2")
DAY = timedelta(days=1)


def part(text: str, **names: Any) -> Part:
    return Part(data=text.encode(), **names)


def prompt(number: int, *parts: Part, **other: Any) -> SentPrompt:
    """Sent `number` seconds after NOW, without a reply unless told otherwise."""
    given: dict[str, Any] = {
        "conversation_id": CHAT,
        "turn_id": TurnId("trn_1"),
        "message_id": None,
        "at": later(number),
        **other,
    }
    return SentPrompt(prompt_id=PromptId(f"prm_{number:05}"), model="tiny", parts=parts, **given)


def put(unit: Unit, prompts: Sequence[SentPrompt]) -> None:
    for one in prompts:
        unit.prompts.put(one)


def bodies(unit: Unit, *numbers: int) -> list[bytes]:
    found = [unit.prompts.get(PromptId(f"prm_{number:05}")) for number in numbers]
    return [b"".join(one.data for one in each.parts) for each in found]


async def test_an_epoch_is_kept_for_each_speaker_and_the_newest_stands(store: Store) -> None:
    lines = tuple(
        EpochLine(memory_id=MemoryId(f"mem_{n}"), version=n, pinned=n == 1, text=f"- [m{n}] Thé\n🍵", short=n)
        for n in (1, 2)
    )
    first = Epoch(conversation_id=CHAT, bot_id=BotId("bot_1"), number=1, place=5, basis={"level": "b"}, lines=lines)
    bare = Epoch(conversation_id=CHAT, bot_id=None, number=1, place=6, others={OwnerId("own_org"): 3})

    def save(unit: Unit) -> None:
        for epoch in (first, bare, replace(first, number=2, lines=lines[:1])):
            unit.epochs.save(epoch)

    await write(store, save)
    assert await read(store, lambda unit: unit.epochs.get(CHAT, BotId("bot_1"))) == replace(
        first, number=2, lines=lines[:1]
    )
    assert await read(store, lambda unit: unit.epochs.get(CHAT, None)) == bare
    assert await read(store, lambda unit: unit.epochs.get(OTHER, None)) is None
    assert await read(store, lambda unit: unit.epochs.get(CHAT, None), BOB) is None


async def test_short_ids_belong_to_one_conversation(store: Store) -> None:
    one, two, three = (MemoryId(f"mem_{n}") for n in (1, 2, 3))

    def give(unit: Unit) -> None:
        unit.short_ids.put(CHAT, {one: 1, two: 2})
        unit.short_ids.put(CHAT, {three: 7})
        unit.short_ids.put(OTHER, {one: 9})
        unit.short_ids.put(OTHER, {})

    await write(store, give)
    assert await read(store, lambda unit: unit.short_ids.of(CHAT, [three, one])) == {one: 1, three: 7}
    assert await read(store, lambda unit: unit.short_ids.of(OTHER, [one, two])) == {one: 9}
    assert await read(store, lambda unit: unit.short_ids.last(CHAT)) == 7
    assert await read(store, lambda unit: unit.short_ids.last(CHAT), BOB) == 0


async def test_a_prompt_reads_back_byte_for_byte(store: Store) -> None:
    whole = prompt(
        1,
        part('{"messages":['),
        Part(data=bytes(range(256)), message_id=MessageId("msg_1")),
        part("- Aime le thé 🍵", memory_id=MemoryId("mem_1")),
        part(","),
        part("", message_id=MessageId("msg_2")),
        part(","),
        part("]}"),
        message_id=MessageId("msg_9"),
        layers={"window": 20, "account": 3},
        left_out=(LeftOut(layer="unpinned", item="mem_7", tokens=12),),
        estimated_in=40,
        estimated_out=50,
        reported_in=41,
        round=2,
        epoch=3,
    )
    await write(store, lambda unit: unit.prompts.put(whole))
    assert await read(store, lambda unit: unit.prompts.get(whole.prompt_id)) == whole
    with pytest.raises(NotFound):
        await read(store, lambda unit: unit.prompts.get(whole.prompt_id), BOB)


async def test_prompts_share_the_parts_of_their_conversation(store: Store) -> None:
    system = part("You are Ilse.")
    sent = [
        prompt(1, system, part("one")),
        prompt(2, system, part("one"), part("two")),
        prompt(3, part("You are Bruno."), part("two")),
        prompt(4, system, part("two"), part("one"), part("two")),
        prompt(5, system, conversation_id=OTHER),
        prompt(6, part("one", memory_id=MemoryId("mem_1")), part("one", message_id=MessageId("mem_1"))),
    ]
    await write(store, partial(put, prompts=sent))
    for one in sent:
        assert await read(store, lambda unit, one=one: unit.prompts.get(one.prompt_id)) == one  # type: ignore[misc]


async def test_the_prompts_of_a_reply_come_first_to_last(store: Store) -> None:
    reply = MessageId("msg_9")
    sent = [prompt(n, part(f"{n}"), message_id=reply, at=NOW, round=r) for n, r in ((1, 2), (2, 0), (3, 1))]
    await write(store, partial(put, prompts=[*sent, prompt(4, part("4"), message_id=MessageId("msg_8"))]))
    found = await read(store, lambda unit: unit.prompts.of_message(reply))
    assert found == [replace(one, parts=()) for one in (sent[1], sent[2], sent[0])]
    assert await read(store, lambda unit: unit.prompts.of_message(reply), BOB) == []


async def test_the_newest_prompts_of_a_conversation_come_first(store: Store) -> None:
    sent = [prompt(n, part("x"), conversation_id=OTHER if n == 4 else CHAT) for n in range(1, 6)]
    await write(store, partial(put, prompts=sent))
    found = await read(store, lambda unit: unit.prompts.of_conversation(CHAT, limit=3))
    assert [one.prompt_id for one in found] == ["prm_00005", "prm_00003", "prm_00002"]
    assert {one.parts for one in found} == {()}


async def test_forgetting_keeps_the_parts_that_later_prompts_share(store: Store) -> None:
    system = part("You are Ilse.")

    def fill(unit: Unit) -> None:
        converse(unit)
        converse(unit, OTHER)
        put(
            unit,
            [
                prompt(1, system, part("one"), at=NOW - 3 * DAY),
                prompt(2, system, part("two"), at=NOW - 2 * DAY),
                prompt(3, system, part("two"), part("three")),
                prompt(4, system, part("one"), at=NOW - 4 * DAY, conversation_id=OTHER),
            ],
        )

    await write(store, fill)
    await write(store, fill, BOB)
    assert await write(store, lambda unit: unit.prompts.forget_before(NOW - DAY, limit=50)) == 3
    assert await read(store, lambda unit: bodies(unit, 3)) == [b"You are Ilse.twothree"]
    for number in (1, 2, 4):
        with pytest.raises(NotFound):
            await read(store, lambda unit, number=number: bodies(unit, number))  # type: ignore[misc]
    assert await read(store, lambda unit: bodies(unit, 1, 2, 3, 4), BOB) == [
        b"You are Ilse.one",
        b"You are Ilse.two",
        b"You are Ilse.twothree",
        b"You are Ilse.one",
    ]
    await write(store, lambda unit: unit.prompts.put(prompt(5, system, part("one"))))
    assert await read(store, lambda unit: bodies(unit, 5)) == [b"You are Ilse.one"]


async def test_forgetting_takes_the_oldest_first_and_no_more_than_asked(store: Store) -> None:
    sent = [prompt(n, part(f"{n}"), at=NOW - n * DAY) for n in range(1, 6)]
    await write(store, partial(put, prompts=sent))
    assert await write(store, lambda unit: unit.prompts.forget_before(NOW, limit=2)) == 2
    left = await read(store, lambda unit: unit.prompts.of_conversation(CHAT, limit=9))
    assert [one.prompt_id for one in left] == ["prm_00003", "prm_00002", "prm_00001"]
    assert await write(store, lambda unit: unit.prompts.forget_before(NOW, limit=9)) == 3
    assert await write(store, lambda unit: unit.prompts.forget_before(NOW, limit=9)) == 0


async def test_a_calibration_is_the_models_and_the_owners(store: Store) -> None:
    learnt = Calibration(replies=3, estimated=100.5, reported=117.25)
    await write(store, lambda unit: unit.calibrations.save("tiny", Calibration(replies=1)))
    await write(store, lambda unit: unit.calibrations.save("tiny", learnt))
    assert await read(store, lambda unit: unit.calibrations.get("tiny")) == learnt
    assert await read(store, lambda unit: unit.calibrations.get("huge")) == Calibration()
    assert await read(store, lambda unit: unit.calibrations.get("tiny"), BOB) == Calibration()


async def test_t7_the_texts_of_summary_nodes_are_told_and_blanked_alone(store: Store) -> None:
    nodes = [part("They met.", node_id=NodeId(f"nod_{n}")) for n in (1, 2)]
    nobodys = part("They met.")
    sent = prompt(1, nodes[0], nobodys, nodes[1])
    await write(store, lambda unit: put(unit, [sent, prompt(2, nodes[0], conversation_id=OTHER)]))
    await write(store, lambda unit: put(unit, [sent]), BOB)
    assert (await read(store, lambda unit: unit.prompts.get(sent.prompt_id))).parts == sent.parts
    told = [await read(store, partial(nodes_sent, conversation_id=chat)) for chat in (CHAT, OTHER)]
    assert told == [{"nod_1", "nod_2"}, {"nod_1"}]
    await write(store, lambda unit: unit.prompts.blank_nodes([NodeId("nod_1"), NodeId("nod_9")]))
    left = (await read(store, lambda unit: unit.prompts.get(sent.prompt_id))).parts
    assert [one.data for one in left] == [ERASED, b"They met.", b"They met."]
    assert await read(store, lambda unit: bodies(unit, 2)) == [ERASED]
    assert await read(store, partial(nodes_sent, conversation_id=CHAT)) == {"nod_1", "nod_2"}
    assert (await read(store, lambda unit: unit.prompts.get(sent.prompt_id), BOB)).parts == sent.parts


def nodes_sent(unit: Unit, conversation_id: ConversationId) -> set[NodeId]:
    return unit.prompts.nodes_sent(conversation_id)
