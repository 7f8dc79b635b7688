"""The summary's nodes and rules, rebuilds and spending on both databases (S2–S4, S7, C4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from souvenance.domain.ids import ConversationId, MessageId, NodeId, RebuildId, RuleId
from souvenance.domain.limits import Level
from souvenance.domain.summary import (
    FoundBy,
    Node,
    RebuildState,
    Source,
    Spot,
    Tier,
)
from souvenance.errors import NotFound
from souvenance.ports.store import Store, Unit
from tests.conformance import rows
from tests.conformance.facts import read, write
from tests.conformance.rows import ALICE, BOB, CHAT, NOW, later
from tests.conformance.summary_rows import ITEMS, node, rebuild, rule

OTHER = ConversationId("con_2")
REBUILD = RebuildId("reb_1")


def numbers(nodes: list[Node]) -> list[int]:
    return [int(one.node_id[4:]) for one in nodes]


async def live(store: Store, conversation_id: ConversationId = CHAT) -> list[int]:
    return numbers(await read(store, lambda unit: unit.summaries.live(conversation_id)))


async def test_s3_a_node_reads_back_as_it_was_written(store: Store) -> None:
    written = node(
        1,
        0,
        7,
        tier=Tier.LONG_TERM,
        level=Level.KEY_EVENTS,
        model="",
        children=(NodeId("nod_008"), NodeId("nod_009")),
        edited=True,
        stale=frozenset({Spot(2, 1), Spot(0, 0)}),
        version=3,
    )
    await write(store, lambda unit: unit.summaries.put(written))
    assert await read(store, lambda unit: unit.summaries.get(written.node_id)) == written
    changed = replace(written, items=ITEMS[:1], stale=frozenset(), live=False, tokens=9, version=4)
    await write(store, lambda unit: unit.summaries.save(changed))
    assert await read(store, lambda unit: unit.summaries.get(written.node_id)) == changed
    assert await live(store) == []


async def test_live_nodes_come_oldest_first_and_exactly_those_that_were_set(store: Store) -> None:
    nodes = [
        node(3, 8, 9),
        node(2, 4, 7),
        node(1, 0, 3, live=False),
        node(4, 0, 3, conversation_id=OTHER),
    ]
    await write(store, lambda unit: unit.summaries.put_all(nodes))
    assert (await live(store), await live(store, OTHER)) == ([2, 3], [4])
    await write(store, lambda unit: unit.summaries.set_live(CHAT, [NodeId("nod_001"), NodeId("nod_002")]))
    assert (await live(store), await live(store, OTHER)) == ([1, 2], [4])
    assert numbers(await read(store, lambda unit: unit.summaries.all(CHAT))) == [1, 2, 3]
    await write(store, lambda unit: unit.summaries.set_live(CHAT, []))
    assert (await live(store), await live(store, OTHER)) == ([], [4])


async def test_s7_nodes_of_a_rebuild_stand_apart_until_they_are_swapped_in(store: Store) -> None:
    nodes = [
        node(1, 0, 3),
        node(2, 0, 3, rebuild_id=REBUILD),
        node(3, 4, 7, rebuild_id=REBUILD),
    ]
    await write(store, lambda unit: unit.summaries.put_all(nodes))
    await write(store, lambda unit: unit.summaries.set_live(CHAT, [NodeId("nod_001"), NodeId("nod_002")]))

    def seen(unit: Unit) -> tuple[list[int], list[int], list[int]]:
        own, made = unit.summaries.all(CHAT), unit.summaries.all(CHAT, rebuild_id=REBUILD)
        return numbers(unit.summaries.live(CHAT)), numbers(own), numbers(made)

    assert await read(store, seen) == ([1], [1], [2, 3])

    def swap(unit: Unit) -> None:
        unit.summaries.remove(CHAT, [NodeId("nod_001")])
        unit.summaries.swap_in(CHAT, REBUILD)

    await write(store, swap)
    assert await read(store, seen) == ([2, 3], [2, 3], [])


async def test_nodes_are_found_by_the_turns_they_stand_for(store: Store) -> None:
    nodes = [
        node(1, 0, 3, live=False),
        node(2, 4, 7),
        node(3, 8, 8),
        node(4, 0, 7),
        node(5, 6, 9, rebuild_id=REBUILD),
    ]
    await write(store, lambda unit: unit.summaries.put_all(nodes))

    def covering(*positions: int) -> Any:
        return read(store, lambda unit: numbers(unit.summaries.covering(CHAT, positions)))

    assert await covering(2) == [1, 4]
    assert await covering(3, 8) == [1, 4, 5, 3]
    assert await covering(7) == [4, 2, 5]
    assert (await covering(10), await covering()) == ([], [])
    ids = [NodeId("nod_003"), NodeId("nod_001"), NodeId("nod_999")]
    assert numbers(await read(store, lambda unit: unit.summaries.many(CHAT, ids))) == [1, 3]


async def test_nodes_go_by_the_thousand(store: Store) -> None:
    nodes = [node(number, number, number) for number in range(1_200)]
    await write(store, lambda unit: unit.summaries.put_all(nodes))
    gone = [one.node_id for one in nodes[:1_100]]
    await write(store, lambda unit: unit.summaries.set_live(CHAT, gone))
    assert len(await live(store)) == 1_100
    await write(store, lambda unit: unit.summaries.remove(CHAT, gone))
    assert len(await read(store, lambda unit: unit.summaries.all(CHAT))) == 100


async def test_s4_a_rule_is_found_by_its_text_white_space_apart_and_reads_back(store: Store) -> None:
    first, second = (
        rule(2, "Never  call me\nBob.", 0, 4),
        rule(1, "Write in French.", found_by=FoundBy.PERSON),
    )
    closed = replace(
        second,
        closed_by=Source(message_id=MessageId("msg_9"), spot=Spot(9, 0)),
        sources=(Source(message_id=None, spot=Spot(3, 0)),),
        retired=True,
    )
    await write(store, rows.each(lambda unit: unit.summaries.put_rule, [first, second]))
    await write(store, lambda unit: unit.summaries.save_rule(closed))
    assert await read(store, lambda unit: unit.summaries.rules(CHAT)) == [closed, first]
    assert await read(store, lambda unit: unit.summaries.rule_of_text(CHAT, " Never call me Bob. ")) == first
    for chat, text in ((CHAT, "never call me Bob."), (OTHER, "Never call me Bob.")):
        assert await read(store, lambda unit, c=chat, t=text: unit.summaries.rule_of_text(c, t)) is None  # type: ignore[misc]
    await write(store, lambda unit: unit.summaries.remove_rules(CHAT, [first.rule_id]))
    assert await read(store, lambda unit: unit.summaries.rules(CHAT)) == [closed]


async def test_s7_the_newest_rebuild_is_the_one_begun_last(store: Store) -> None:
    first, second = rebuild(2), rebuild(1, begun_at=later(50), edited=2)
    await write(store, rows.each(lambda unit: unit.rebuilds.put, [first, second, rebuild(3, conversation_id=OTHER)]))
    assert await read(store, lambda unit: unit.rebuilds.newest(CHAT)) == second
    done = replace(second, state=RebuildState.FAILED, steps=9, spent_in=5_000_000_000, reason="down", ended_at=NOW)
    await write(store, lambda unit: unit.rebuilds.save(done))
    assert await read(store, lambda unit: unit.rebuilds.get(second.rebuild_id)) == done
    assert await read(store, lambda unit: unit.rebuilds.newest(ConversationId("con_9"))) is None


async def test_c4_spending_adds_up_by_the_hour_over_all_purposes(store: Store) -> None:
    def work(unit: Unit) -> None:
        unit.spending.add(490_000, "summary", calls=1, tokens_in=4_000_000_000, tokens_out=20)
        unit.spending.add(490_000, "summary", calls=2, tokens_in=1, tokens_out=2)
        unit.spending.add(490_000, "deeper", calls=1, tokens_in=5, tokens_out=0)
        unit.spending.add(490_001, "summary", calls=1, tokens_in=7, tokens_out=0)

    await write(store, work)
    found = [await read(store, lambda unit, h=hour: unit.spending.in_hour(h)) for hour in (490_000, 490_001, 1)]  # type: ignore[misc]
    assert found == [4_000_000_028, 7, 0]
    assert await read(store, lambda unit: unit.spending.in_hour(490_000), BOB) == 0
    assert await read(store, lambda unit: unit.spending.in_all(but="deeper")) == 4_000_000_030
    assert await read(store, lambda unit: unit.spending.in_all(but="deeper"), BOB) == 0


async def test_nothing_of_another_owners_summary_is_seen_or_changed(store: Store) -> None:
    def work(unit: Unit) -> None:
        unit.summaries.put(node(1, 0, 3))
        unit.summaries.put_rule(rule(1, "Be brief.", 0))
        unit.rebuilds.put(rebuild())

    await write(store, work)
    for lookup in (
        lambda unit: unit.summaries.get(NodeId("nod_001")),
        lambda unit: unit.rebuilds.get(REBUILD),
        lambda unit: unit.summaries.save(node(1, 0, 4)),
        lambda unit: unit.summaries.save_rule(rule(1, "Be long.", 0)),
        lambda unit: unit.rebuilds.save(rebuild(state=RebuildState.DONE)),
    ):
        with pytest.raises(NotFound):
            await write(store, lookup, BOB)

    def meddle(unit: Unit) -> tuple[int, ...]:
        unit.summaries.set_live(CHAT, [])
        unit.summaries.remove(CHAT, [NodeId("nod_001")])
        unit.summaries.remove_rules(CHAT, [RuleId("rul_001")])
        unit.branches.remove_conversation(CHAT)
        return len(unit.summaries.all(CHAT)), len(unit.summaries.covering(CHAT, [1])), len(unit.summaries.rules(CHAT))

    assert await write(store, meddle, BOB) == (0, 0, 0)
    assert await read(store, lambda unit: unit.summaries.live(CHAT), ALICE) == [node(1, 0, 3)]
    assert await read(store, lambda unit: unit.summaries.rules(CHAT), ALICE) == [rule(1, "Be brief.", 0)]
