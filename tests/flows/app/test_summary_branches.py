"""What stands for a conversation after it was rewound, forked, edited or shortened (S4, S9, S10, T2, T3, T7, V8)."""

from __future__ import annotations

from dataclasses import replace

from souvenance.app.choose_variant import choose_variant
from souvenance.app.delete_message import delete_message
from souvenance.app.due_work import Work
from souvenance.app.edit_message import edit_message
from souvenance.app.fork import fork
from souvenance.app.rewind import rewind
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.ids import NodeId, PromptId, RebuildId, TurnId
from souvenance.domain.sent import ERASED, Part, SentPrompt
from souvenance.domain.summary import Node, Rule, Spot, Tier
from souvenance.ports.store import Unit
from tests.flows.app.house import House
from tests.flows.app.summing_up import check, long_chat, ranges, rule, source, sum_up

ONE_DATABASE = True


async def said(house: House, chat: Conversation) -> dict[tuple[int, int], Message]:
    """The chosen messages by position and part."""
    found = await house.read(lambda unit: unit.messages.from_position(chat.conversation_id, 0))
    return {(message.position, message.part): message for message in found}


async def nodes(house: House, chat: Conversation) -> list[Node]:
    return await house.read(lambda unit: unit.summaries.all(chat.conversation_id))


async def live(house: House, chat: Conversation) -> list[tuple[str, int, int]]:
    return ranges(await house.read(lambda unit: unit.summaries.live(chat.conversation_id)))


async def rules(house: House, chat: Conversation) -> list[Rule]:
    return await house.read(lambda unit: unit.summaries.rules(chat.conversation_id))


async def keep(house: House, *kept: Rule) -> None:
    def work(unit: Unit) -> None:
        for number, one in enumerate(kept):
            unit.summaries.put_rule(replace(one, place=number))

    await house.kit.store.write(house.owner, work, label="test.rules_kept")


async def due(house: House) -> set[tuple[str, str]]:
    return {(one.kind, one.subject) for one in await house.read(lambda unit: unit.due.waiting())}


async def test_s10_a_rewind_leaves_exactly_what_stands_for_the_turns_that_are_left(house: House) -> None:
    house = house.with_limits(balanced_messages=10)
    chat = await long_chat(house, 28, summed_up=24)
    assert await live(house, chat) == [("merged", 0, 7), ("merged", 8, 15), ("merged", 16, 23)]
    twelfth = (await said(house, chat))[12, 0]
    kept = await rewind(house.kit, house.owner, chat.conversation_id, after=twelfth.turn_id)
    assert await live(house, chat) == [("merged", 0, 7), ("recent", 8, 9)]
    assert (kept.summarised_to, kept.window_start, kept.waiting, kept.deepened_to) == (9, 10, 0, 12)
    assert max(node.last for node in await nodes(house, chat)) == 9
    assert await due(house) == set()
    await house.read(lambda unit: check(unit, chat.conversation_id))


async def test_s10_a_rewind_within_the_window_leaves_the_summary_as_it_is(house: House) -> None:
    chat = await long_chat(house, 30, summed_up=24)
    before = await nodes(house, chat)
    kept = await rewind(house.kit, house.owner, chat.conversation_id, after=(await said(house, chat))[26, 0].turn_id)
    assert (kept.summarised_to, kept.window_start, kept.waiting) == (23, 24, 0)
    assert await nodes(house, chat) == before


async def test_s10_t2_everything_rewound_leaves_no_node_and_no_rule(house: House) -> None:
    chat = await long_chat(house, 12, summed_up=8)
    await keep(house, rule(house.kit, chat, "Be brief.", (await said(house, chat))[3, 0]))
    kept = await rewind(house.kit, house.owner, chat.conversation_id)
    assert (kept.summarised_to, kept.window_start, kept.waiting, kept.deepened_to) == (-1, 0, 0, -1)
    assert (await nodes(house, chat), await rules(house, chat)) == ([], [])


