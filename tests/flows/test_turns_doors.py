"""T1, T3, T6 through every door: ask again, choose, go on."""

from __future__ import annotations

import json
from contextlib import aclosing
from pathlib import Path

import pytest
from openai.types.chat import ChatCompletionMessageParam

import souvenance
from souvenance import blocking
from souvenance.blocking.turns import BlockingTurns
from souvenance.cli import main
from souvenance.domain.ids import TurnId
from souvenance.errors import ModelError, NotFound
from souvenance.library.turns import Turns
from souvenance.testing import HalfStream, ScriptedModel, ScriptedUpstream, say
from tests.flows.serving import Served
from tests.flows.test_rest_turns import conversation, events


async def test_the_library_asks_again_chooses_and_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel(say("First"), say("Second"), HalfStream(chunks=("Once",)), say(" upon a time"))
    async with souvenance.open(tmp_path, model=model, detect_local=False, detect_keys=False) as memory:
        turn = (await memory.say("Hello", bot="Ada")).done.turn
        assert turn is not None
        async with aclosing(memory.turns.regenerate(turn.turn_id)) as pieces:
            assert "".join([piece.text async for piece in pieces]) == "Second"
        assert (await memory.turns.choose(turn.turn_id, variant=0)).text == "First"
        assert [(m.text, m.chosen) for m in await memory.turns.read(turn.turn_id)] == [
            ("Hello", True),
            ("First", True),
            ("Second", False),
        ]
        with pytest.raises(ModelError):
            await memory.say("A story", bot="Ada")
        (chat,) = [one async for one in memory.conversations()]
        newest = await anext(memory.messages(chat))
        async with aclosing(memory.turns.go_on(newest.turn_id)) as pieces:
            assert "".join([piece.text async for piece in pieces]) == " upon a time"
        assert (await anext(memory.messages(chat))).text == "Once upon a time"
        with pytest.raises(NotFound):
            await memory.turns.read(TurnId("trn_0"))


def test_the_blocking_door_does_the_same(tmp_path: Path) -> None:
    model = ScriptedModel(say("First"), say("Second"))
    with blocking.open(tmp_path, model=model, detect_local=False, detect_keys=False) as memory:
        turn = memory.say("Hello", bot="Ada").done.turn
        assert turn is not None
        assert "".join(piece.text for piece in memory.turns.regenerate(turn.turn_id)) == "Second"
        assert memory.turns.choose(turn.turn_id, variant=0).text == "First"
        assert [m.chosen for m in memory.turns.read(turn.turn_id)] == [True, True, False]


def test_both_facets_have_the_same_methods() -> None:
    assert {n for n in vars(Turns) if n[0] != "_"} == {n for n in vars(BlockingTurns) if n[0] != "_"}


async def test_t1_rest_asks_again_in_a_stream_and_the_choice_goes_back(
    both: Served, upstream: ScriptedUpstream
) -> None:
    upstream.script(say("First"), say("Sec", "ond"))
    conversation_id = await conversation(both)
    said = await both.rest.post(f"/conversations/{conversation_id}/turns", json={"text": "Hello", "stream": False})
    turn_id = said.json()["done"]["turn"]["id"]
    answer = await both.rest.post(f"/turns/{turn_id}/regenerate", json={})
    heard = events(answer.text)
    assert [name for name, _ in heard] == ["opened", "delta", "delta", "done"]
    assert (heard[-1][1]["message"]["variant"], heard[-1][1]["message"]["chosen"]) == (1, True)
    chosen = await both.rest.put(f"/turns/{turn_id}/choice", json={"part": 1, "variant": 0})
    assert (chosen.status_code, chosen.json()["text"]) == (200, "First")
    shown = (await both.rest.get(f"/turns/{turn_id}")).json()["messages"]
    assert [(m["text"], m["chosen"]) for m in shown] == [("Hello", True), ("First", True), ("Second", False)]


