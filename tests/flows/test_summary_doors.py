"""A conversation's summary in a person's hands, over HTTP on both databases (S4, S6, S8, S9, V4, C1)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import pytest_asyncio

from souvenance.app.begin_rebuild import begin_rebuild
from souvenance.app.change_rules import add_rule
from souvenance.app.conversations import NewConversation, make_conversation
from souvenance.domain.ids import ConversationId, NodeId, OwnerId
from souvenance.domain.owner import Owner, OwnerKind
from souvenance.domain.summary import Rule
from souvenance.ports.store import Unit
from souvenance.settings import Settings
from souvenance.testing import ScriptedUpstream, say
from souvenance.testing.http_exchange import RecordedRequest
from souvenance.testing.script import Reply
from souvenance.testing.summaries import summary_answer
from souvenance.wiring import House
from tests.flows.serving import Served, served

ONE_DATABASE = True

# One turn leaves with each batch, so that a few turns make every tier.
SMALL = {"balanced_messages": 6.0, "edited_node_tokens": 8_000.0, "rules_tokens": 40.0}


def answers(request: RecordedRequest) -> Reply:
    messages = json.loads(request.body)["messages"]
    return say(summary_answer(messages) or f"Reply to: {messages[-1]['content']}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """One conversation with Mira and the requests of its model; what is due is done after every turn."""

    server: Served
    upstream: ScriptedUpstream
    chat_id: str

    async def talk(self, turns: int, words: str = "Message {number}.") -> None:
        for number in range(turns):
            body = {"text": words.format(number=number), "stream": False}
            answer = await self.server.rest.post(f"/conversations/{self.chat_id}/turns", json=body)
            assert answer.status_code == 200, answer.text
            await self.work()

    async def work(self) -> None:
        await self.server.house.worker().work_off()

    async def ask(self, method: str, path: str = "", body: object = None) -> Any:
        """Of the summary's own paths; the JSON of an answer that must succeed."""
        answer = await self.server.rest.request(method, f"{self.path}{path}", json=body)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    async def refused(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
        answer = await self.server.rest.request(method, f"{self.path}{path}", json=body)
        return answer.status_code, answer.json()

    @property
    def path(self) -> str:
        return f"/conversations/{self.chat_id}/summary"

    async def nodes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.ask("GET"))["nodes"]
        return found

    async def prompt(self, text: str = "And now?") -> str:
        """The system message of the next turn's request."""
        await self.talk(1, text)
        asked = [json.loads(request.body)["messages"] for request in self.upstream.requests]
        return next(str(one[0]["content"]) for one in reversed(asked) if one[-1]["content"] == text)

    async def messages(self) -> list[dict[str, Any]]:
        answer = await self.server.rest.get(f"/conversations/{self.chat_id}/messages", params={"limit": 200})
        found: list[dict[str, Any]] = answer.json()["items"][::-1]
        return found


@pytest_asyncio.fixture
async def chat(both_settings: Settings, upstream: ScriptedUpstream) -> AsyncIterator[Chat]:
    upstream.respond_with(answers)
    async with served(replace(both_settings, limits=SMALL)) as server:
        await server.bot()
        chat_id = (await server.rest.post("/conversations", json={"bot": "Mira"})).json()["id"]
        yield Chat(server=server, upstream=upstream, chat_id=chat_id)


async def test_s6_every_tier_is_read_with_its_figures_and_each_message_is_in_one_place(chat: Chat) -> None:
    empty = await chat.ask("GET")
    assert (empty["nodes"], empty["summarised_to"], empty["counts"]["messages"]) == ([], -1, 0)
    await chat.talk(7)
    summary, said = await chat.ask("GET"), await chat.messages()
    counts = summary["counts"]
    assert counts["messages"] == len(said) == counts["summarised"] + counts["waiting"] + counts["in_window"] == 14
    merged, *recent = summary["nodes"]
    assert [merged["tier"], *(node["tier"] for node in recent)] == ["merged"] + ["recent"] * len(recent)
    assert counts["summarised"] == 2 * (summary["summarised_to"] + 1) > 0
    ends = [message["id"] for message in said if message["position"] in (merged["first"], merged["last"])]
    assert (merged["first_message_id"], merged["last_message_id"]) == (ends[0], ends[-1])
    assert (merged["model"], merged["level"], merged["edited"], merged["stale"]) == (
        "scripted",
        "balanced",
        False,
        False,
    )
    assert summary["tokens"] == {
        "long_term": 0,
        "merged": merged["tokens"],
        "recent": sum(node["tokens"] for node in recent),
    }
    opened = await chat.ask("GET", f"/nodes/{merged['id']}")
    assert opened["node"] == merged
    assert [child["id"] for child in opened["children"]] == merged["children"]
    assert opened["children"][0]["text"].startswith("## Timeline\n- ")
    assert summary["deeper"] == {"active": True, "reasons": []}


