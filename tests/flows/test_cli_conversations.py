"""The command line on conversations, drafts and bots that are handed on."""

from __future__ import annotations

import io
import sys

import pytest

from souvenance.testing import ScriptedUpstream, say
from tests.flows.commands import Souvenance


def test_memories_are_drafted_reviewed_and_saved(run: Souvenance, upstream: ScriptedUpstream) -> None:
    upstream.script(say('{"memories": [{"text": "likes tea"}, {"text": "has a cat"}]}'))
    drafted = run("drafts", "generate", "tea and a cat")
    assert "no conversation was read" in drafted.err
    tea, cat = (one["id"] for one in run("drafts", "list", "--json").json)
    assert drafted.first == tea
    assert run("drafts", "edit", tea, "likes green tea", "--pin").out == f"{tea}\tedited\n"
    assert run("drafts", "discard", cat).out == f"{cat}\tdiscarded\n"
    (saved,) = run("drafts", "save", tea, "--json").json
    assert (saved["memory"]["text"], saved["memory"]["pinned"], saved["created"]) == ("likes green tea", True, True)
    (same,) = run("remember", "Likes green tea!", "--check", "--json").json
    assert (same["memory"]["id"], same["equal"]) == (saved["memory"]["id"], True)
    assert run("drafts", "list").out == ""


def test_messages_are_drafted_as_they_are(run: Souvenance, upstream: ScriptedUpstream) -> None:
    upstream.script(say("Noted"))
    run("chat", "I like tea")
    ids = [one["message"]["id"] for one in run("query", "I like tea", "--messages", "--json").json if "message" in one]
    (drafted,) = run("drafts", "from-messages", *ids, "--how", "joined", "--no-pin", "--json").json
    assert (drafted["drafts"][0]["text"], drafted["drafts"][0]["pinned"]) == ("I like tea", False)
    assert drafted["drafts"][0]["sources"] == ids


def test_k4_m8_a_bot_is_handed_on_and_deleted_with_a_question(run: Souvenance, monkeypatch: pytest.MonkeyPatch) -> None:
    run("bots", "add", "Mira", "--system-prompt", "You are Mira.")
    run("remember", "Lives in Oslo", "--bot", "Mira")
    document, link = run("bots", "export", "Mira").out, run("bots", "share", "Mira").out.strip()
    assert "Oslo" not in document
    monkeypatch.setattr(sys, "stdin", io.StringIO(document))
    assert run("bots", "import", "-").out.endswith("\tMira 2\n")
    assert run("bots", "import", link, "--json").json[0]["system_prompt"] == "You are Mira."
    assert run("bots", "import", "#nothing").code == 2
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\nn\n"))
    assert run("bots", "delete", "Mira").code == 1, "asked twice, the second time it was not meant"
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\ny\n"))
    assert "1 memories kept for the account" in run("bots", "delete", "Mira").out
    assert [one["text"] for one in run("memories", "list", "--json").json] == ["Lives in Oslo"]
    run("remember", "Lives in Graz", "--bot", "Mira 2")
    assert run("bots", "delete", "Mira 2", "--memories", "erase", "--yes").code == 0
    assert "Graz" not in run("memories", "list", "--json").out


def test_m7_a_group_answers_in_a_terminal(run: Souvenance, upstream: ScriptedUpstream) -> None:
    upstream.script(say("I am."), say("Me too."))
    said = run("chat", "Who?", "--bot", "Ada", "--with", "Bob")
    assert said.out == "Ada: I am.\n\nBob: Me too.\n"
    assert "--with 'Bob' --conversation cnv_" in said.err
    conversation = said.err.split()[-1].rstrip(")")
    upstream.script(say("I still am."), say("Me too, as I said."))
    assert run("conversations", "let-answer", conversation).out == "Ada: I still am.\n"
    assert run("conversations", "let-answer", conversation, "--speaker", "Bob").out == "Bob: Me too, as I said.\n"


def test_t7_a_message_is_said_in_place_of_a_turn(run: Souvenance, upstream: ScriptedUpstream) -> None:
    upstream.script(say("Oslo."), say("Rome."))
    run("chat", "--bot", "Ada", "I mean Norway")
    (chat,) = run("conversations", "list", "--json").json
    (said, _) = run("conversations", "show", chat["id"], "--json").json
    again = ("--conversation", chat["id"], "--replaces", said["turn_id"])
    assert run("chat", "--bot", "Ada", "I mean Italy", *again).out == "Rome.\n"
    assert [one["text"] for one in run("conversations", "show", chat["id"], "--json").json] == ["I mean Italy", "Rome."]
    assert run("chat", "--bot", "Ada", "And Spain?", *again).code != 0, "that turn is gone"


def test_m1_m9_what_holds_in_one_conversation_is_seen_and_cleared_there(
    run: Souvenance, upstream: ScriptedUpstream
) -> None:
    upstream.script(say("Noted."))
    run("chat", "--bot", "Ada", "Hello")
    (chat,) = run("conversations", "list", "--json").json
    there = ("--conversation", chat["id"])
    run("remember", "we write in French", *there)
    run("remember", "we write in prose", *there, "--pin")
    assert run("memories", "list", "--json").json == []
    assert len(run("memories", "list", *there, "--json").json) == 2
    (equal, *_) = run("remember", "We write in French!", *there, "--check", "--json").json
    assert (equal["memory"]["text"], equal["equal"]) == ("we write in French", True)
    assert run("memories", "removed", *there, "--json").json == []
    assert run("memories", "clear", *there, "--account", "--yes").code != 0
    (cleared,) = run("memories", "clear", *there, "--yes", "--json").json
    assert (len(cleared["erasure"]["memory_ids"]), cleared["pinned"]) == (1, 1)
    assert [one["text"] for one in run("memories", "list", *there, "--json").json] == ["we write in prose"]


def test_t2_t4_t7_a_conversation_is_forked_rewound_and_deleted(
    run: Souvenance, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream.script(say("First."), say("Second."))
    run("chat", "--bot", "Ada", "One")
    (chat,) = run("conversations", "list", "--json").json
    run("chat", "Two", "--conversation", chat["id"])
    shown = run("conversations", "show", chat["id"], "--json").json
    assert [message["text"] for message in shown] == ["One", "First.", "Two", "Second."]
    (branch,) = run("conversations", "fork", shown[1]["id"], "--json").json
    assert (branch["parent_id"], branch["messages"]) == (chat["id"], 2)
    assert run("messages", "edit", shown[1]["id"], "Premier.").out == "Premier.\n"
    neither = run("conversations", "rewind", chat["id"])
    assert neither.code != 0
    assert "--after TURN_ID or --all" in neither.err
    (left,) = run("conversations", "rewind", chat["id"], "--after", shown[1]["turn_id"], "--json").json
    assert left["messages"] == 2
    assert "1 messages are left" in run("messages", "delete", shown[1]["id"]).err
    assert run("conversations", "show", chat["id"]).out.endswith("\tOne\n")
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    assert run("conversations", "delete", chat["id"], "--memories", "erase").code == 1, "it asks"
    assert run("conversations", "delete", chat["id"], "--memories", "erase", "--yes").code == 0
    assert [each["id"] for each in run("conversations", "list", "--json").json] == [branch["id"]]
    assert run("conversations", "show", chat["id"]).code != 0
