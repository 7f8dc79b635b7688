"""S9: what a summary says of a message that changed is sent no more, and mended with the fewest calls."""

from __future__ import annotations

from souvenance.app.delete_message import delete_message
from souvenance.app.edit_message import edit_message
from souvenance.app.edit_node import NodeEdit, edit_node
from souvenance.app.rewind import rewind
from souvenance.app.settle_stale import Decision, settle_stale
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.summary import Tier
from souvenance.testing import say
from tests.flows.app.house import House
from tests.flows.app.summarising import live, now, rules, summarising, talk, work

ONE_DATABASE = True


async def message(house: House, chat: Conversation, position: int) -> Message:
    said = await house.read(lambda unit: unit.messages.span(chat.conversation_id, position, position))
    return said[0]


async def summarised(house: House) -> tuple[House, Conversation]:
    """A conversation with all three tiers."""
    house = summarising(house).with_limits(balanced_messages=10, batch_messages=2)
    chat = await house.chat(await house.bot())
    await house.say(chat, "My parrot is called Zebulon.", say("How nice."))
    await talk(house, chat, 23)
    return house, chat


async def test_s9_deleted_words_are_in_no_prompt_from_the_next_one_on(house: House) -> None:
    house, chat = await summarised(house)
    await house.say(chat, "And?")
    assert "Zebulon" in house.prompt.text
    await delete_message(house.kit, house.owner, (await message(house, chat, 0)).message_id)
    await house.say(chat, "And now?")
    assert "Zebulon" not in house.prompt.text
    await work(house)
    await house.say(chat, "And later?")
    assert "Zebulon" not in house.prompt.text
    assert all(not node.stale for node in await live(house, chat))


async def test_s9_an_edited_message_is_told_anew_with_at_most_one_call_a_tier(house: House) -> None:
    house, chat = await summarised(house)
    before = await live(house, chat)
    await work(house)
    await edit_message(house.kit, house.owner, (await message(house, chat, 0)).message_id, "My parrot is called Otto.")
    asked = len(house.model.requests)
    await work(house)
    assert len(house.model.requests) - asked <= 3
    await house.say(chat, "And now?")
    assert "Zebulon" not in house.prompt.text
    assert "Otto" in house.prompt.system
    after = await live(house, chat)
    assert [node.node_id for node in after[: len(before)]] == [node.node_id for node in before]


async def test_s9_until_it_is_mended_the_messages_themselves_stand_for_a_stale_recent_node(house: House) -> None:
    house = summarising(house)
    chat = await house.chat(await house.bot())
    await talk(house, chat, 22)
    position = (await now(house, chat)).summarised_to
    await edit_message(house.kit, house.owner, (await message(house, chat, position)).message_id, "It was Tuesday.")
    await house.say(chat, "And now?")
    assert "<messages>\n- user: Message 0." in house.prompt.system
    assert "- user: It was Tuesday." in house.prompt.system
    assert "<recent>" not in house.prompt.system


async def test_s9_t2_a_version_that_a_rewind_brings_back_stale_is_mended(house: House) -> None:
    house = summarising(house).with_limits(balanced_messages=10, batch_messages=2)
    chat = await house.chat(await house.bot())
    await talk(house, chat, 38)
    await edit_message(house.kit, house.owner, (await message(house, chat, 3)).message_id, "It was Tuesday.")
    await work(house)
    versions = await live(house, chat)
    await rewind(house.kit, house.owner, chat.conversation_id, after=(await message(house, chat, 20)).turn_id)
    older = await live(house, chat)
    assert older[0].stale
    assert older[0].last < versions[0].last
    await work(house)
    assert not any(node.stale for node in await live(house, chat))


async def test_s9_t7_deleted_words_are_in_no_node_once_the_summary_is_mended(house: House) -> None:
    house = summarising(house).with_limits(balanced_messages=10, batch_messages=2)
    chat = await house.chat(await house.bot())
    await house.say(chat, "My parrot is called Zebulon.", say("How nice."))
    await talk(house, chat, 38)
    await delete_message(house.kit, house.owner, (await message(house, chat, 0)).message_id)
    await work(house)
    kept = await house.read(lambda unit: unit.summaries.all(chat.conversation_id))
    assert sum(node.tier is Tier.LONG_TERM for node in kept) > 1
    assert not any("Zebulon" in item.text for node in kept for item in node.items)


async def test_s4_what_an_older_message_takes_back_does_not_end_a_rule_that_was_said_again(house: House) -> None:
    house = summarising(house)
    chat = await house.chat(await house.bot())
    for said in ("Always answer in French.", "Sure.", "Always answer in French."):
        await house.say(chat, said)
    await talk(house, chat, 19)
    words = "You don't have to answer in French anymore."
    await edit_message(house.kit, house.owner, (await message(house, chat, 1)).message_id, words)
    await work(house)
    (rule,) = await rules(house, chat)
    assert rule.in_force


async def test_s9_z3_an_early_edit_sends_few_nodes_however_often_the_summary_was_folded(house: House) -> None:
    house = summarising(house).with_limits(balanced_messages=10, batch_messages=2)
    chat = await house.chat(await house.bot())
    await talk(house, chat, 38)
    await house.say(chat, "And?")
    before = house.prompt.system.count("<merged>")
    await edit_message(house.kit, house.owner, (await message(house, chat, 3)).message_id, "It was Tuesday.")
    await house.say(chat, "And now?")
    assert house.prompt.system.count("<merged>") == before + 4
    assert house.prompt.system.count("<long_term>") == 1


async def test_s9_s2_a_decision_that_nobody_makes_holds_no_roll_up_back_for_ever(house: House) -> None:
    house = summarising(house).with_limits(balanced_messages=10, batch_messages=2, nodes_merged=2)
    chat = await house.chat(await house.bot())
    await house.say(chat, "My parrot is called Zebulon.", say("How nice."))
    await talk(house, chat, 6)
    here = chat.conversation_id
    node = (await live(house, chat))[0]
    edited = await edit_node(
        house.kit, house.owner, here, node.node_id, NodeEdit(text="- A parrot.", seen=node.version)
    )
    await edit_message(house.kit, house.owner, (await message(house, chat, 0)).message_id, "My parrot is called Otto.")
    await talk(house, chat, 12)
    nodes = await live(house, chat)
    assert len(nodes) < 7
    assert node.node_id not in {one.node_id for one in nodes}
    there = await house.read(lambda unit: unit.summaries.get(edited.node.node_id))
    assert there.edited
    await settle_stale(house.kit, house.owner, here, there.node_id, Decision.REWRITE, seen=there.version)
    await work(house)
    await house.say(chat, "And now?")
    assert "Otto" in house.prompt.system