async def test_s6_two_who_edit_a_node_at_once_get_both_texts(chat: Chat) -> None:
    await chat.talk(3)
    node = (await chat.nodes())[0]
    texts = ("## State\n- Anna lives in Lyon.", "## State\n- Anna lives in Nice.")
    path = f"{chat.path}/nodes/{node['id']}"
    done = await asyncio.gather(*(chat.server.rest.put(path, json={"text": t, "seen": 1}) for t in texts))
    assert sorted(answer.status_code for answer in done) == [200, 409]
    kept = next(answer.json() for answer in done if answer.status_code == 200)
    refused = next(answer.json() for answer in done if answer.status_code == 409)
    assert (refused["code"], {refused["details"]["theirs"], refused["details"]["yours"]}) == ("stale_edit", set(texts))
    assert refused["details"]["theirs"] == kept["text"] == (await chat.nodes())[0]["text"]
    assert (kept["edited"], kept["version"]) == (True, 2)


async def test_s6_an_edit_to_nothing_or_past_the_bound_changes_nothing_and_says_both_sizes(chat: Chat) -> None:
    await chat.talk(3)
    before = await chat.nodes()
    path = f"/nodes/{before[0]['id']}"
    for nothing in ("", " \n ", "## State\n"):
        status, problem = await chat.refused("PUT", path, {"text": nothing, "seen": 1})
        assert (status, problem["code"]) == (422, "empty_text")
    status, problem = await chat.refused("PUT", path, {"text": "word " * 8_500, "seen": 1})
    assert (status, problem["code"]) == (422, "text_too_long")
    details = problem["details"]
    assert (details["field"], details["limit"], details["unit"]) == ("text", 8_000, "tokens")
    assert str(details["size"]) in problem["detail"]
    assert details["size"] > 8_000
    status, problem = await chat.refused("PUT", path, {"text": "a\0b", "seen": 1})
    assert (status, problem["code"]) == (422, "unusable_text")
    assert await chat.nodes() == before


async def test_s6_an_edit_with_a_heading_of_no_part_is_refused_and_the_four_are_named(chat: Chat) -> None:
    await chat.talk(3)
    before = await chat.nodes()
    written = {"text": "## State\n- #1 of all is tea\n## Notes\n- Anna lives in Nice.", "seen": 1}
    status, problem = await chat.refused("PUT", f"/nodes/{before[0]['id']}", written)
    assert (status, problem["code"], problem["details"]["field"]) == (422, "bad_value", "text")
    assert "text is '## Notes'" in problem["detail"]
    assert "## Promises, ## References, ## State, ## Timeline" in problem["detail"]
    assert await chat.nodes() == before


async def test_s6_what_a_person_wrote_is_sent_next_and_is_what_the_merge_is_made_of(chat: Chat) -> None:
    await chat.talk(3)
    node = (await chat.nodes())[0]
    written = f"{node['text']}\n## State\n- The dragon is called Nidhogg."
    edited = await chat.ask("PUT", f"/nodes/{node['id']}", {"text": written, "seen": node["version"]})
    assert "## State\n- The dragon is called Nidhogg.\n## Timeline\n" in edited["text"]
    assert "Nidhogg" in await chat.prompt()
    await chat.talk(2)
    merged = (await chat.nodes())[0]
    assert (merged["tier"], node["id"] in merged["children"]) == ("merged", True)
    asked = [json.loads(request.body)["messages"][-1]["content"] for request in chat.upstream.requests]
    shown = [text for text in asked if text.startswith("{") and "items" in json.loads(text)]
    assert any("The dragon is called Nidhogg." in text for text in shown)


async def test_s7_a_node_that_a_rebuild_is_about_to_discard_takes_no_edit(chat: Chat) -> None:
    await chat.talk(3)
    node, house = (await chat.nodes())[0], chat.server.house
    begun = await begin_rebuild(house.kit, house.owner_id, ConversationId(chat.chat_id))
    edit = {"text": "## State\n- Anna lives in Nice.", "seen": node["version"]}
    status, problem = await chat.refused("PUT", f"/nodes/{node['id']}", edit)
    assert (status, problem["code"], problem["details"]["rebuild_id"]) == (409, "rebuild_running", begun.rebuild_id)
    assert (await chat.ask("GET"))["rebuilding"] is True
    await chat.work()
    (node, *_) = await chat.nodes()
    kept = await chat.ask("PUT", f"/nodes/{node['id']}", {**edit, "seen": node["version"]})
    assert kept["text"] == edit["text"]