async def test_s7_a_rewind_takes_the_nodes_of_a_rebuild_that_reach_past_it(house: House) -> None:
    chat = await long_chat(house, 12, summed_up=8)
    rebuild = RebuildId("reb_1")

    def rebuilt(unit: Unit) -> None:
        for number, node in enumerate(unit.summaries.all(chat.conversation_id)):
            made = replace(node, node_id=NodeId(f"nod_r{number}"), children=(), rebuild_id=rebuild)
            unit.summaries.put(made)

    await house.kit.store.write(house.owner, rebuilt, label="test.rebuilt")
    await rewind(house.kit, house.owner, chat.conversation_id, after=(await said(house, chat))[5, 0].turn_id)
    left = await house.read(lambda unit: unit.summaries.all(chat.conversation_id, rebuild_id=rebuild))
    assert ranges(left) == [("recent", 0, 1), ("recent", 2, 3)]


async def test_s10_v8_a_fork_has_copies_of_what_stands_for_it_and_nothing_is_read_again(house: House) -> None:
    house = house.with_limits(balanced_messages=10)
    chat = await long_chat(house, 28, summed_up=24)
    before = await nodes(house, chat)
    branch = await fork(house.kit, house.owner, (await said(house, chat))[20, 1].message_id)
    assert await live(house, branch) == [("merged", 0, 7), ("merged", 8, 15), ("recent", 16, 17)]
    assert (branch.summarised_to, branch.window_start, branch.waiting, branch.deepened_to) == (17, 18, 0, 20)
    copies = await nodes(house, branch)
    assert {node.node_id for node in copies}.isdisjoint(node.node_id for node in before)
    assert [ranges([one]) for one in copies] == [ranges([one]) for one in before if one.last <= 17]
    by_id = {node.node_id: node for node in copies}
    merged = next(node for node in copies if node.tier is Tier.MERGED and node.first == 8)
    assert ranges([by_id[child] for child in merged.children]) == [("recent", n, n + 1) for n in (8, 10, 12, 14)]
    assert await nodes(house, chat) == before
    assert await due(house) == set()
    await house.read(lambda unit: check(unit, branch.conversation_id))


async def test_s10_the_turns_before_the_newest_are_word_for_word_in_a_fork_at_a_nodes_end(house: House) -> None:
    """W5 wants them whole, so a node that ends there is not among those that end before it."""
    chat = await long_chat(house, 28, summed_up=24)
    branch = await fork(house.kit, house.owner, (await said(house, chat))[17, 1].message_id)
    assert (await live(house, branch))[-1] == ("merged", 8, 15)
    await house.say(branch, "Go on.")
    assert len(house.prompt.window) == 4


async def test_s9_a_stale_node_is_copied_stale_and_its_mending_is_due(house: House) -> None:
    chat = await long_chat(house, 28, summed_up=24)
    there = await said(house, chat)
    await edit_message(house.kit, house.owner, there[9, 0].message_id, "Something else.")
    branch = await fork(house.kit, house.owner, there[20, 1].message_id)
    stale = [ranges([node])[0] for node in await nodes(house, branch) if node.stale == {Spot(9, 0)}]
    assert stale == [("recent", 8, 9), ("merged", 8, 15)]
    assert (Work.REFRESH, branch.conversation_id) in await due(house)


async def test_s4_a_fork_has_the_rules_that_its_messages_gave_or_took_back(house: House) -> None:
    chat = await long_chat(house, 28, summed_up=24)
    there = await said(house, chat)
    await keep(
        house,
        rule(house.kit, chat, "Be brief.", there[3, 0], there[22, 0]),
        rule(house.kit, chat, "Call me Al.", there[22, 0]),
        rule(house.kit, chat, "No rhymes.", there[4, 0], closed_by=there[22, 0]),
        rule(house.kit, chat, "No puns.", there[4, 0], closed_by=there[6, 0]),
        rule(house.kit, chat, "Ilse is left-handed.", Spot(8, 0)),
        rule(house.kit, chat, "Added later.", Spot(24, 0)),
    )
    before = await rules(house, chat)
    branch = await fork(house.kit, house.owner, there[20, 1].message_id)
    here = await said(house, branch)
    found = {one.text: (one.sources, one.closed_by) for one in await rules(house, branch)}
    assert found == {
        "Be brief.": ((source(here[3, 0]),), None),
        "No rhymes.": ((source(here[4, 0]),), None),
        "No puns.": ((source(here[4, 0]),), source(here[6, 0])),
        "Ilse is left-handed.": (((None, Spot(8, 0)),), None),
    }
    assert await rules(house, chat) == before


