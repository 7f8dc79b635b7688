"""The wheel in an empty environment: the core alone is a library, with its extras it serves. Run by `make prove`."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

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


async def test_the_wheel_is_a_library_by_itself_and_serves_with_its_extras(
    tmp_path: Path, upstream: ScriptedUpstream, record_property: Callable[[str, object], None]
) -> None:
    wheel = built()
    assert told_by_library(installed(tmp_path / "core", str(wheel)), tmp_path) == "Hi there\n"
    record_property("proof", "wheel: the core installs into an empty environment, and its library holds a chat")
    upstream.script(say("Hi", " there"))
    serve = (str(installed(tmp_path / "served", f"{wheel}[server,cli]") / "souvenance"), "serve")
    async with (
        Server(Installation(folder=tmp_path / "data", model=upstream.url, command=serve)) as server,
        server.openai() as client,
    ):
        answer = await client.chat.completions.create(
            model="scripted@Ada", messages=[{"role": "user", "content": "Hello"}]
        )
    assert answer.choices[0].message.content == "Hi there"
    record_property("proof", "wheel: with [server,cli] it serves an OpenAI client from an empty environment")


def built() -> Path:
    """What `make dist` makes."""
    subprocess.run(["make", "dist"], cwd=ROOT, check=True, capture_output=True)
    [wheel] = (ROOT / "dist").glob("*.whl")
    return wheel


def told_by_library(programs: Path, folder: Path) -> str:
    done = subprocess.run(
        [programs / "python", "-c", _LIBRARY],
        cwd=folder,
        env=scrubbed(folder),
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def installed(folder: Path, what: str) -> Path:
    """The programs of a new environment that holds `what` and what it needs, and nothing else."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", what], check=True)
    return programs
