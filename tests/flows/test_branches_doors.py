"""Rewind, fork, edits and deletions through every door, on real servers and stores (T2, T4, T7, D1)."""

from __future__ import annotations

from pathlib import Path

import pytest

import souvenance
from souvenance import blocking
from souvenance.domain.ids import ConversationId, MessageId, TurnId
from souvenance.errors import BadValue, NotFound
from souvenance.testing import ScriptedModel, ScriptedUpstream, say
from tests.flows.serving import Served
from tests.flows.test_rest_turns import conversation


async def told(server: Served, conversation_id: str, text: str, **more: object) -> dict[str, str]:
    """One turn: the ids of the turn and of the reply."""
    body = {"text": text, "stream": False, **more}
    answer = await server.rest.post(f"/conversations/{conversation_id}/turns", json=body)
    assert answer.status_code == 200, answer.text
    message = answer.json()["done"]["message"]
    return {"turn": message["turn_id"], "reply": message["id"]}


async def said(server: Served, conversation_id: str) -> list[str]:
    listed = (await server.rest.get(f"/conversations/{conversation_id}/messages")).json()["items"]
    return [message["text"] for message in reversed(listed)]


async def test_t2_t4_t7_a_line_is_changed_over_rest(both: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(say("First."), say("Second."), say("Third."), say("Other."))
    rest, here = both.rest, await conversation(both)
    one, two = await told(both, here, "One"), await told(both, here, "Two")
    await told(both, here, "Three")

    forked = await rest.post(f"/conversations/{here}/fork", json={"message_id": two["reply"]})
    assert forked.status_code == 201
    assert (forked.json()["parent_id"], forked.json()["messages"]) == (here, 4)
    edited = await rest.patch(f"/messages/{one['reply']}", json={"text": "Premier."})
    assert (edited.status_code, edited.json()["text"]) == (200, "Premier.")
    rewound = await rest.post(f"/conversations/{here}/rewind", json={"after_turn": two["turn"]})
    assert (rewound.status_code, rewound.json()["messages"]) == (200, 4)
    await told(both, here, "Another two", replaces=two["turn"])
    assert await said(both, here) == ["One", "Premier.", "Another two", "Other."]
    assert await said(both, forked.json()["id"]) == ["One", "First.", "Two", "Second."]
    left = await rest.delete(f"/messages/{one['reply']}")
    assert (left.status_code, left.json()["messages"]) == (200, 3)
    gone = await rest.delete(f"/conversations/{here}", params={"memories": "erase"})
    assert gone.json() == {"id": here, "memories": "erase", "erased": 0}
    assert (await rest.get(f"/conversations/{here}")).status_code == 404


async def test_a_line_is_not_changed_by_requests_that_make_no_sense(server: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(say("First."))
    rest, here = server.rest, await conversation(server)
    other = (await rest.post("/conversations", json={"bot": "Mira"})).json()["id"]
    one = await told(server, here, "One")
    requests = [
        (404, rest.post(f"/conversations/{other}/fork", json={"message_id": one["reply"]})),
        (404, rest.post(f"/conversations/{other}/rewind", json={"after_turn": one["turn"]})),
        (404, rest.post("/conversations/cnv_none/rewind", json={"after_turn": None})),
        (422, rest.post(f"/conversations/{here}/rewind", json={"after": one["turn"]})),
        (422, rest.post(f"/conversations/{here}/rewind", json={})),
        (422, rest.post(f"/conversations/{here}/fork", json={})),
        (422, rest.patch(f"/messages/{one['reply']}", json={"text": "  "})),
        (422, rest.patch(f"/messages/{one['reply']}", json={"text": "x" * 400_001})),
        (404, rest.patch("/messages/msg_none", json={"text": "x"})),
        (404, rest.delete("/messages/%2e%2e%2fx")),
        (422, rest.delete(f"/conversations/{here}", params={"memories": "perhaps"})),
        (404, rest.post(f"/conversations/{other}/turns", json={"text": "x", "replaces": one["turn"]})),
    ]
    for status, request in requests:
        answer = await request
        assert answer.status_code == status, answer.text
    assert await said(server, here) == ["One", "First."]


async def test_the_library_changes_a_line_and_begins_anew_after_a_deletion(tmp_path: Path) -> None:
    model = ScriptedModel()
    async with souvenance.open(tmp_path, model=model, detect_local=False, detect_keys=False) as memory:
        one = await memory.say("One", bot="Ada")
        assert one.conversation_id is not None
        assert one.done.message is not None
        turn_id = one.done.message.turn_id
        await memory.say("Two", bot="Ada")
        branch = await memory.branches.fork(one.done.message)
        assert (await memory.branches.edit_message(one.done.message, "Premier.")).text == "Premier."
        assert (await memory.branches.rewind(one.conversation_id, after=turn_id)).messages == 2
        again = await memory.say("Un", bot="Ada", replaces=turn_id)
        assert [each.text async for each in memory.messages(one.conversation_id)] == ["You said: Un", "Un"]
        assert again.done.message is not None
        assert (await memory.branches.delete_message(again.done.message.message_id)).messages == 1
        with pytest.raises(BadValue):
            await memory.branches.delete_conversation(one.conversation_id, memories="some")
        assert (await memory.branches.delete_conversation(one.conversation_id)).erased == 0
        anew = await memory.say("Anew", bot="Ada")
        assert anew.conversation_id not in {one.conversation_id, branch.conversation_id}
        with pytest.raises(NotFound):
            await memory.branches.rewind(ConversationId("cnv_none"), after=None)


def test_the_blocking_door_changes_a_line(tmp_path: Path) -> None:
    with blocking.open(tmp_path, model=ScriptedModel(), detect_local=False, detect_keys=False) as memory:
        one = memory.say("One", bot="Ada").done.message
        assert one is not None
        two = memory.say("Two", bot="Ada").done.message
        assert two is not None
        assert memory.branches.fork(two).messages == 4
        assert memory.branches.edit_message(one, "Premier.").text == "Premier."
        assert "".join(piece.text for piece in memory.chat("Deux", bot="Ada", replaces=two.turn_id)) == "You said: Deux"
        assert memory.branches.rewind(one.conversation_id, after=one.turn_id).messages == 2
        assert memory.branches.delete_message(one.message_id).messages == 1
        assert memory.branches.delete_conversation(one.conversation_id, memories="erase").erased == 0
        with pytest.raises(NotFound):
            memory.branches.fork(MessageId("msg_none"))
        with pytest.raises(NotFound):
            memory.branches.rewind(one.conversation_id, after=TurnId("trn_none"))