async def test_t1_the_last_turn_of_an_openai_client_is_asked_again_over_rest(
    server: Served, upstream: ScriptedUpstream
) -> None:
    upstream.script(say("First"), say("Second"))
    await server.bot("Mira")
    client = server.openai()
    hello: ChatCompletionMessageParam = {"role": "user", "content": "Hello"}
    await client.chat.completions.create(model="Mira", messages=[hello])
    chat = (await server.rest.get("/conversations")).json()["items"][0]["id"]
    newest = (await server.rest.get(f"/conversations/{chat}/messages")).json()["items"][0]
    again = await server.rest.post(f"/turns/{newest['turn_id']}/regenerate", json={"stream": False})
    assert again.json()["text"] == "Second"
    shown: ChatCompletionMessageParam = {"role": "assistant", "content": "Second"}
    more: ChatCompletionMessageParam = {"role": "user", "content": "And?"}
    await client.chat.completions.create(model="Mira", messages=[hello, shown, more])
    assert len((await server.rest.get("/conversations")).json()["items"]) == 1


async def test_t6_rest_goes_on_with_a_reply_that_was_cut_off(server: Served, upstream: ScriptedUpstream) -> None:
    upstream.script(HalfStream(chunks=("Once",)), say(" upon a time"))
    conversation_id = await conversation(server)
    await server.rest.post(f"/conversations/{conversation_id}/turns", json={"text": "A story"})
    newest = (await server.rest.get(f"/conversations/{conversation_id}/messages")).json()["items"][0]
    assert newest["state"] == "cut_off"
    answer = await server.rest.post(f"/turns/{newest['turn_id']}/continue", json={"stream": False})
    assert answer.json()["done"]["message"]["text"] == "Once upon a time"
    again = await server.rest.post(f"/turns/{newest['turn_id']}/continue")
    assert (again.status_code, again.json()["code"]) == (409, "nothing_to_continue")


async def test_rest_tells_what_cannot_be_asked_again_or_chosen(server: Served) -> None:
    conversation_id = await conversation(server)
    for text in ("Hello", "And?"):
        await server.rest.post(f"/conversations/{conversation_id}/turns", json={"text": text, "stream": False})
    newest, _, _, first = (await server.rest.get(f"/conversations/{conversation_id}/messages")).json()["items"]
    asked = {
        f"/turns/{first['turn_id']}/regenerate": (409, "not_last_turn"),
        f"/turns/{newest['turn_id']}/regenerate?": (404, "not_found"),
        "/turns/trn_0/regenerate": (404, "not_found"),
        "/turns/trn_0/continue": (404, "not_found"),
    }
    for path, expected in asked.items():
        answer = await server.rest.post(path, json={"part": 7})
        assert (answer.status_code, answer.json()["code"]) == expected, path
    missing = await server.rest.put(f"/turns/{newest['turn_id']}/choice", json={"variant": 7})
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    bad = await server.rest.put(f"/turns/{newest['turn_id']}/choice", json={"variant": "one"})
    assert bad.status_code == 422


def test_the_commands_ask_again_choose_and_show(
    tmp_path: Path, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOUVENANCE_FOLDER", str(tmp_path / "data"))
    monkeypatch.setenv("SOUVENANCE_UPSTREAMS_HOME_BASE_URL", upstream.url)
    monkeypatch.setenv("SOUVENANCE_DETECT_LOCAL", "off")

    def run(*arguments: str) -> str:
        assert main(arguments) == 0
        return capsys.readouterr().out

    upstream.script(say("Zephyr one"), say("Zephyr two"))
    run("chat", "Hello zephyr")
    found = [json.loads(line) for line in run("query", "zephyr", "--messages", "--json").splitlines()]
    turn_id = found[0]["message"]["turn_id"]
    assert run("turns", "regenerate", turn_id) == "Zephyr two\n"
    assert run("turns", "choose", turn_id, "0") == "Zephyr one\n"
    shown = [json.loads(line) for line in run("turns", "show", turn_id, "--json").splitlines()]
    assert [(m["text"], m["chosen"]) for m in shown] == [
        ("Hello zephyr", True),
        ("Zephyr one", True),
        ("Zephyr two", False),
    ]
    assert main(("turns", "continue", turn_id)) != 0
    assert "cut off" in capsys.readouterr().err
