"""The command line: most commands in this process, a server and a terminal as processes of their own."""

from __future__ import annotations

import io
import os
import pty
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from souvenance.testing import Hang, ScriptedUpstream, say
from tests.flows.commands import Souvenance

_PROGRAM = (sys.executable, "-c", "import sys; from souvenance.cli import main; sys.exit(main())")


@contextmanager
def program(environment: dict[str, str], *arguments: str, **more: Any) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        (*_PROGRAM, *arguments), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def _serving(environment: dict[str, str]) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server on a free port: its address, as it prints it, and its process."""
    with program(environment, "serve", "--port", "0") as process:
        assert process.stdout is not None
        answers, place = process.stdout.readline(), process.stdout.readline()
        assert environment["SOUVENANCE_FOLDER"] in place
        yield answers.split()[3], process


def test_a_fact_is_kept_listed_shown_and_found(run: Souvenance) -> None:
    kept = run("remember", "Allergic to walnuts")
    assert (kept.code, kept.out.split("\t")[1]) == (0, "remembered\n")
    assert run("remember", "allergic to walnuts.").out == f"{kept.first}\tknown already: one more source\n"
    (listed,) = run("memories", "list", "--json").json
    assert (listed["id"], listed["text"], listed["scope"]) == (kept.first, "Allergic to walnuts", "account")
    assert run("memories", "list").out.startswith(f"{kept.first}\taccount\tAllergic to walnuts\t")
    assert "2 sources" in run("memories", "show", kept.first).out
    (found,) = run("query", "walnuts", "--json").json
    assert found["memory"]["id"] == kept.first
    assert found["why"]


def test_a_memory_is_changed_step_by_step_and_its_history_tells(run: Souvenance) -> None:
    kept = run("remember", "Lives in Oslo", "--pin").first
    assert run("memories", "unpin", kept).out == f"{kept}\tunpinned\n"
    assert run("memories", "edit", kept, "Lives in Bergen").code == 0
    assert run("memories", "archive", kept).code == 0
    assert run("memories", "list", "--shelf", "active").out == ""
    assert run("memories", "restore", kept, "--json").json[0]["archived"] is False
    assert run("memories", "pin", kept).out == f"{kept}\tpinned\n"
    said = [(entry["intent"], entry["actor"]) for entry in run("memories", "history", kept, "--json").json]
    assert [intent for intent, _ in said] == ["add", "pin", "unpin", "update", "archive", "restore", "pin"]
    assert {actor for _, actor in said} == {"person"}


def test_an_edit_of_a_version_no_longer_there_is_refused(run: Souvenance) -> None:
    kept = run("remember", "Lives in Oslo").first
    run("memories", "edit", kept, "Lives in Bergen")
    stale = run("memories", "edit", kept, "Lives in Graz", "--seen", "1")
    assert (stale.code, stale.out) == (1, "")
    assert "at version 2" in stale.err


def test_what_is_forgotten_comes_back_while_its_offer_stands(run: Souvenance) -> None:
    kept = run("remember", "Allergic to walnuts").first
    erased = run("memories", "forget", kept)
    assert run("memories", "list").out == ""
    assert f"souvenance memories undo {erased.first}" in erased.err
    assert run("memories", "undo", erased.first).code == 0
    assert run("memories", "list").out.startswith(kept)


def test_once_the_offer_has_ended_it_is_gone(run: Souvenance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOUVENANCE_LIMITS_UNDO_SECONDS", "0")
    kept = run("remember", "Allergic to walnuts").first
    erased = run("memories", "forget", kept).first
    assert run("memories", "undo", erased).code in (1, 2)
    assert run("memories", "show", kept).code == 2


def test_m9_a_clear_asks_twice_and_keeps_the_pinned_unless_told_otherwise(
    run: Souvenance, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("bots", "add", "Ada")
    run("remember", "Likes tea", "--bot", "Ada")
    kept = run("remember", "Allergic to walnuts", "--bot", "Ada", "--pin").first
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n\n"))
    cleared = run("memories", "clear", "--bot", "Ada")
    assert "\terased 1\n" in cleared.out
    assert "Ada will no longer know them. Messages and summaries may still hold what they say." in cleared.err
    assert "these are the ones you marked and protected yourself" in cleared.err
    assert run("memories", "list").out.startswith(kept)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\ny\n"))
    pinned_too = run("memories", "clear", "--bot", "Ada")
    assert "\terased 1\n" in pinned_too.out
    assert run("memories", "list").out == ""


def test_m9_without_questions_the_pinned_ones_go_by_their_number_only(run: Souvenance) -> None:
    run("remember", "Allergic to walnuts", "--pin")
    assert run("memories", "clear", "--account", "--yes", "--json").json == [{"erasure": None, "pinned": 1}]
    wrong = run("memories", "clear", "--account", "--yes", "--pinned", "2")
    assert wrong.code == 1
    assert "There are 1 pinned memories" in wrong.err
    assert run("memories", "clear", "--account", "--yes", "--pinned", "1").out.endswith("erased 1\n")
    assert run("memories", "clear", "--yes").code == 2


def test_m11_what_was_changed_is_brought_back_by_its_place(run: Souvenance) -> None:
    kept = run("remember", "Lives in Oslo").first
    run("memories", "edit", kept, "Lives in Bergen")
    place = run("memories", "history", kept, "--json").json[0]["place"]
    assert run("memories", "bring-back", kept, str(place)).out == f"{kept}\tbrought back\n"
    assert run("memories", "show", kept, "--json").json[0]["text"] == "Lives in Oslo"
    assert run("memories", "removed").out == ""


def test_lists_come_in_pages(run: Souvenance) -> None:
    for number in range(3):
        run("remember", f"Fact {number}")
    first = run("memories", "list", "--limit", "2")
    cursor = first.err.split("--cursor ")[1].strip()
    rest = run("memories", "list", "--limit", "2", "--cursor", cursor)
    assert [line.split("\t")[2] for line in (first.out + rest.out).splitlines()] == ["Fact 2", "Fact 1", "Fact 0"]
    assert rest.err == ""


def test_bots_are_made_shown_changed_and_set_to_a_level(run: Souvenance) -> None:
    (made,) = run("bots", "add", "Nota", "--preset", "notebook", "--setting", "learn=off", "--json").json
    assert (made["preset"], made["settings"]["learn"]) == ("notebook", False)
    assert run("remember", "Ada", "--bot", "Nota", "--key", "name").code == 0
    assert "\tname: Ada\t" in run("memories", "list", "--bot", "Nota").out
    assert "key 'name' is already" in run("remember", "Eve", "--bot", "Nota", "--key", "name").err
    assert "expected a key" in run("remember", "Ada", "--bot", "Nota").err
    (changed,) = run("bots", "set", "Nota", "--name", "Notes", "--setting", "learn=on", "--json").json
    assert (changed["name"], changed["settings"]["learn"]) == ("Notes", True)
    assert run("bots", "level", "Notes", "detailed").out == run("bots", "level", "Notes").out == "detailed\n"
    assert run("bots", "list").out.split("\t")[1:3] == ["Notes", "notebook"]
    assert "notebook" in run("bots", "show", "Notes").out


def test_one_question_is_answered_from_memory_and_the_chat_goes_on(run: Souvenance, upstream: ScriptedUpstream) -> None:
    run("remember", "Allergic to walnuts")
    upstream.script(say("No", " walnuts."))
    first = run("chat", "What should I not eat?")
    assert (first.code, first.out) == (0, "No walnuts.\n")
    assert b"Allergic to walnuts" in upstream.requests[0].body
    conversation = first.err.split("--conversation ")[1].strip(")\n")
    run("chat", "And why?", "--conversation", conversation)
    assert b"No walnuts." in upstream.requests[1].body


def test_a_command_in_the_chat_needs_no_model(run: Souvenance, upstream: ScriptedUpstream) -> None:
    answered = run("chat", "/remember I like tea", "--bot", "Ada")
    assert "I like tea" in answered.out
    assert upstream.requests == ()
    assert "I like tea" in run("memories", "list", "--bot", "Ada").out


def test_what_comes_through_a_pipe_is_said(environment: dict[str, str], upstream: ScriptedUpstream) -> None:
    upstream.script(say("Read."))
    with program(environment, "chat", stdin=subprocess.PIPE) as process:
        out, _ = process.communicate("Line one\nLine two\n", timeout=60)
    assert out == "Read.\n"
    assert b"Line one\\nLine two" in upstream.requests[0].body


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("remember", " "), 2, "text is empty"),
        (("remember", "x" * 501), 2, "501 characters; the limit is 500"),
        (("remember", "a\udc80b"), 2, "surrogate"),
        (("remember", "Lives in Oslo", "--bot", "Nobody"), 2, "no bot 'Nobody'"),
        (("memories", "show", "../../x"), 2, "no memory '../../x'"),
        (("memories", "forget", "*"), 2, "no memory '*'"),
        (("memories", "undo", "ers_none"), 2, "ers_none"),
        (("memories", "list", "--cursor", "nonsense"), 2, "cursor"),
        (("memories", "list", "--limit", "0"), 2, "limit"),
        (("memories", "list", "--shelf", "top"), 2, "shelf"),
        (("query", ""), 2, "text is empty"),
        (("bots", "set", "Nobody", "--model", "x"), 2, "no bot 'Nobody'"),
        (("bots", "set", "Nobody"), 2, "at least one"),
        (("bots", "add", "Ada", "--setting", "learn"), 2, "learn=off"),
        (("bots", "add", "Ada", "--setting", "colour=red"), 2, "colour"),
        (("chat", ""), 2, "text is empty"),
        (("chat", "Hello", "--conversation", "cnv_none"), 2, "no conversation 'cnv_none'"),
        (("serve", "--port", "70000"), 2, "port"),
        (("serve", "--host", "0.0.0.0", "--port", "0"), 2, "--allow-public-without-login"),
        (("doctor", "--database-url", "mysql://x/y"), 1, ""),
        (("remember", "x", "--database-url", "mysql://x/y"), 2, "postgresql://"),
        (("nonsense",), 2, "No such command"),
    ],
)
def test_an_error_is_one_clear_line_on_stderr(
    run: Souvenance, arguments: tuple[str, ...], code: int, told: str
) -> None:
    ran = run(*arguments)
    assert ran.code == code
    assert told in ran.err
    assert "Traceback" not in ran.err
    if not told:
        assert "broken" in ran.out
    else:
        assert ran.out == ""


def test_an_unknown_variable_is_named_with_the_nearest_setting(
    run: Souvenance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOUVENANCE_FOLDR", "x")
    ran = run("memories", "list")
    assert (ran.code, "Did you mean SOUVENANCE_FOLDER?" in ran.err) == (2, True)


def test_what_a_terminal_would_obey_is_shown_instead(run: Souvenance) -> None:
    run("remember", "red \x1b[31malert\x07 [bold]not markup[/bold]")
    shown = run("memories", "list").out
    assert "\x1b" not in shown
    assert "[bold]not markup[/bold]" in shown
    assert run("memories", "list", "--json").json[0]["text"] == "red \x1b[31malert\x07 [bold]not markup[/bold]"


def test_doctor_says_what_is_there_and_how_to_mend_what_is_not(
    run: Souvenance, upstream: ScriptedUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {finding["subject"]: finding for finding in run("doctor", "--json").json}
    assert str(tmp_path / "data") in found["store"]["says"]
    assert found["upstream home"]["state"] == "ok"
    assert "scripted" in found["upstream home"]["says"]
    assert found["default model"]["says"] == "scripted"
    upstream.stop()
    ran = run("doctor", "--json")
    broken = {finding["subject"]: finding for finding in ran.json if finding["state"] == "broken"}
    assert ran.code == 1
    assert "Start it" in broken["upstream home"]["mend"]


def test_doctor_warns_of_a_context_smaller_than_assumed(
    run: Souvenance, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing = {"object": "list", "data": [{"id": "small", "object": "model", "max_model_len": 4096}]}
    upstream.page("GET", "/v1/models", listing)
    (warned,) = [line for line in run("doctor", "--json").json if line["subject"] == "context of small"]
    assert "4096 tokens, smaller than the 8192 assumed" in warned["says"]
    monkeypatch.setenv("SOUVENANCE_UPSTREAMS_HOME_CONTEXT", "32768")
    (warned,) = [line for line in run("doctor", "--json").json if line["subject"] == "context of small"]
    assert "smaller than the 32768 assumed" in warned["says"]


def test_a_server_and_commands_use_one_folder_at_once(run: Souvenance, environment: dict[str, str]) -> None:
    with _serving(environment) as (address, server), httpx2.Client(base_url=address, trust_env=False) as rest:
        for number in range(5):
            assert run("remember", f"Said in the terminal {number}").code == 0
            made = rest.post("/api/v1/memories", json={"text": f"Said to the server {number}", "scope": "account"})
            assert made.status_code == 201, made.text
        through_rest = {item["text"] for item in rest.get("/api/v1/memories").json()["items"]}
        through_cli = {item["text"] for item in run("memories", "list", "--json").json}
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=30) == 0
    assert through_rest == through_cli
    assert len(through_cli) == 10


def test_a_busy_port_is_named_with_another_to_take(environment: dict[str, str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with program(environment, "serve", "--port", str(port)) as process:
            out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert f"already listens on 127.0.0.1:{port}" in err
    assert f"--port {port + 1}" in err


def test_an_interrupt_stops_the_reply_keeps_it_and_the_chat_goes_on(
    run: Souvenance, environment: dict[str, str], upstream: ScriptedUpstream
) -> None:
    upstream.script(Hang(after=("Once upon a time",)), say("The end."))
    own, theirs = pty.openpty()
    with program(environment, "chat", "--bot", "Ada", stdin=theirs) as process:
        assert process.stdout is not None
        os.write(own, b"Tell me a story\n")
        read_until(process, "Once upon a time")
        process.send_signal(signal.SIGINT)
        upstream.wait_for_disconnects(1)
        os.write(own, b"And then?\n")
        read_until(process, "The end.")
        os.write(own, b"/quit\n")
        assert process.wait(timeout=60) == 0
    os.close(own)
    os.close(theirs)
    assert b"Once upon a time" in upstream.requests[1].body


def read_until(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdout is not None
    seen = ""
    while text not in seen:
        piece = process.stdout.read(1)
        assert piece, f"the output ended with {seen!r}"
        seen += piece


def test_a_reader_that_leaves_early_gets_no_traceback(run: Souvenance, environment: dict[str, str]) -> None:
    run("remember", "Allergic to walnuts")
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        (*_PROGRAM, "memories", "list"), env=environment, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert "Traceback" not in ended.stderr