async def test_s4_a_persons_rules_are_sent_word_for_word_until_they_are_retired(chat: Chat) -> None:
    await chat.talk(3)
    rule = await chat.ask("POST", "/rules", {"text": "  Never, ever: rhyme <b>! "})
    assert (rule["text"], rule["found_by"], rule["by_hand"]) == ("Never, ever: rhyme <b>!", "person", True)
    assert "<rules>\n- Never, ever: rhyme \\x3cb>!\n</rules>" in await chat.prompt("One")
    path = f"/rules/{rule['id']}"
    edited = await chat.ask("PUT", path, {"text": "Rhyme always.", "was": rule["text"]})
    assert "- Rhyme always.\n" in await chat.prompt("Two")
    assert (await chat.ask("PUT", f"{path}/in-force", {"in_force": False}))["retired"] is True
    assert "Rhyme always." not in await chat.prompt("Three")
    again = await chat.ask("POST", "/rules", {"text": "Rhyme  always."})
    assert (again["id"], again["text"], again["in_force"]) == (rule["id"], edited["text"], True)
    assert "- Rhyme always.\n" in await chat.prompt("Four")
    await chat.ask("DELETE", path)
    assert "Rhyme always." not in await chat.prompt("Five")
    assert (await chat.ask("GET"))["rules"] == {"items": [], "tokens": 0, "tokens_limit": 40}


async def test_s4_a_rule_that_was_taken_back_is_listed_and_can_be_reopened(chat: Chat) -> None:
    await chat.talk(1, "From now on, always answer in one sentence.")
    await chat.talk(1, "You no longer have to answer in one sentence.")
    await chat.talk(2)
    (rule,) = (await chat.ask("GET"))["rules"]["items"]
    said = await chat.messages()
    assert (rule["text"], rule["message_ids"]) == ("From now on, always answer in one sentence.", [said[0]["id"]])
    assert (rule["in_force"], rule["taken_back_in"]) == (False, said[2]["id"])
    reopened = await chat.ask("PUT", f"/rules/{rule['id']}/in-force", {"in_force": True})
    assert (reopened["in_force"], reopened["taken_back"]) == (True, False)
    assert "- From now on, always answer in one sentence.\n" in await chat.prompt()


async def test_s4_a_rule_that_cannot_be_kept_is_refused_with_the_reason(chat: Chat) -> None:
    first = await chat.ask("POST", "/rules", {"text": "Be brief."})
    second = await chat.ask("POST", "/rules", {"text": "Be kind."})
    for text, code in (("x" * 301, "text_too_long"), (" ", "empty_text"), ("two\nlines", "unusable_text")):
        assert (await chat.refused("POST", "/rules", {"text": text}))[1]["code"] == code
    path = f"/rules/{second['id']}"
    status, problem = await chat.refused("PUT", path, {"text": "Be  brief.", "was": "Be kind."})
    assert (status, problem["details"]["id"]) == (409, first["id"])
    status, problem = await chat.refused("PUT", path, {"text": "Be calm.", "was": "Be cruel."})
    assert (status, problem["details"]["theirs"], problem["details"]["yours"]) == (409, "Be kind.", "Be calm.")
    assert [rule["text"] for rule in (await chat.ask("GET"))["rules"]["items"]] == ["Be brief.", "Be kind."]


async def test_s4_whoever_adds_rules_past_their_budget_is_asked_once_which_to_retire(chat: Chat) -> None:
    added = [await chat.ask("POST", "/rules", {"text": f"Rule {number}: " + "be brief " * 6}) for number in range(4)]
    rules = (await chat.ask("GET"))["rules"]
    assert rules["tokens"] > rules["tokens_limit"] == 40
    assert [rule["text"] for rule in rules["items"]] == [rule["text"] for rule in added], "none is dropped"
    told = (await chat.server.rest.get("/notifications")).json()["items"]
    assert [(one["kind"], one["about"]["conversation_id"]) for one in told] == [("rules_full", chat.chat_id)]