async def test_s4_t2_a_rewind_takes_rules_and_their_ends_with_the_words(house: House) -> None:
    chat = await long_chat(house, 28, summed_up=24)
    there = await said(house, chat)
    await keep(
        house,
        rule(house.kit, chat, "Be brief.", there[3, 0], there[22, 0]),
        rule(house.kit, chat, "Call me Al.", there[22, 0]),
        rule(house.kit, chat, "No rhymes.", there[4, 0], closed_by=there[22, 0]),
        rule(house.kit, chat, "Added later.", Spot(24, 0)),
    )
    await rewind(house.kit, house.owner, chat.conversation_id, after=there[20, 0].turn_id)
    found = {one.text: (one.sources, one.closed_by) for one in await rules(house, chat)}
    assert found == {"Be brief.": ((source(there[3, 0]),), None), "No rhymes.": ((source(there[4, 0]),), None)}


async def test_s9_t7_an_edit_makes_every_node_over_it_stale_and_checks_its_rules(house: House) -> None:
    chat = await long_chat(house, 28, summed_up=24)
    there = await said(house, chat)
    await keep(
        house,
        rule(house.kit, chat, "Be brief.", there[9, 0], there[3, 0]),
        rule(house.kit, chat, "Call me Al.", there[9, 0]),
        rule(house.kit, chat, "No  rhymes.", there[9, 0]),
        rule(house.kit, chat, "No puns.", there[3, 0], closed_by=there[9, 0]),
        rule(house.kit, chat, "In my own words.", there[9, 0], Spot(9, 0)),
    )
    before = {node.node_id: node for node in await nodes(house, chat)}
    await edit_message(house.kit, house.owner, there[9, 0].message_id, "No\nrhymes. Thanks!")
    changed = [node for node in await nodes(house, chat) if node != before[node.node_id]]
    assert sorted(ranges(changed)) == [("merged", 8, 15), ("recent", 8, 9)]
    assert all(node.stale == {Spot(9, 0)} and node.version == 2 for node in changed)
    assert await due(house) == {(Work.REFRESH, chat.conversation_id)}
    found = {one.text: (one.sources, one.closed_by) for one in await rules(house, chat)}
    assert found == {
        "Be brief.": ((source(there[3, 0]),), None),
        "No  rhymes.": ((source(there[9, 0]),), None),
        "No puns.": ((source(there[3, 0]),), None),
        "In my own words.": ((source(there[9, 0]), (None, Spot(9, 0))), None),
    }


async def test_s9_t3_another_variant_makes_the_nodes_over_it_stale(house: House) -> None:
    chat = await long_chat(house, 12, summed_up=8)
    reply = (await said(house, chat))[2, 1]
    await choose_variant(house.kit, house.owner, reply.turn_id, part=1, variant=1)
    stale = [node for node in await nodes(house, chat) if node.stale == {Spot(2, 1)}]
    assert sorted(ranges(stale)) == [("merged", 0, 7), ("recent", 2, 3)]
    assert await due(house) == {(Work.REFRESH, chat.conversation_id)}
    await choose_variant(house.kit, house.owner, (await said(house, chat))[9, 1].turn_id, part=1, variant=1)
    assert len([node for node in await nodes(house, chat) if node.stale]) == 2


def sent(chat: Conversation, *parts: Part) -> SentPrompt:
    return SentPrompt(
        prompt_id=PromptId("prm_1"),
        conversation_id=chat.conversation_id,
        turn_id=TurnId("trn_1"),
        message_id=None,
        model="tiny",
        at=chat.created_at,
        parts=parts,
    )


