"""The wheel in an empty environment: the core alone is a library, with its extras it serves. Run by `make prove`."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from souvenance.testing import ScriptedUpstream, say
from tests.acceptance.serving import ROOT, Installation, Server, scrubbed

_LIBRARY = """
import asyncio
import importlib.util
import souvenance
from souvenance.testing import ScriptedModel, say

assert not any(map(importlib.util.find_spec, ("fastapi", "typer", "asyncpg", "pydantic_ai"))), "the core is enough"

async def main():
    async with souvenance.open("memory", model=ScriptedModel(say("Hi", " there"))) as memory:
        await memory.remember("Lives in Oslo")
        return [piece.text async for piece in memory.chat("Hello", bot="Ada")]

print("".join(asyncio.run(main())))
"""


@pytest.fixture(scope="module")
def wheel() -> Path:
    """What `make dist` builds."""
    subprocess.run(["make", "dist"], cwd=ROOT, check=True, capture_output=True)
    [built] = (ROOT / "dist").glob("*.whl")
    return built


def installed(folder: Path, what: str) -> Path:
    """The programs of a new environment that holds `what` and what it needs, and nothing else."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", what], check=True)
    return programs


def test_the_core_of_the_wheel_is_a_library_without_any_extra(
    wheel: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    programs = installed(tmp_path / "venv", str(wheel))
    told = subprocess.run(
        [programs / "python", "-c", _LIBRARY],
        cwd=tmp_path,
        env=scrubbed(tmp_path),
        check=True,
        capture_output=True,
        text=True,
    )
    assert told.stdout == "Hi there\n"
    record_property("proof", "wheel: the core installs into an empty environment, and its library holds a chat")


async def test_the_wheel_with_its_extras_serves(
    wheel: Path, tmp_path: Path, upstream: ScriptedUpstream, record_property: Callable[[str, object], None]
) -> None:
    programs = installed(tmp_path / "venv", f"{wheel}[server,cli]")
    upstream.script(say("Hi", " there"))
    installation = Installation(
        folder=tmp_path / "data", model=upstream.url, command=(str(programs / "souvenance"), "serve")
    )
    async with Server(installation) as server, server.openai() as client:
        answer = await client.chat.completions.create(
            model="scripted@Ada", messages=[{"role": "user", "content": "Hello"}]
        )
    assert answer.choices[0].message.content == "Hi there"
    record_property("proof", "wheel: with [server,cli] it serves an OpenAI client from an empty environment")