@pytest.mark.parametrize(("decision", "kept"), [("keep", True), ("rewrite", False)])
async def test_s9_an_edited_node_that_turns_stale_waits_for_the_persons_decision(
    chat: Chat, decision: str, *, kept: bool
) -> None:
    await chat.talk(3)
    node = (await chat.nodes())[0]
    written = {"text": "## State\n- The secret is wombats.", "seen": node["version"]}
    await chat.ask("PUT", f"/nodes/{node['id']}", written)
    message = (await chat.messages())[0]
    changed = await chat.server.rest.patch(f"/messages/{message['id']}", json={"text": "Something else."})
    assert changed.is_success, changed.text
    await chat.work()
    stale = (await chat.nodes())[0]
    assert (stale["id"], stale["stale"], stale["awaits_decision"]) == (node["id"], True, True)
    assert (stale["text"], stale["not_sent"]) == (written["text"], ["The secret is wombats."])
    assert "wombats" not in await chat.prompt("Hm?")
    path = f"/nodes/{node['id']}/decision"
    settled = await chat.ask("POST", path, {"decision": decision, "seen": stale["version"]})
    assert (settled["awaits_decision"], settled["edited"]) == (False, kept)
    await chat.work()
    assert ("wombats" in (await chat.ask("GET", f"/nodes/{node['id']}"))["node"]["text"]) is kept
    assert ("wombats" in await chat.prompt("Well?")) is kept
    newest = (await chat.ask("GET", f"/nodes/{node['id']}"))["node"]
    assert newest["stale"] is False
    status, problem = await chat.refused("POST", path, {"decision": decision, "seen": newest["version"]})
    assert (status, problem["code"]) == (409, "conflict")
    assert (await chat.refused("POST", path, {"decision": decision, "seen": 1}))[1]["code"] == "stale_edit"


async def test_s8_a_level_change_says_whether_a_rebuild_is_on_offer(chat: Chat) -> None:
    await chat.talk(3)
    nodes = len(await chat.nodes())
    changed = await chat.ask("PUT", "/level", {"level": "detailed"})
    assert changed == {"level": "detailed", "at_other_levels": nodes, "rebuild_offered": True}
    summary = await chat.ask("GET")
    assert (summary["level"], summary["at_other_levels"]) == ("detailed", nodes)
    assert {node["level"] for node in summary["nodes"]} == {"balanced"}
    back = await chat.ask("PUT", "/level", {"level": "balanced"})
    assert (back["at_other_levels"], back["rebuild_offered"]) == (0, False)
    assert (await chat.refused("PUT", "/level", {"level": "everything"}))[0] == 422
    bare = (await chat.server.rest.post("/conversations", json={"model": "scripted"})).json()["id"]
    refused = await chat.server.rest.put(f"/conversations/{bare}/summary/level", json={"level": "detailed"})
    assert (refused.status_code, refused.json()["code"]) == (403, "level_fixed")


async def test_v4_lines_of_summaries_that_already_say_it_are_shown(chat: Chat) -> None:
    await chat.talk(3, "My sister Anna lives in Lyon, number {number}.")
    await chat.talk(2)
    node = (await chat.nodes())[0]
    asked = {"text": "sister Anna lives in Lyon", "bot": "Mira"}
    lines = (await chat.server.rest.post("/memories/similar", json=asked)).json()["summary_lines"]
    assert (lines[0]["conversation_id"], lines[0]["node_id"]) == (chat.chat_id, node["id"])
    assert lines[0]["text"].startswith("My sister Anna lives in Lyon")
    assert lines[0]["matched"] == lines[0]["asked"]
    assert all("Lyon" in line["text"] for line in lines)
    await chat.server.bot("Ottilie")
    others = await chat.server.rest.post("/memories/similar", json={**asked, "bot": "Ottilie"})
    assert others.json()["summary_lines"] == []
    everywhere = await chat.server.rest.post("/memories/similar", json={"text": asked["text"]})
    assert everywhere.json()["summary_lines"] == lines


async def test_o3_what_a_challenge_was_summed_up_to_is_shown_only_from_itself(chat: Chat) -> None:
    new = {"bot": "Mira", "flags": {"challenge": True}}
    challenge = replace(chat, chat_id=(await chat.server.rest.post("/conversations", json=new)).json()["id"])
    await challenge.talk(3, "The riddle is a clock, number {number}.")
    asked = {"text": "the riddle is a clock"}
    for target, shown in (
        ({"bot": "Mira"}, False),
        ({}, False),
        ({"scope": f"conversation:{challenge.chat_id}"}, True),
    ):
        found = await chat.server.rest.post("/memories/similar", json={**asked, **target})
        assert bool(found.json()["summary_lines"]) is shown
    summary = await challenge.ask("GET")
    assert (summary["deeper"]["active"], summary["deeper"]["reasons"][0]["rule"]) == (False, "O3")