async def test_s9_t7_deleted_words_leave_nodes_stale_rules_and_sent_prompts(house: House) -> None:
    chat = await long_chat(house, 28, summed_up=24)
    there = await said(house, chat)
    await keep(
        house,
        rule(house.kit, chat, "Be brief.", there[9, 0], there[3, 0]),
        rule(house.kit, chat, "Call me Al.", there[9, 0]),
        rule(house.kit, chat, "No puns.", there[3, 0], closed_by=there[9, 0]),
    )
    by_range = {ranges([node])[0]: node.node_id for node in await nodes(house, chat)}
    over, beside = by_range["merged", 8, 15], by_range["merged", 0, 7]
    parts = (
        Part(data=b"over", node_id=over),
        Part(data=b"beside", node_id=beside),
        Part(data=b"removed before", node_id=NodeId("nod_gone")),
        Part(data=b"rule", message_id=there[9, 0].message_id),
    )
    prompt = sent(chat, *parts)
    await house.kit.store.write(house.owner, lambda unit: unit.prompts.put(prompt), label="test.sent")
    await delete_message(house.kit, house.owner, there[9, 0].message_id)
    stale = [node for node in await nodes(house, chat) if node.stale == {Spot(9, 0)}]
    assert sorted(ranges(stale)) == [("merged", 8, 15), ("recent", 8, 9)]
    found = {one.text: (one.sources, one.closed_by) for one in await rules(house, chat)}
    assert found == {"Be brief.": ((source(there[3, 0]),), None), "No puns.": ((source(there[3, 0]),), None)}
    left = await house.read(lambda unit: unit.prompts.get(prompt.prompt_id))
    assert [part.data for part in left.parts] == [ERASED, b"beside", ERASED, ERASED]
    await house.read(lambda unit: check(unit, chat.conversation_id))


async def test_t7_a_persons_own_words_outlive_the_message_that_a_rule_was_found_in(house: House) -> None:
    chat = await long_chat(house, 12, summed_up=8)
    message = (await said(house, chat))[2, 0]
    own = replace(rule(house.kit, chat, "Call me Al, never Albert.", Spot(0, 0)), sources=(source(message),))
    await keep(house, own)
    await delete_message(house.kit, house.owner, message.message_id)
    assert [one.sources for one in await rules(house, chat)] == [((None, Spot(2, 0)),)]


async def test_w5_deleting_the_newest_turns_brings_those_before_back_word_for_word(house: House) -> None:
    house = house.with_limits(balanced_messages=10)
    chat = await long_chat(house, 12, summed_up=8)
    there = await said(house, chat)
    for place in ((position, part) for position in (11, 10, 9, 8) for part in (1, 0)):
        await delete_message(house.kit, house.owner, there[place].message_id)
        await house.read(lambda unit: check(unit, chat.conversation_id))
    assert await live(house, chat) == [("recent", 0, 1), ("recent", 2, 3), ("recent", 4, 5)]
    left = await house.read(lambda unit: unit.conversations.get(chat.conversation_id))
    assert (left.last_position, left.window_start, left.waiting) == (7, 6, 0)


async def test_w4_what_waits_comes_back_into_a_window_that_has_room_for_it(house: House) -> None:
    house = house.with_limits(balanced_messages=10)
    chat = await long_chat(house, 30, summed_up=4)

    def lags(unit: Unit) -> None:
        now = unit.conversations.lock(chat.conversation_id)
        waiting = unit.branches.said_between(chat.conversation_id, now.summarised_to, 24)
        unit.conversations.save(replace(now, window_start=24, waiting=waiting))

    await house.kit.store.write(house.owner, lags, label="test.lagged")
    turn = (await said(house, chat))[24, 0]
    kept = await rewind(house.kit, house.owner, chat.conversation_id, after=turn.turn_id)
    # Three quarters of ten messages are three whole turns; the eighteen before them wait.
    assert (kept.window_start, kept.waiting) == (22, 36)
    assert await due(house) == {(Work.SUMMARY, chat.conversation_id)}

    def catches_up(unit: Unit) -> bool:
        return sum_up(unit, house.kit, chat.conversation_id, 18)

    assert await house.kit.store.write(house.owner, catches_up, label="test.summed_up")
    await house.read(lambda unit: check(unit, chat.conversation_id))
