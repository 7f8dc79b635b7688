"""S7, S8: a summary is written anew beside the one that serves, swapped in at once, paused, resumed, cancelled."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from souvenance.app.begin_rebuild import begin_rebuild, start_over
from souvenance.app.change_rules import add_rule, edit_rule, reopen_rule, retire_rule
from souvenance.app.delete_message import delete_message
from souvenance.app.due_work import Work
from souvenance.app.edit_message import edit_message
from souvenance.app.edit_node import NodeEdit, edit_node
from souvenance.app.estimate_rebuild import estimate_rebuild
from souvenance.app.rewind import rewind
from souvenance.app.steer_rebuild import cancel_rebuild, pause_rebuild, read_rebuild, resume_rebuild
from souvenance.app.work import restart_work
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import ConversationId
from souvenance.domain.limits import Level
from souvenance.domain.summary import Node, RebuildState, Tier
from souvenance.errors import ModelUnreachable, NoRebuildRuns, NotFound, NothingToRebuild, RebuildRunning
from souvenance.ports.chat_model import ChatRequest, ModelInfo
from souvenance.testing import ScriptedModel, say
from souvenance.testing.script import Hang, Reply
from souvenance.testing.summaries import summary_answer
from tests.flows.app.house import House
from tests.flows.app.rebuilding import built, every, last, notified, questions, small, step, steps, told, worker
from tests.flows.app.summarising import live, now, rules, summarising, talk

ONE_DATABASE = True


async def begin(house: House, chat: Conversation, level: Level | None = None) -> None:
    await begin_rebuild(house.kit, house.owner, chat.conversation_id, level=level)


def shape(nodes: list[Node]) -> list[tuple[Tier, int, int]]:
    return [(node.tier, node.first, node.last) for node in nodes]


async def test_s7_a_rebuild_writes_the_same_tiers_anew_and_is_swapped_in_at_its_end(house: House) -> None:
    house = small(house)
    chat = await told(house, 24)
    before = await live(house, chat)
    await begin(house, chat)
    rebuild = await last(house, chat)
    await steps(house, rebuild.steps_estimated)
    assert await live(house, chat) == before, "the old summary serves until the swap"
    assert (await last(house, chat)).steps == rebuild.steps_estimated
    await step(house)
    after = await live(house, chat)
    assert shape(after) == shape(before)
    assert not {node.node_id for node in await every(house, chat)} & {node.node_id for node in before}
    done = await last(house, chat)
    assert (done.state, done.ended_at) == (RebuildState.DONE, house.clock.now())
    assert all(earlier.last + 1 == later.first for earlier, later in pairwise(after))
    assert (await now(house, chat)).summarised_to == after[-1].last
    await house.say(chat, "And now?")
    assert "Message 0." in house.prompt.system


async def test_s7_the_person_is_told_when_it_is_done_with_ids_and_figures(house: House) -> None:
    house = small(house)
    chat = await told(house)
    await begin(house, chat)
    await worker(house).work_off()
    done = await last(house, chat)
    (kind, about) = (await notified(house))[-1]
    assert kind == "rebuild_done"
    assert about == {
        "conversation_id": chat.conversation_id,
        "rebuild_id": done.rebuild_id,
        "level": "balanced",
        "nodes": done.steps,
        "tokens_in": done.spent_in,
        "tokens_out": done.spent_out,
        "edited_discarded": 0,
    }


@pytest.mark.parametrize(("level", "turns"), [(Level.BALANCED, 24), (Level.DETAILED, 12)])
async def test_s7_the_estimate_is_within_15_percent_of_what_is_then_sent(
    house: House, level: Level, turns: int
) -> None:
    house = small(house)
    chat = await told(house, turns)
    estimate = await estimate_rebuild(house.kit, house.owner, chat.conversation_id, level=level)
    await begin(house, chat, level)
    await worker(house).work_off()
    done = await last(house, chat)
    assert (done.state, done.level, done.steps) == (RebuildState.DONE, level, estimate.steps)
    assert done.estimated_in == estimate.tokens_in
    assert abs(estimate.tokens_in - done.spent_in) <= 0.15 * done.spent_in
    assert 0 < done.spent_out <= estimate.tokens_out
    assert {node.level for node in await live(house, chat)} == {level}


async def test_s7_the_estimate_names_the_model_its_price_and_the_edits_it_discards(house: House) -> None:
    house = small(house)
    chat = await told(house)
    node = (await live(house, chat))[0]
    edit = NodeEdit(text="## State\n- She lives in Lyon.", seen=node.version)
    await edit_node(house.kit, house.owner, chat.conversation_id, node.node_id, edit)
    estimate = await estimate_rebuild(house.kit, house.owner, chat.conversation_id)
    assert (estimate.model, estimate.price, estimate.edited) == ("scripted", None, 1)
    paid = ModelInfo(name="scripted", provider="testing", context=128_000, price_in=2.0, price_out=8.0)
    dear = house.with_model(ScriptedModel(models=(paid,)))
    estimate = await estimate_rebuild(dear.kit, dear.owner, chat.conversation_id)
    assert estimate.price == (estimate.tokens_in * 2 + estimate.tokens_out * 8) / 1_000_000
    await begin(house, chat)
    await worker(house).work_off()
    assert (await notified(house))[-1][1]["edited_discarded"] == 1
    assert not any(each.edited for each in await every(house, chat))


async def test_s8_after_a_level_change_it_is_written_at_the_new_level(house: House) -> None:
    house = small(house)
    bot = await house.bot()
    chat = await house.chat(bot)
    await talk(house, chat, 12)
    await house.kit.store.write(
        house.owner, lambda unit: unit.levels.set(bot.bot_id, Level.DETAILED), label="level.changed"
    )
    await begin(house, chat)
    await worker(house).work_off()
    assert {node.level for node in await live(house, chat)} == {Level.DETAILED}


async def test_s7_there_is_nothing_to_rebuild_before_anything_is_summarised(house: House) -> None:
    house = summarising(house)
    chat = await house.chat(await house.bot())
    with pytest.raises(NothingToRebuild):
        await begin(house, chat)
    await house.say(chat, "word " * 20_000)
    for verb in (estimate_rebuild, begin_rebuild):
        with pytest.raises(NothingToRebuild, match="Nothing to rebuild"):
            await verb(house.kit, house.owner, chat.conversation_id)
    with pytest.raises(NotFound):
        await begin_rebuild(house.kit, house.owner, ConversationId("con_other"))
    assert await house.read(lambda unit: unit.due.get(Work.REBUILD, chat.conversation_id)) is None


async def test_s7_one_enormous_message_is_extracted_without_asking_and_the_rest_is_asked(house: House) -> None:
    house = small(house)
    chat = await house.chat(await house.bot())
    await house.say(chat, "My sister Anna lives in Lyon. " * 1_000)
    await talk(house, chat, 8)
    narrow = ScriptedModel(respond=answers, models=(ModelInfo(name="scripted", provider="testing", context=6_000),))
    house = house.with_model(narrow)
    estimate = await estimate_rebuild(house.kit, house.owner, chat.conversation_id)
    await begin(house, chat)
    await worker(house).work_off()
    done = await last(house, chat)
    assert done.state is RebuildState.DONE
    assert abs(estimate.tokens_in - done.spent_in) <= 0.15 * done.spent_in
    first = min(await every(house, chat), key=lambda node: (node.first, node.last))
    assert first.is_extracted
    assert any("Lyon" in item.text for item in first.items)


async def test_s7_only_one_rebuild_runs_and_what_does_not_run_cannot_be_steered(house: House) -> None:
    house = small(house)
    chat = await told(house)
    here = (house.kit, house.owner, chat.conversation_id)
    for verb in (pause_rebuild, resume_rebuild, cancel_rebuild, start_over):
        with pytest.raises(NoRebuildRuns):
            await verb(*here)
        with pytest.raises(NotFound):
            await verb(house.kit, house.owner, ConversationId("con_other"))
    with pytest.raises(NotFound):
        await read_rebuild(*here)
    await begin(house, chat)
    for change in (None, pause_rebuild):
        if change is not None:
            await change(*here)
        with pytest.raises(RebuildRunning):
            await begin(house, chat)
    await cancel_rebuild(*here)
    await begin(house, chat)


async def test_s7_paused_it_asks_nothing_and_resumed_it_pays_for_nothing_twice(house: House) -> None:
    house = small(house)
    chat = await told(house)
    asked = len(questions(house))
    await begin(house, chat)
    await steps(house, 5)
    assert (await pause_rebuild(house.kit, house.owner, chat.conversation_id)).state is RebuildState.PAUSED
    await worker(house).work_off()
    assert len(questions(house)) == asked + 5
    await resume_rebuild(house.kit, house.owner, chat.conversation_id)
    await worker(house).work_off()
    done = await last(house, chat)
    assert done.state is RebuildState.DONE
    assert len(questions(house)) == asked + done.steps_estimated


async def test_s7_cancelled_it_leaves_the_old_summary_and_nothing_else(house: House) -> None:
    house = small(house)
    chat = await told(house)
    before = await every(house, chat)
    await begin(house, chat)
    await steps(house, 6)
    cancelled = await cancel_rebuild(house.kit, house.owner, chat.conversation_id)
    assert cancelled.state is RebuildState.CANCELLED
    asked = len(questions(house))
    await worker(house).work_off()
    assert len(questions(house)) == asked
    assert await every(house, chat) == before
    assert await built(house, chat) == []
    assert await house.read(lambda unit: unit.due.every()) == []


async def test_s7_started_over_it_begins_from_nothing_at_the_same_level(house: House) -> None:
    house = small(house)
    chat = await told(house)
    await begin(house, chat, Level.KEY_EVENTS)
    await steps(house, 2)
    first = await last(house, chat)
    second = await start_over(house.kit, house.owner, chat.conversation_id)
    assert (second.level, second.steps) == (Level.KEY_EVENTS, 0)
    old = await house.read(lambda unit: unit.rebuilds.get(first.rebuild_id))
    assert old.state is RebuildState.CANCELLED
    assert await built(house, chat) == []
    await worker(house).work_off()
    assert (await last(house, chat)).state is RebuildState.DONE


async def test_s7_turns_said_meanwhile_are_summarised_only_when_w4_forces_it_and_stay(house: House) -> None:
    house = small(house)
    chat = await told(house)
    up_to = (await now(house, chat)).summarised_to
    await begin(house, chat)
    await steps(house, 3)
    await pause_rebuild(house.kit, house.owner, chat.conversation_id)
    await worker(house).work_off()
    await talk(house, chat, 2)
    assert (await now(house, chat)).summarised_to == up_to
    await talk(house, chat, 8)
    forced = [node for node in await live(house, chat) if node.first > up_to]
    assert forced
    assert (await now(house, chat)).waiting == 0
    await resume_rebuild(house.kit, house.owner, chat.conversation_id)
    await worker(house).work_off()
    assert (await last(house, chat)).state is RebuildState.DONE
    after = await live(house, chat)
    assert all(earlier.last + 1 == later.first for earlier, later in pairwise(after))
    assert {node.node_id for node in forced} <= {node.node_id for node in await every(house, chat)}
    assert (await now(house, chat)).summarised_to == after[-1].last


async def test_s7_a_turn_that_is_spoken_while_it_is_swapped_in_stands_once(house: House) -> None:
    house = small(house)
    chat = await told(house)
    await begin(house, chat)
    await steps(house, (await last(house, chat)).steps_estimated)
    house.model.script(Hang(after=("Spoken ",)))
    turn = asyncio.create_task(house.say(chat, "And now?"))
    await house.model.hanging.wait()
    spoken = house.prompt.system
    await step(house)
    house.model.released.set()
    assert (await turn).text == "Spoken "
    assert (await last(house, chat)).state is RebuildState.DONE
    conversation, nodes = await now(house, chat), await live(house, chat)
    assert conversation.summarised_to == nodes[-1].last
    assert conversation.waiting == 0
    await house.say(chat, "And then?")
    assert ("assistant", "Spoken ") in house.prompt.window
    assert house.prompt.system == spoken, "the same words, rebuilt"


async def test_s7_a_change_during_it_makes_only_the_nodes_it_touches_anew(house: House) -> None:
    house = small(house)
    chat = await told(house)
    await begin(house, chat)
    await steps(house, 8)
    made = {node.node_id for node in await built(house, chat)}
    said = await house.read(lambda unit: unit.messages.span(chat.conversation_id, 2, 2))
    await edit_message(house.kit, house.owner, said[0].message_id, "I moved to Ghent.")
    asked = len(questions(house))
    await worker(house).work_off()
    done = await last(house, chat)
    assert done.state is RebuildState.DONE
    touched = 2
    assert len(questions(house)) == asked + done.steps_estimated - 8 + touched
    nodes = await every(house, chat)
    assert len(made & {node.node_id for node in nodes}) == 8 - touched
    assert not any(node.stale for node in nodes)
    assert any("Ghent" in item.text for node in nodes if node.first <= 2 <= node.last for item in node.items)


async def test_s7_a_message_that_is_deleted_during_it_is_in_no_node_that_it_makes(house: House) -> None:
    house = small(house)
    chat = await told(house)
    await begin(house, chat)
    await steps(house, 8)
    for message in await house.read(lambda unit: unit.messages.span(chat.conversation_id, 1, 1)):
        await delete_message(house.kit, house.owner, message.message_id)
    await worker(house).work_off()
    assert (await last(house, chat)).state is RebuildState.DONE
    texts = [item.text for node in await every(house, chat) for item in node.items]
    assert not any("Message 1." in text for text in texts)
    assert any("Message 2." in text for text in texts)


async def test_s7_a_turn_that_is_deleted_after_its_last_step_is_not_swapped_in(house: House) -> None:
    house = small(house)
    chat = await told(house)
    await begin(house, chat)
    await steps(house, (await last(house, chat)).steps_estimated)
    end = (await now(house, chat)).summarised_to
    for message in await house.read(lambda unit: unit.messages.span(chat.conversation_id, end, end)):
        await delete_message(house.kit, house.owner, message.message_id)
    await worker(house).work_off()
    assert (await last(house, chat)).state is RebuildState.DONE
    assert not any(node.last >= end and f"Message {end}." in str(node.items) for node in await every(house, chat))
    assert not any(node.stale for node in await every(house, chat))


async def test_s7_a_conversation_that_is_rewound_during_it_is_rebuilt_as_far_as_it_goes(house: House) -> None:
    house = small(house)
    chat = await told(house)
    await begin(house, chat)
    await steps(house, 8)
    kept = (await house.read(lambda unit: unit.messages.span(chat.conversation_id, 9, 9)))[0]
    await rewind(house.kit, house.owner, chat.conversation_id, after=kept.turn_id)
    await talk(house, chat, 3)
    await worker(house).work_off()
    assert (await last(house, chat)).state is RebuildState.DONE
    conversation, after = await now(house, chat), await live(house, chat)
    assert all(earlier.last + 1 == later.first for earlier, later in pairwise(after))
    assert (after[-1].last if after else -1) == conversation.summarised_to
    assert conversation.summarised_to < conversation.last_position - 1, "W5"
    assert conversation.waiting == 0


async def test_s7_a_model_that_goes_away_at_the_third_step_fails_it_and_resumed_it_goes_on_there(house: House) -> None:
    house = small(house)
    chat = await told(house)
    await begin(house, chat)
    await steps(house, 2)
    asked, well = len(questions(house)), house
    away = house.with_model(ScriptedModel(respond=lambda _: ModelUnreachable("scripted", reason="refused")))
    await worker(away, work_failures=1).work_off()
    failed = await last(house, chat)
    assert (failed.state, failed.reason, failed.steps) == (RebuildState.FAILED, "model_unreachable", 2)
    kind, about = (await notified(house))[-1]
    assert (kind, about["reason"], about["steps"]) == ("rebuild_failed", "model_unreachable", 2)
    await resume_rebuild(well.kit, well.owner, chat.conversation_id)
    await worker(well).work_off()
    done = await last(house, chat)
    assert (done.state, done.reason) == (RebuildState.DONE, "")
    assert len(questions(well)) == asked + done.steps_estimated - 2


async def test_s7_its_parked_work_started_again_resumes_it_too_and_cancelled_leaves_nothing_parked(
    house: House,
) -> None:
    house = small(house)
    chat = await told(house)
    away = house.with_model(ScriptedModel(models=()))
    for _ in range(2):
        await begin(house, chat)
        await worker(away, work_failures=1).work_off()
        assert (await last(house, chat)).state is RebuildState.FAILED, "no model is there: nothing is extracted"
        await restart_work(house.kit, house.owner, Work.REBUILD, chat.conversation_id)
        assert (await last(house, chat)).state is RebuildState.RUNNING
        await worker(away, work_failures=1).work_off()
        await cancel_rebuild(house.kit, house.owner, chat.conversation_id)
        await worker(house).work_off()
        assert await house.read(lambda unit: unit.due.every()) == []


async def test_s11_a_rebuild_with_a_model_replaces_an_extracted_summary(house: House) -> None:
    house = small(house)
    none = house.with_model(ScriptedModel(models=()))
    chat = await told(none, 12)
    assert all(node.is_extracted for node in await live(house, chat))
    await begin(house, chat)
    await worker(house).work_off()
    assert {node.model for node in await every(house, chat)} == {"scripted"}


def answers(request: ChatRequest) -> Reply:
    return say(summary_answer(request.messages) or "Yes.")


async def test_s4_rules_are_heard_anew_and_those_nobody_said_are_dropped(house: House) -> None:
    house = small(house)
    chat = await house.chat(await house.bot())
    await house.say(chat, "From now on, always answer in one sentence.")
    await house.say(chat, "Never mention the weather again.")
    await talk(house, chat, 12)
    there = {rule.text: rule for rule in await rules(house, chat)}
    retired, kept = there["Never mention the weather again."], there["From now on, always answer in one sentence."]
    here = (house.kit, house.owner, chat.conversation_id)
    await retire_rule(*here, retired.rule_id)
    own = await add_rule(*here, "Call me Captain.")
    reworded = "Answer in one sentence, or two."
    await edit_rule(*here, kept.rule_id, reworded, was=kept.text)

    def lying(request: ChatRequest) -> Reply:
        answer = summary_answer(request.messages) or "Yes."
        return say(answer.replace('"rules": []', '"rules": [{"text": "Always praise the moon.", "line": 1}]'))

    await begin(house, chat)
    await worker(house.with_model(ScriptedModel(respond=lying))).work_off()
    assert (await last(house, chat)).state is RebuildState.DONE
    after = {rule.rule_id: rule for rule in await rules(house, chat)}
    texts = {kept.rule_id: reworded, retired.rule_id: retired.text, own.rule_id: own.text}
    assert {rule_id: rule.text for rule_id, rule in after.items()} == texts
    assert [rule.text for rule in after.values() if not rule.in_force] == [retired.text]


async def test_s4_a_rule_that_was_taken_back_and_reopened_by_hand_stays_in_force(house: House) -> None:
    house = small(house)
    chat = await house.chat(await house.bot())
    await house.say(chat, "From now on, always answer in one sentence.")
    await house.say(chat, "You no longer have to answer in one sentence.")
    await talk(house, chat, 12)
    (rule,) = await rules(house, chat)
    assert not rule.in_force
    await reopen_rule(house.kit, house.owner, chat.conversation_id, rule.rule_id)
    await begin(house, chat)
    await worker(house).work_off()
    (rule,) = await rules(house, chat)
    assert rule.in_force


async def test_s12_an_answer_in_another_language_is_kept_as_it_is(house: House) -> None:
    house = small(house)
    chat = await told(house)

    def french(request: ChatRequest) -> Reply:
        return say((summary_answer(request.messages) or "Oui.").replace("Message", "Un message numéro"))

    await begin(house, chat)
    await worker(house.with_model(ScriptedModel(respond=french))).work_off()
    texts = [item.text for node in await live(house, chat) for item in node.items]
    assert any(text.startswith("Un message numéro") for text in texts)