async def test_c1_a_prompts_layers_and_parts_name_what_the_summary_takes_of_it(chat: Chat) -> None:
    await chat.ask("POST", "/rules", {"text": "Be brief."})
    await chat.talk(8)
    reply = (await chat.messages())[-1]
    (figures,) = (await chat.server.rest.get(f"/messages/{reply['id']}/prompts")).json()["items"]
    assert {"rules", "merged", "recent", "window"} <= {layer for layer, tokens in figures["layers"].items() if tokens}
    parts = (await chat.server.rest.get(f"/prompts/{figures['id']}")).json()["parts"]
    named = [part["node_id"] for part in parts if part["node_id"] is not None]
    opened = [await chat.ask("GET", f"/nodes/{node_id}") for node_id in named]
    assert [one["node"]["first"] for one in opened] == sorted(one["node"]["first"] for one in opened)
    assert opened[0]["node"]["tier"] == "merged"


async def test_w7_a_node_that_does_not_fit_gives_way_whole_and_is_listed_by_its_id(chat: Chat) -> None:
    await chat.talk(3)
    node = (await chat.nodes())[0]
    await chat.ask("PUT", f"/nodes/{node['id']}", {"text": "- " + "word " * 7_500, "seen": node["version"]})
    assert "word word" not in await chat.prompt()
    reply = (await chat.messages())[-1]
    (figures,) = (await chat.server.rest.get(f"/messages/{reply['id']}/prompts")).json()["items"]
    left = {(one["layer"], one["item"]): one["tokens"] for one in figures["left_out"]}
    assert left["recent", node["id"]] > 7_000


STRANGE = ("nod_nobody", "rul_nobody", "x" * 300, "Ä", "%2e%2e", "nod_1 OR 1=1")


async def paths_of(chat: Chat, node: str, rule: str) -> set[int]:
    """The statuses of everything that can be asked of a node and a rule by these ids."""
    asked = (
        ("GET", f"/nodes/{node}", None),
        ("PUT", f"/nodes/{node}", {"text": "- x", "seen": 1}),
        ("POST", f"/nodes/{node}/decision", {"decision": "keep", "seen": 1}),
        ("PUT", f"/rules/{rule}", {"text": "x", "was": "Be brief."}),
        ("PUT", f"/rules/{rule}/in-force", {"in_force": False}),
        ("DELETE", f"/rules/{rule}", None),
    )
    return {(await chat.refused(method, path, body))[0] for method, path, body in asked}


async def test_i8_what_is_another_owners_or_conversations_is_not_there_nor_are_strange_ids(chat: Chat) -> None:
    await chat.talk(3)
    nodes, house = await chat.nodes(), chat.server.house
    node = nodes[0]
    rule = await chat.ask("POST", "/rules", {"text": "Be brief."})
    for raw in STRANGE:
        assert await paths_of(chat, raw, raw) == {404}
        assert (await chat.server.rest.get(f"/conversations/{raw}/summary")).status_code == 404
    other = replace(chat, chat_id=(await chat.server.rest.post("/conversations", json={"bot": "Mira"})).json()["id"])
    assert await paths_of(other, node["id"], rule["id"]) == {404}
    stranger = OwnerId("own_stranger")
    theirs = await theirs_like(house, stranger, node["id"])
    assert await paths_of(chat, "nod_theirs", theirs.rule_id) == {404}
    assert await paths_of(replace(chat, chat_id="cnv_theirs"), "nod_theirs", theirs.rule_id) == {404}
    assert (await chat.server.rest.get("/conversations/cnv_theirs/summary")).status_code == 404
    assert (
        await chat.server.rest.post("/conversations/cnv_theirs/summary/rules", json={"text": "x"})
    ).status_code == 404
    assert await chat.nodes() == nodes
    assert (await chat.ask("GET"))["rules"]["items"] == [rule]
    kept = await house.kit.store.read(stranger, lambda unit: unit.summaries.rules(theirs.conversation_id), label="test")
    assert kept == [theirs]


async def theirs_like(house: House, stranger: OwnerId, node_id: str) -> Rule:
    """A stranger with a node and a rule like these; the rule."""
    kit, now = house.kit, house.kit.clock.now()
    conversation_id = ConversationId("cnv_theirs")
    node = await kit.store.read(house.owner_id, lambda unit: unit.summaries.get(NodeId(node_id)), label="test.read")

    def work(unit: Unit) -> None:
        unit.owners.create(
            Owner(owner_id=stranger, kind=OwnerKind.ACCOUNT, name="", secret=b"s" * 48, place=0, created_at=now)
        )
        unit.conversations.put(make_conversation(NewConversation(model="scripted"), conversation_id, now))
        unit.summaries.put(replace(node, node_id=NodeId("nod_theirs"), conversation_id=conversation_id))

    await kit.store.write(stranger, work, label="test.planted")
    return await add_rule(kit, stranger, conversation_id, "Be brief.")
