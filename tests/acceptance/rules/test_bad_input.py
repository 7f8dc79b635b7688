"""Bad input at each call of issue 3's verbs: a clear problem with its field and figures, and nothing is changed."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from souvenance.settings import Settings
from souvenance.testing import RecordedRequest, Reply, echo, say
from souvenance.testing.scripted_upstream import Responder
from tests.acceptance.rules.stranger import Stranger, strangers_house
from tests.acceptance.rules.world import World
from tests.acceptance.stored import listed
from tests.flows.app.house import called, calls
from tests.flows.serving import served

pytestmark = pytest.mark.asyncio(loop_scope="module")

_STRANGE = ("", "*", "..%2F..%2Fx", "a.b", "none_0", "x" * 300)
_BY_PATH: tuple[tuple[str, str, str, object], ...] = (
    ("POST", "/turns/{}/regenerate", "turn", {"stream": False}),
    ("POST", "/turns/{}/continue", "turn", None),
    ("PUT", "/turns/{}/choice", "turn", {"variant": 0}),
    ("POST", "/conversations/{}/rewind", "conversation", {"after_turn": None}),
    ("POST", "/conversations/{}/answers", "conversation", None),
    ("DELETE", "/conversations/{}", "conversation", None),
    ("PATCH", "/messages/{}", "message", {"text": "changed"}),
    ("DELETE", "/messages/{}", "message", None),
    ("PATCH", "/drafts/{}", "draft", {"text": "changed"}),
    ("DELETE", "/drafts/{}", "draft", None),
    ("POST", "/memories/{}/bring-back", "memory", {"place": 1}),
    ("GET", "/bots/{}/export", "bot", None),
    ("GET", "/bots/{}/share", "bot", None),
    ("DELETE", "/bots/{}", "bot", None),
    ("POST", "/erasures/{}/undo", "erasure", None),
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stranger(settings: Settings, house: World) -> AsyncIterator[Stranger]:
    async with strangers_house(settings, house.clock) as found:
        yield found


async def _everything(world: World) -> dict[str, Any]:
    """All that the owner has, through the lists."""
    there: dict[str, Any] = {
        path: await listed(world.rest, path)
        for path in ("/bots", "/conversations", "/memories", "/memories/removed", "/drafts")
    }
    for conversation in there["/conversations"]:
        there[conversation["id"]] = await world.messages(conversation["id"])
    return there


async def test_an_id_of_nobody_or_of_another_owner_is_not_found_by_any_call_and_changes_nothing(
    world: World, stranger: Stranger
) -> None:
    mira = await world.bot()
    await world.say(await world.chat(mira), "Hello")
    before, theirs = await _everything(world), await stranger.all_there_is()
    for method, path, kind, body in _BY_PATH:
        problems = [await world.refused(method, path.format(raw), body) for raw in (*_STRANGE, stranger.ids[kind])]
        assert {problem["status"] for problem in problems} <= {404, 405}, f"{method} {path}: {problems}"
        assert {problem["code"] for problem in problems} <= {"not_found", "no_such_path", "method_not_allowed"}
        *_, nobodys, _, anothers = problems
        assert (nobodys["status"], nobodys["code"]) == (anothers["status"], anothers["code"]) == (404, "not_found")
        assert set(nobodys["details"]) == set(anothers["details"]), "nobody can tell which"
    assert await _everything(world) == before
    assert await stranger.all_there_is() == theirs


async def test_an_id_inside_a_body_is_held_to_the_same(world: World, stranger: Stranger) -> None:
    mira = await world.bot()
    chat = await world.chat(mira)
    told = await world.say(chat, "Hello")
    mine, theirs_ids = told["opened"]["message"]["id"], stranger.ids
    other = (await world.say(await world.chat(mira), "Elsewhere"))["opened"]["message"]
    before, theirs = await _everything(world), await stranger.all_there_is()
    at = f"/conversations/{chat}"
    for raw in ("", "*", "../../x", "a.b", "none_0", theirs_ids["message"], other["id"], theirs_ids["turn"]):
        turn = {other["id"]: other["turn_id"]}.get(raw, raw)
        for path, body in (
            (f"{at}/fork", {"message_id": raw}),
            (f"{at}/rewind", {"after_turn": turn}),
            (f"{at}/turns", {"text": "Again", "replaces": turn}),
            ("/drafts/from-messages", {"message_ids": [mine, raw], "how": "each"}),
        ):
            problem = await world.refused("POST", path, body)
            assert (problem["status"], problem["code"]) == (404, "not_found"), f"{path} {body}: {problem}"
    for raw in ("", "*", "../../x", "a.b", "none_0", theirs_ids["bot"]):
        for path, body in (
            ("/conversations", {"bot": mira, "members": [raw]}),
            (f"{at}/turns", {"text": "Again", "speakers": [raw]}),
            ("/drafts", {"description": "tea", "bot": raw}),
            ("/memories", {"text": "tea", "scope": f"bot:{raw}"}),
            ("/memories/similar", {"text": "tea", "scope": f"bot:{raw}"}),
        ):
            problem = await world.refused("POST", path, body)
            assert (problem["status"], problem["code"]) == (404, "not_found"), f"{path} {body}: {problem}"
        assert (await world.refused("DELETE", "/memories", scope=f"bot:{raw}"))["code"] == "not_found"
        assert (await world.refused("DELETE", "/memories/pinned", scope=f"bot:{raw}", count=1))["code"] == "not_found"
    for raw in ("", "*", "../../x", "a.b", "none_0", theirs_ids["draft"]):
        assert (await world.refused("POST", "/drafts/save", {"ids": [raw]}))["code"] == "not_found"
    assert await _everything(world) == before
    assert await stranger.all_there_is() == theirs


async def test_a_size_past_its_limit_is_refused_with_field_and_figures(world: World) -> None:
    mira, *others = [await world.bot() for _ in range(9)]
    chat = await world.chat(mira)
    said = (await world.say(chat, "Hello"))["opened"]["message"]["id"]
    before, asked = await _everything(world), len(world.prompts)
    for method, path, body, details in (
        ("POST", "/drafts", {"description": "d" * 1_001}, ("description", 1_001, 1_000)),
        ("POST", "/drafts/from-messages", {"message_ids": [said] * 21}, ("message_ids", 21, 20)),
        ("POST", "/memories/similar", {"text": "x" * 501}, ("text", 501, 500)),
        ("PATCH", f"/messages/{said}", {"text": "x" * 400_001}, ("text", 400_001, 400_000)),
        ("POST", "/conversations", {"bot": mira, "members": others}, ("members", 9, 8)),
    ):
        problem = await world.refused(method, path, body)
        found = problem["details"]
        assert problem["status"] == 422
        assert problem["code"] in {"text_too_long", "too_many"}
        assert (found["field"], found["size"], found["limit"]) == details
    assert await _everything(world) == before
    assert len(world.prompts) == asked


async def test_a_value_that_a_call_does_not_take_is_refused_by_its_field(world: World) -> None:
    mira = await world.bot()
    chat = await world.chat(mira)
    told = await world.say(chat, "Hello")
    turn, said = told["done"]["turn"]["id"], told["opened"]["message"]["id"]
    memory = await world.add("likes tea", f"bot:{mira}")
    before = await _everything(world)
    for method, path, body, field in (
        ("POST", "/drafts", {"description": " \n"}, "description"),
        ("POST", "/drafts", {"description": "tea", "bot": mira, "scope": "account"}, "scope"),
        ("POST", "/drafts/from-messages", {"message_ids": []}, "message_ids"),
        ("POST", "/drafts/from-messages", {"message_ids": [said], "how": "all"}, "how"),
        ("POST", "/drafts/save", {"ids": []}, "ids"),
        ("PATCH", f"/messages/{said}", {"text": "a\0b"}, "text"),
        ("PATCH", f"/messages/{said}", {}, "text"),
        ("POST", f"/conversations/{chat}/fork", {}, "message_id"),
        ("POST", f"/conversations/{chat}/rewind", {"after_turn": 3}, "after_turn"),
        ("PUT", f"/turns/{turn}/choice", {"variant": "last"}, "variant"),
        ("POST", f"/turns/{turn}/regenerate", {"variant": 1}, "variant"),
        ("POST", f"/memories/{memory['id']}/bring-back", {"place": 10**9}, "place"),
        ("DELETE", f"/conversations/{chat}?memories=some", None, "memories"),
        ("DELETE", f"/bots/{mira}?memories=some", None, "memories"),
        ("DELETE", "/memories?scope=everything", None, "scope"),
        ("DELETE", "/memories", None, "scope"),
        ("DELETE", f"/memories/pinned?scope=bot:{mira}&count=many", None, "count"),
    ):
        problem = await world.refused(method, path, body)
        assert (problem["status"], problem["details"].get("field")) == (422, field), problem
    for variant in (-1, 1, 10**9):
        assert (await world.refused("PUT", f"/turns/{turn}/choice", {"variant": variant}))["code"] == "not_found"
    assert (await world.refused("POST", f"/turns/{turn}/regenerate", {"part": 7}))["code"] == "not_found"
    assert await _everything(world) == before


async def test_an_exported_bot_of_another_form_or_with_memories_is_refused(world: World) -> None:
    document = await world.ok("GET", f"/bots/{await world.bot()}/export")
    bots = await listed(world.rest, "/bots")
    for changes in ({"souvenance_bot": 99}, {"memories": [{"text": "x"}]}, {"preset": "spy"}, {"name": ""}):
        assert (await world.refused("POST", "/bots/import", {**document, **changes, "name": "x"} | changes))[
            "status"
        ] == 422
    for link in ("", "https://example.org", "souvenance:bot:!!!", "*" * 500):
        assert (await world.refused("POST", "/bots/import", {"link": link}))["status"] == 422
    assert await listed(world.rest, "/bots") == bots


async def test_an_expired_draft_can_be_neither_edited_nor_saved_alone_or_with_others(world: World) -> None:
    mira = await world.bot()
    chat = await world.chat(mira)
    ids = []
    for text in ("keeps bees", "keeps ants"):
        said = (await world.say(chat, text))["opened"]["message"]["id"]
        drafted = await world.ok("POST", "/drafts/from-messages", {"message_ids": [said], "how": "each"})
        ids.append(drafted["drafts"][0]["id"])
        world.clock.advance(timedelta(days=5))
    before = await world.memories(f"bot:{mira}")
    for method, path, body in (
        ("PATCH", f"/drafts/{ids[0]}", {"text": "changed"}),
        ("POST", "/drafts/save", {"ids": ids[:1]}),
        ("POST", "/drafts/save", {"ids": ids[::-1]}),
    ):
        problem = await world.refused(method, path, body)
        assert (problem["status"], problem["code"], problem["details"]["draft_id"]) == (410, "draft_expired", ids[0])
    assert await world.memories(f"bot:{mira}") == before == []
    assert [draft["id"] for draft in (await world.ok("GET", "/drafts"))["items"]] == ids[1:]
    await world.ok("DELETE", f"/drafts/{ids[1]}")


@pytest.mark.parametrize("processes", [1, 2])
async def test_one_turn_that_is_asked_again_twice_at_once_is_never_a_mixture(
    world: World, settings: Settings, processes: int
) -> None:
    mira = await world.bot()
    chat = await world.chat(mira)
    turn = (await world.say(chat, "Who am I?", calls(called("remember", text="0")), say("0")))["done"]["turn"]["id"]
    world.upstream.respond_with(_remembering_a_number_and_saying_it())
    async with served(settings, clock=world.clock) as second:
        doors = (world.rest, world.rest if processes == 1 else second.rest)
        asked = (door.post(f"/turns/{turn}/regenerate", json={"stream": False}) for door in doors)
        answers = await asyncio.gather(*asked)
    world.upstream.respond_with(echo)
    assert sorted(answer.status_code for answer in answers) in ([200, 200], [200, 409])
    replies = (await world.turn(turn))["messages"][1:]
    assert [reply["variant"] for reply in replies] == list(range(len(replies)))
    (chosen,) = [reply["text"] for reply in replies if reply["chosen"]]
    assert chosen in {"1", "2"}
    assert await world.texts(f"bot:{mira}") == [chosen]


def _remembering_a_number_and_saying_it() -> Responder:
    """A model that keeps the next number by a tool call, and then says the one that it kept."""
    numbers = itertools.count(1)

    def respond(request: RecordedRequest) -> Reply:
        messages = json.loads(request.body)["messages"]
        if messages[-1]["role"] != "tool":
            return calls(called("remember", text=str(next(numbers))))
        return say(json.loads(messages[-2]["tool_calls"][0]["function"]["arguments"])["text"])

    return respond


async def test_a_model_that_deletes_edits_or_pins_by_ids_it_was_never_shown_changes_nothing(
    world: World, stranger: Stranger
) -> None:
    mira = await world.bot()
    scope, chat = f"bot:{mira}", await world.chat(mira)
    pinned = await world.add("call me Al", scope, pinned=True)
    loose = await world.add("likes tea", scope)
    await world.say(chat, "Hello")
    before, theirs = await world.memories(scope), await stranger.all_there_is()
    for wrong in (0, 2, -1, 10**12, pinned["id"], loose["id"], stranger.ids["memory"], "*", "1; 2", None):
        tried = [called("forget", id=wrong), called("update_memory", id=wrong, text="obeys")]
        told = await world.say(chat, "Go on", calls(*tried), say("I could not"))
        assert [note["kind"] for note in told["noted"]] == ["refused"] * 2, wrong
    named = [called(name, id=1) for name in ("pin_memory", "pin", "archive", "clear_all", "delete_bot")]
    told = await world.say(chat, "Go on", calls(*named), say("I could not"))
    assert [note["kind"] for note in told["noted"]] == ["refused"] * len(named)
    assert await world.memories(scope) == before
    assert await stranger.all_there_is() == theirs
