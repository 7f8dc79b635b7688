"""`souvenance summary …`: read and correct a conversation's summary from a terminal (S4, S6, S8)."""

from __future__ import annotations

import io
import json

import pytest

from souvenance import blocking
from souvenance.testing import ScriptedUpstream, say
from souvenance.testing.http_exchange import RecordedRequest
from souvenance.testing.script import Reply
from souvenance.testing.summaries import summary_answer
from tests.flows.commands import Souvenance


def _answers(request: RecordedRequest) -> Reply:
    return say(summary_answer(json.loads(request.body)["messages"]) or "I see.")


@pytest.fixture
def chat(environment: dict[str, str], upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a conversation whose first turns are summed up, in the installation of the commands."""
    upstream.respond_with(_answers)
    monkeypatch.setenv("SOUVENANCE_LIMITS_BALANCED_MESSAGES", "6")
    with blocking.open(work=False) as memory:
        begun = memory.begin(bot="Mira")
        for number in range(4):
            memory.say(f"My sister Anna lives in Lyon, {number}.", bot="Mira", conversation=begun)
        memory.work.now()
        assert memory.summaries.read(begun).nodes
        return begun.conversation_id


def test_s6_a_summary_is_shown_edited_and_found(run: Souvenance, chat: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (summary,) = run("summary", "show", chat, "--json").json
    node = summary["nodes"][0]
    shown = run("summary", "show", chat)
    assert f"{node['id']}\trecent, turn 1, " in shown.out
    assert "] My sister Anna lives in Lyon, 0." in shown.out
    counts = summary["counts"]
    assert f"{counts['summarised']} messages summarised, 0 waiting, {counts['in_window']} sent" in shown.err
    assert "Deeper memory is active." in shown.err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"## State\n- Anna lives in Nice.\n")))
    (edited,) = run("summary", "edit", chat, node["id"], "-", "--seen", "1", "--json").json
    assert (edited["text"], edited["version"]) == ("## State\n- Anna lives in Nice.", 2)
    late = run("summary", "edit", chat, node["id"], "x", "--seen", "1")
    assert (late.code, "version 2" in late.err) == (1, True)
    assert run("summary", "settle", chat, node["id"], "keep").code == 1
    opened = run("summary", "show", chat, "--node", node["id"])
    assert "edited" in opened.out.splitlines()[0]
    assert f"{node['id']}\tconversation:{chat}\tAnna lives in Nice.\t" in run("remember", "--check", "Anna in Nice").out


def test_s8_a_level_is_changed_where_the_summary_is(run: Souvenance, chat: str) -> None:
    changed = run("summary", "level", chat, "detailed")
    assert (changed.out, "nodes were written at another level" in changed.err) == ("detailed\n", True)
    assert run("bots", "level", "Mira").out == "detailed\n"


def test_s4_rules_are_added_reworded_retired_reopened_and_removed(run: Souvenance, chat: str) -> None:
    rule = run("summary", "rules", "add", chat, "Be brief.").first
    assert run("summary", "rules", "edit", chat, rule, "Be kind.").out == f"{rule}\tin force\tBe kind.\n"
    assert run("summary", "rules", "retire", chat, rule).out == f"{rule}\tretired\tBe kind.\n"
    assert run("summary", "rules", "list", chat).out == f"{rule}\tretired\tperson\tBe kind.\n"
    (reopened,) = run("summary", "rules", "reopen", chat, rule, "--json").json
    assert reopened["in_force"] is True
    assert run("summary", "rules", "edit", chat, rule, "x", "--was", "Be brief.").code == 1
    assert run("summary", "rules", "remove", chat, rule).code == 0
    assert run("summary", "rules", "list", chat, "--json").json == []
    assert "There is no rule" in run("summary", "rules", "edit", chat, rule, "x").err
