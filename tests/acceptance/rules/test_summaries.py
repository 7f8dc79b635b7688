"""S1 to S5 and S11 to S13 through public doors: how a summary comes to be, and what it keeps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from itertools import pairwise

import pytest

from souvenance.testing import Fault, Hang, Reply, Text, say
from souvenance.testing.summaries import summary_answer
from tests.acceptance.rules.summing import SMALL, Shown, Summed, answering, answers
from tests.acceptance.rules.world import World
from tests.flows.app.house import called, calls

pytestmark = pytest.mark.asyncio(loop_scope="module")

RULE = "From now on, always answer in one sentence."
LATER = timedelta(hours=1)
BACK = "You no longer have to answer in one sentence."


@pytest.fixture(scope="module")
def limits() -> Mapping[str, float]:
    return {**SMALL, "rules_tokens": 60, "long_term_tokens_balanced": 100}


async def test_s1_a_batch_is_summarised_after_the_turn_and_no_reply_waits_for_a_model_that_hangs(world: World) -> None:
    one = await Summed.begun(world)
    await one.talk(4)
    assert await one.nodes() == []
    world.upstream.respond_with(answering("rules_in_force", lambda shown: Hang()))
    await world.say(one.chat, "Message 4.")
    asked = len(world.upstream.requests)
    if not one.questions("rules_in_force"):
        await world.upstream.arrived(asked + 1)
    told = await world.say(one.chat, "Message 5.")
    assert told["text"] == "You said: Message 5."
    assert await one.nodes() == [], "its summariser still hangs"
    world.upstream.respond_with(answers)
    world.upstream.release()
    await one.settled()
    await one.worked_off(after=LATER)
    first = (await one.nodes())[0]
    assert (first["tier"], first["first"], first["model"]) == ("recent", 0, "scripted")


async def test_s2_four_recent_become_one_merged_and_four_merged_are_folded_into_the_one_long_term(
    world: World, long: Summed
) -> None:
    nodes = await long.nodes()
    assert [node["tier"] for node in nodes] == ["long_term", "merged", "recent", "recent"]
    assert [(node["first"], node["last"]) for node in nodes] == [(0, 31), (32, 35), (36, 36), (37, 37)]
    newer = await long.opened(nodes[0])
    while len(newer) == 1:
        newer = await long.opened(newer[0])
    assert [(node["tier"], node["first"], node["last"]) for node in newer] == [
        ("long_term", 0, 15),
        *[("merged", first, first + 3) for first in (16, 20, 24, 28)],
    ]
    merged = await long.opened(nodes[1])
    assert [(node["tier"], node["first"]) for node in merged] == [("recent", first) for first in (32, 33, 34, 35)]
    other = await Summed.begun(world)
    assert "<summary>" not in (await other.prompt()).system, "only within its conversation"


async def test_s3_a_node_records_what_it_stands_for_and_every_line_where_it_comes_from(world: World) -> None:
    one = await Summed.brought(world, turns=11)
    said = await world.messages(one.chat)
    merged, *_ = await one.nodes()
    assert (merged["tier"], merged["level"], merged["model"], merged["edited"]) == (
        "merged",
        "balanced",
        "scripted",
        False,
    )
    assert merged["prompt_version"].startswith("merge-")
    assert merged["tokens"] > 0
    assert merged["made_at"]
    assert (merged["first_message_id"], merged["last_message_id"]) == (said[0]["id"], said[7]["id"])
    world.upstream.respond_with(answering("left", lambda shown: Fault(status=503)))
    await world.ok("PATCH", f"/messages/{said[2]['id']}", {"text": "Something else."})
    await one.settled()
    stale, *_ = await one.nodes()
    lines = [line for line in merged["text"].splitlines() if "Message 1." in line]
    assert len(stale["not_sent"]) == len(lines) == 1, "the line that comes from it, and no other"
    assert stale["not_sent"][0] in lines[0]
    (child,) = [node for node in await one.opened(merged) if node["stale"]]
    assert (child["first"], child["last"], child["not_sent"]) == (1, 1, stale["not_sent"])


async def test_s4_a_rule_is_kept_once_word_for_word_through_every_tier_and_closed_when_taken_back(world: World) -> None:
    one = await Summed.brought(world, f"{RULE}  It suits me.", "Hm.", RULE, turns=21)
    assert "long_term" in {node["tier"] for node in await one.nodes()}
    assert await one.rules() == [RULE]
    assert f"<rules>\n- {RULE}\n</rules>" in (await one.prompt()).system
    said = await world.messages(one.chat)
    (rule,) = (await one.ask("GET"))["rules"]["items"]
    assert rule["message_ids"] == [said[0]["id"], said[4]["id"]], "the same rule again adds a source"
    await one.talk(1, BACK)
    await one.talk(5)
    (rule,) = (await one.ask("GET"))["rules"]["items"]
    assert (rule["text"], rule["in_force"], rule["taken_back"]) == (RULE, False, True)
    assert "<rules>" not in (await one.prompt("Well?")).system


async def test_s4_past_their_budget_the_person_is_asked_which_rules_to_retire(world: World) -> None:
    rules = [f"Always call the {number}th of my seven brave little boats by its own full name." for number in range(6)]
    one = await Summed.brought(world, *rules, turns=11)
    assert await one.rules() == rules, "none is lost for it"
    told = (await world.ok("GET", "/notifications"))["items"][0]
    assert (told["kind"], told["about"]["conversation_id"], told["about"]["limit"]) == ("rules_full", one.chat, 60)
    assert told["about"]["tokens"] > 60
    first = (await one.ask("GET"))["rules"]["items"][0]
    await one.ask("PUT", f"/rules/{first['id']}/in-force", {"in_force": False})
    assert await one.rules() == rules[1:]


def _promising(shown: Shown) -> Reply:
    """A summary in which whoever said that they promise something has an open promise."""
    told = json.loads(summary_answer([{"content": json.dumps(shown)}]) or "{}")
    lines = enumerate(shown["messages"], 1)
    told["promises"] = [
        {"text": one["text"], "first": number, "last": number, "kept": False}
        for number, one in lines
        if one["text"].startswith("I promise")
    ]
    return say(json.dumps(told))


async def test_s5_a_long_term_node_past_its_bound_is_condensed_and_rules_and_open_promises_stay(world: World) -> None:
    world.upstream.respond_with(answering("rules_in_force", _promising))
    promise = "I promise to bring the red lantern back."
    words = "In chapter {number} the fleet sails on towards the northern isles."
    earlier = len(Summed(world=world, chat="").questions("stays"))
    one = await Summed.brought(world, RULE, promise, turns=21, words=words)
    long_term = (await one.nodes())[0]
    assert (long_term["tier"], long_term["last"]) == ("long_term", 15)
    assert long_term["tokens"] <= 100
    assert f"- {promise}" in long_term["text"]
    assert await one.rules() == [RULE]
    before = (await one.opened(long_term))[0]
    assert (before["tier"], before["last"]) == ("long_term", 15), "it condenses the version before it"
    assert before["tokens"] > 100 * 1.25
    assert len(one.questions("stays")) - earlier <= 1, "once per fold"


async def test_s12_into_a_summary_goes_what_a_person_saw_and_nothing_else(world: World) -> None:
    one = await Summed.begun(world, system_prompt="You are a SYSTEM owl.", settings={"text_calls": True})
    wait, seen = calls(called("remember", text="TOOLED")), Text(chunks=("Seen.",), reasoning=("THOUGHT",))
    told = await world.say(one.chat, "Asked.", wait, seen)
    await world.again(told["done"]["turn"]["id"], say("Chosen.", ' bcz_remember("CALLED", "x")'))
    await world.say(one.chat, "/remember COMMANDED")
    await one.talk(6, "Je vais bien, merci.")
    shown = [each for each in one.questions("rules_in_force") if each["messages"][0]["text"] == "Asked."]
    assert [each["text"].strip() for each in shown[0]["messages"]] == ["Asked.", "Chosen."]
    texts = json.dumps([each["messages"] for each in one.questions("rules_in_force")])
    assert not [word for word in ("SYSTEM", "TOOLED", "Seen.", "THOUGHT", "CALLED", "COMMANDED") if word in texts]
    question = next(prompt for prompt in reversed(world.prompts) if "rules_in_force" in prompt.newest)
    assert "Write in the language of the conversation" in question.system


@pytest.mark.parametrize(
    ("level", "kept"),
    [("key_events", "No scene-by-scene detail"), ("balanced", "moderate detail"), ("detailed", "a longer timeline")],
)
async def test_s13_each_level_says_what_it_keeps_and_how_much(world: World, level: str, kept: str) -> None:
    before = len(world.upstream.requests)
    await Summed.brought(world, turns=11, level=level)
    batches = [prompt for prompt in world.prompts[before:] if "rules_in_force" in prompt.newest]
    assert all(kept in prompt.system for prompt in batches)
    tokens = {"key_events": 350, "balanced": 600, "detailed": 1_000}[level]
    assert all(f"about {tokens:d} tokens at most" in prompt.system for prompt in batches)


async def test_s13_every_node_that_no_higher_one_covers_is_sent_with_every_message_oldest_first(
    world: World, long: Summed
) -> None:
    nodes = await long.nodes()
    assert [node["tier"] for node in nodes] == ["long_term", "merged", "recent", "recent"]
    system = (await (await long.forked()).prompt()).system
    places = [system.index(f"<{node['tier']}>\n{node['text'].partition(chr(10))[0]}") for node in nodes]
    assert places == sorted(places)
    for node in nodes:
        for line in node["text"].splitlines():
            assert line in system
    assert all(earlier["last"] + 1 == later["first"] for earlier, later in pairwise(nodes))
