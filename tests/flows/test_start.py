"""What a process loads before its first answer: facts, where `bench/start.py` has the times."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx2

from souvenance.server.application import create_app
from souvenance.settings import read_settings
from souvenance.testing import ScriptedModel
from souvenance.wiring import open_house

_REMEMBER = """
import asyncio, souvenance, sys
async def main():
    async with souvenance.open(sys.argv[1]) as memory:
        await memory.remember("The lighthouse stands by the harbour")
asyncio.run(main())
"""
_ASK = """
import asyncio, souvenance, sys
async def main():
    async with souvenance.open(sys.argv[1]) as memory:
        hits = await memory.query("lighthouse")
        print(len(hits.memories), *sys.modules)
asyncio.run(main())
"""


def _ran(code: str, folder: Path) -> list[str]:
    ran = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True)
    return ran.stdout.split()


def test_the_first_query_of_a_process_waits_for_nothing_heavy(tmp_path: Path) -> None:
    _ran(_REMEMBER, tmp_path)
    found, *loaded = _ran(_ASK, tmp_path)
    assert found == "1"
    heavy = {"numpy", "alembic", "asyncpg", "pydantic", "httpx2", "openai", "fastapi", "typer", "toktok", "toktok_rs"}
    assert heavy.isdisjoint(loaded)


def test_the_first_query_of_a_process_loads_no_verb_but_its_own(tmp_path: Path) -> None:
    _ran(_REMEMBER, tmp_path)
    _, *loaded = _ran(_ASK, tmp_path)
    others = (
        "app.chat_turn",
        "app.turn",
        "app.browse",
        "app.remember",
        "app.drafts",
        "storage.turns",
        "storage.journal",
        "storage.notifications",
        "library.notifications",
    )
    assert {f"souvenance.{name}" for name in others}.isdisjoint(loaded)
    assert "souvenance.app.query_memories" in loaded


def test_a_server_opens_a_door_when_it_is_first_knocked_at(tmp_path: Path) -> None:
    code = "import sys, souvenance.server.application; print(*sys.modules)"
    loaded = _ran(code, tmp_path)
    doors = ("openai_door", "api.memories", "api.turns", "api.drafts", "forms", "views.memories")
    assert {f"souvenance.server.{name}" for name in doors}.isdisjoint(loaded)


def test_a_server_imports_no_other_command(tmp_path: Path) -> None:
    code = "import sys; from souvenance.cli.program import program_of; program_of(('serve',)); print(*sys.modules)"
    loaded = _ran(code, tmp_path)
    assert "souvenance.cli.serve" in loaded
    assert {"souvenance.cli.chat", "souvenance.cli.bots", "rich", "fastapi", "sqlalchemy"}.isdisjoint(loaded)


async def test_doors_answer_alike_whether_they_were_warmed_or_knocked_at(tmp_path: Path) -> None:
    settings = read_settings({"folder": tmp_path}, environment={})
    async with await open_house(settings, models=ScriptedModel()) as house:
        cold, warm = create_app(house), create_app(house)
        await warm.doors.warm()
        for path in ("/api/v1/bots", "/v1/models", "/models", "/health/live", "/api/v1/nothing", "/api/v1/turns/trn_1"):
            answers = []
            for app in (cold, warm):
                transport = httpx2.ASGITransport(app=app)
                async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                    answers.append(await client.get(path))
            first, second = answers
            assert (first.status_code, first.content) == (second.status_code, second.content), path
        assert cold.openapi()["paths"].keys() == warm.openapi()["paths"].keys()
