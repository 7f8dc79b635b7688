"""Drafts and the look at what is there already, over HTTP (V4, V5, V6, V10)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from souvenance.testing import ScriptedUpstream, say
from tests.flows.serving import Served


def written(*texts: str) -> str:
    return json.dumps({"memories": [{"text": text} for text in texts]})


async def generated(server: Served, **more: Any) -> dict[str, Any]:
    answer = await server.rest.post("/drafts", json={"description": "tea and a cat", **more})
    assert answer.status_code == 201, answer.text
    drafted: dict[str, Any] = answer.json()
    return drafted


async def test_v5_drafts_are_generated_edited_discarded_and_saved(both: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(say(written("likes tea", "has a cat", "hums")))
    bot = await both.bot()
    drafted = await generated(both, bot="Mira")
    assert "no conversation was read" in drafted["note"]
    assert drafted["charge"]["tokens_in"] > 0
    assert drafted["room"]["pinned_limit"] == 20
    ids = [draft["id"] for draft in drafted["drafts"]]
    edited = await both.rest.patch(f"/drafts/{ids[0]}", json={"text": "likes green tea", "pinned": True})
    assert (edited.json()["text"], edited.json()["pinned"]) == ("likes green tea", True)
    assert (await both.rest.delete(f"/drafts/{ids[2]}")).status_code == 204
    assert [one["id"] for one in (await both.rest.get("/drafts")).json()["items"]] == ids[:2]
    assert (await both.rest.get("/memories")).json()["items"] == []
    saved = (await both.rest.post("/drafts/save", json={"ids": ids[:2]})).json()["items"]
    assert [(one["memory"]["text"], one["memory"]["pinned"], one["created"]) for one in saved] == [
        ("likes green tea", True, True),
        ("has a cat", False, True),
    ]
    assert {(one["memory"]["scope"], one["memory"]["origin"]) for one in saved} == {(f"bot:{bot}", "generated")}
    assert (await both.rest.post("/drafts/save", json={"ids": ids[:2]})).status_code == 404


async def test_v6_messages_become_pinned_memories_with_their_sources(both: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(say("Noted"), say(written("likes tea")))
    await both.bot()
    chat = (await both.rest.post("/conversations", json={"bot": "Mira"})).json()["id"]
    await both.rest.post(f"/conversations/{chat}/turns", json={"text": "I like tea", "stream": False})
    said = (await both.rest.get(f"/conversations/{chat}/messages")).json()["items"]
    ids = [message["id"] for message in said]
    drafted = (await both.rest.post("/drafts/from-messages", json={"message_ids": ids})).json()
    assert [(one["text"], one["sources"]) for one in drafted["drafts"]] == [("likes tea", ids[::-1])]
    whole = await both.rest.post("/drafts/from-messages", json={"message_ids": ids[1:], "how": "each", "pinned": False})
    assert (whole.json()["drafts"][0]["text"], whole.json()["charge"]) == ("I like tea", None)
    saved = await both.rest.post("/drafts/save", json={"ids": [drafted["drafts"][0]["id"]]})
    memory = saved.json()["items"][0]["memory"]
    assert (memory["pinned"], memory["origin"]) == (True, "conversation")
    assert [source["message_id"] for source in memory["evidence"]] == ids[::-1]


async def test_v5_a_model_that_answers_badly_twice_is_reported_with_the_reason(
    server: Served, upstream: ScriptedUpstream
) -> None:
    upstream.script(say("Gladly!"), say("Gladly!"))
    answer = await server.rest.post("/drafts", json={"description": "tea"})
    assert (answer.status_code, answer.json()["code"]) == (502, "unusable_drafts")
    assert "no complete JSON objects" in answer.json()["detail"]
    assert (await server.rest.get("/drafts")).json()["items"] == []


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/drafts", {"description": "d" * 1001}, 422, "description has 1001 characters; the limit is 1000"),
        ("/drafts", {"description": " "}, 422, "description is empty"),
        ("/drafts", {"description": "tea", "bot": "nobody"}, 404, "nobody"),
        ("/drafts", {"description": "tea", "bot": "Mira", "scope": "account"}, 422, "no scope beside a bot"),
        ("/drafts/from-messages", {"message_ids": []}, 422, "1 to 20"),
        ("/drafts/from-messages", {"message_ids": [f"msg_{n}" for n in range(21)]}, 422, "21 items; the limit is 20"),
        ("/drafts/from-messages", {"message_ids": ["msg_1"]}, 404, "msg_1"),
        ("/drafts/from-messages", {"message_ids": ["msg_1"], "how": "all"}, 422, "how"),
        ("/drafts/save", {"ids": []}, 422, "at least one draft"),
        ("/drafts/save", {"ids": ["drf_1"]}, 404, "drf_1"),
        ("/memories/similar", {"text": "x" * 501}, 422, "text has 501 characters; the limit is 500"),
    ],
)
async def test_bad_input_gets_the_field_the_limit_and_the_size(
    server: Served, path: str, body: dict[str, Any], status: int, says: str
) -> None:
    answer = await server.rest.post(path, json=body)
    assert answer.status_code == status
    assert says in answer.json()["detail"]


async def test_v4_what_already_says_a_text_is_shown_and_nothing_is_stored(both: Served) -> None:
    added = (await both.rest.post("/memories", json={"text": "Likes green tea"})).json()["memory"]
    found = (await both.rest.post("/memories/similar", json={"text": "likes green tea."})).json()["items"]
    assert [(one["memory"]["id"], one["equal"]) for one in found] == [(added["id"], True)]
    assert len((await both.rest.get("/memories")).json()["items"]) == 1
