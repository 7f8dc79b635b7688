"""Groups, session memory, and bots that are handed on and deleted, through REST, the library and the blocking door."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import souvenance
from souvenance import blocking
from souvenance.errors import BotGone
from souvenance.testing import ScriptedModel, ScriptedUpstream, say
from souvenance.testing.script import Call, ToolCalls
from tests.flows.serving import Served
from tests.flows.test_rest_turns import events


async def test_m7_a_group_answers_over_rest(both: Served, upstream: ScriptedUpstream) -> None:
    for name in ("Ada", "Bob", "Cyd"):
        await both.bot(name)
    made = (await both.rest.post("/conversations", json={"bot": "Ada", "members": ["Bob"]})).json()
    upstream.script(say("I am."), say("Me too."), say("Again."))
    turns = f"/conversations/{made['id']}/turns"
    heard = events((await both.rest.post(turns, json={"text": "Who?", "speakers": ["Ada", "Bob"]})).text)
    assert [name for name, _ in heard if name != "delta"] == ["opened", "speaking", "done", "speaking", "done"]
    assert [data["name"] for name, data in heard if name == "speaking"] == ["Ada", "Bob"]
    done = [data for name, data in heard if name == "done"]
    assert [one["more"] for one in done] == [True, False]
    assert [one["message"]["bot_id"] for one in done] == made["members"]
    turn = (await both.rest.get(f"/turns/{done[1]['turn']['id']}")).json()
    assert turn["turn"]["acknowledged"] is True
    further = await both.rest.post(f"/conversations/{made['id']}/answers", json={"stream": False})
    assert further.json()["text"] == "Ada: Again."
    assert [one["part"] for one in further.json()["replies"]] == [3]
    refused = await both.rest.post(turns, json={"text": "Who?", "speakers": ["Cyd"]})
    assert (refused.status_code, refused.json()["details"]["field"]) == (422, "speakers")


async def test_a_group_as_one_json_object_and_bad_members(server: Served, upstream: ScriptedUpstream) -> None:
    for number in range(9):
        await server.bot(f"Bot {number}")
    upstream.script(say("One."), say("Two."))
    body = {
        "text": "Go", "bot": "Bot 0", "members": ["Bot 1"], "speakers": ["Bot 1", "Bot 0"], "stream": False
    }  # fmt: skip
    whole = (await server.rest.post("/turns", json=body)).json()
    assert whole["text"] == "Bot 1: One.\n\nBot 0: Two."
    assert [one["text"] for one in whole["replies"]] == ["One.", "Two."]
    for members, status, field in (
        (["Nobody"], 404, None),
        (["Bot 1", "Bot 1"], 422, "members"),
        ([f"Bot {n}" for n in range(1, 9)], 422, "members"),
    ):
        answer = await server.rest.post("/conversations", json={"bot": "Bot 0", "members": members})
        assert (answer.status_code, answer.json()["details"].get("field")) == (status, field)


async def test_m1_session_memory_is_written_by_person_and_assistant_and_read_there_only(
    both: Served, upstream: ScriptedUpstream
) -> None:
    await both.bot("Aide", preset="assistant")
    here, elsewhere = [(await both.rest.post("/conversations", json={"bot": "Aide"})).json()["id"] for _ in range(2)]
    scope = f"conversation:{here}"
    added = await both.rest.post("/memories", json={"text": "the code word is walnut", "scope": scope})
    assert added.status_code == 201, added.text
    kept = Call(name="remember", arguments='{"text": "we write in French", "this_conversation_only": true}')
    upstream.script(ToolCalls(calls=(kept,)), say("Noted"), say("Yes"), say("No"))
    await both.rest.post(f"/conversations/{here}/turns", json={"text": "French here", "stream": False})
    listed = (await both.rest.get("/memories", params={"scope": scope})).json()["items"]
    assert {one["text"] for one in listed} == {"the code word is walnut", "we write in French"}
    assert {one["scope"] for one in listed} == {scope}
    assert (await both.rest.get("/memories")).json()["items"] == []
    await both.rest.post(f"/conversations/{here}/turns", json={"text": "And?", "stream": False})
    assert b"walnut" in upstream.requests[-1].body
    assert b"we write in French" in upstream.requests[-1].body
    await both.rest.post(f"/conversations/{elsewhere}/turns", json={"text": "And?", "stream": False})
    assert b"walnut" not in upstream.requests[-1].body
    assert b"we write in French" not in upstream.requests[-1].body
    unknown = {"text": "x", "scope": "conversation:cnv_0000"}
    assert (await both.rest.post("/memories", json=unknown)).status_code == 404


async def test_k4_m8_a_bot_is_handed_on_and_deleted_over_rest(both: Served) -> None:
    bot = await both.bot("Mira", preset="notebook", system_prompt="You are Mira.")
    entry = {"text": "walnut", "key": "secret", "scope": f"bot:{bot}"}
    assert (await both.rest.post("/memories", json=entry)).status_code == 201
    document = (await both.rest.get(f"/bots/{bot}/export")).json()
    link = (await both.rest.get(f"/bots/{bot}/share")).json()
    assert "walnut" not in str(document) + link["link"]
    names = [(await both.rest.post("/bots/import", json=body)).json()["name"] for body in (document, link)]
    assert names == ["Mira 2", "Mira 3"]
    unusable: list[Any] = [
        {**document, "memories": []},
        {"link": "#nothing"},
        {"link": 5},
        [],
        {**document, "souvenance_bot": 9},
    ]
    for bad in unusable:
        assert (await both.rest.post("/bots/import", json=bad)).status_code == 422
    assert (await both.rest.delete(f"/bots/{bot}", params={"memories": "sell"})).status_code == 422
    deleted = (await both.rest.delete(f"/bots/{bot}")).json()
    assert deleted == {"id": bot, "name": "Mira", "memories": "keep", "count": 1}
    (kept,) = (await both.rest.get("/memories")).json()["items"]
    assert (kept["text"], kept["scope"], kept["oversized"]) == ("secret: walnut", "account", False)
    assert (await both.rest.get(f"/bots/{bot}")).status_code == 404
    assert (await both.rest.delete(f"/bots/{bot}")).status_code == 404


async def test_groups_and_bots_in_the_library(tmp_path: Path) -> None:
    model = ScriptedModel(say("I am."), say("Me too."), say("Again."))
    async with souvenance.open(tmp_path, model=model, detect_local=False, detect_keys=False) as memory:
        chat = await memory.begin(bot="Ada", members=["Bob"])
        reply = await memory.say("Who?", bot="Ada", speakers=["Ada", "Bob"])
        assert reply.text == "Ada: I am.\n\nBob: Me too."
        further = [piece.text async for piece in memory.let_answer(chat, speakers=["Ada"])]
        assert "".join(further) == "Ada: Again."
        await memory.remember("we write in French", conversation=chat)
        assert [view.memory.text async for view in memory.memories(conversation=chat)] == ["we write in French"]
        again = await memory.import_bot(await memory.export_bot("Ada"))
        assert again.name == "Ada 2"
        await memory.remember("lives in Turin", bot="Ada")
        deleted = await memory.delete_bot("Ada")
        assert deleted.count == 1
        assert [view.memory.text async for view in memory.memories()] == ["lives in Turin"]
        assert (await memory.say("Still there?", conversation=chat)).done.message is not None, "Bob goes on"
        alone = await memory.begin(bot="Cyd")
        await memory.delete_bot("Cyd")
        with pytest.raises(BotGone):
            await memory.say("Cyd?", conversation=alone)


def test_bots_are_handed_on_and_deleted_by_the_blocking_door(tmp_path: Path) -> None:
    with blocking.open(tmp_path, model=ScriptedModel(), detect_local=False, detect_keys=False) as memory:
        memory.begin(bot="Ada", members=["Bob"])
        assert memory.import_bot(memory.share_link("Ada")).name == "Ada 2"
        assert memory.delete_bot("Ada 2").count == 0
        assert [bot.name for bot in memory.bots()] == ["Ada", "Bob"]
