"""A real `souvenance serve` in a process of its own, on a folder of its own: started, killed, started again."""

from __future__ import annotations

import asyncio
import os
import random
import re
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx2
from openai import AsyncOpenAI

ROOT = Path(__file__).resolve().parents[2]
SOUVENANCE = (str(Path(sys.executable).with_name("souvenance")), "serve")
READY_SECONDS = 60.0
_ANSWERS = re.compile(r"answers at (http://\S+)")


def free_port() -> int:
    """A port below those that connections take for themselves, so that it is still free for a restart."""
    while True:
        port = random.SystemRandom().randrange(20_000, 30_000)
        with socket.socket() as taken, suppress(OSError):
            taken.bind(("127.0.0.1", port))
            return port


def scrubbed(folder: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment in which nothing of this machine's set-up shows: no keys, no proxies, no other home."""
    return {"PATH": os.defpath, "HOME": str(folder), "LANG": "C.UTF-8", "TZ": "UTC", **(more or {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A folder with its settings, and how its server is started; a database elsewhere is named in `database_url`.

    `model` is the one upstream, `context` what it says of itself in tokens. The port stays the same when it restarts.
    """

    folder: Path
    model: str
    port: int = field(default_factory=free_port)
    context: int = 65_536
    database_url: str | None = None
    command: Sequence[str] = SOUVENANCE
    environment: Mapping[str, str] = field(default_factory=dict)

    def write_settings(self) -> None:
        """The settings file: the one model, and no looking for others."""
        self.folder.mkdir(parents=True, exist_ok=True)
        database = "" if self.database_url is None else f'database_url = "{self.database_url}"\n'
        upstream = f'[upstreams.scripted]\nbase_url = "{self.model}"\ncontext = {self.context}\n'
        settings = f"port = {self.port}\ndetect_local = false\n{database}\n{upstream}"
        (self.folder / "souvenance.toml").write_text(settings, encoding="utf-8")

    def variables(self) -> dict[str, str]:
        return scrubbed(self.folder, {"SOUVENANCE_FOLDER": str(self.folder), **self.environment})


class Server:
    """The running server. Its log is appended to `serve.log` in the folder."""

    process: Process

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self.address = ""

    async def __aenter__(self) -> Self:
        self.installation.write_settings()
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.strike()
        await self.gone()

    async def start(self) -> None:
        """Start it and wait until it says where it answers."""
        with (self.installation.folder / "serve.log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *self.installation.command,
                cwd=ROOT,
                env=self.installation.variables(),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=log,
            )
        assert self.process.stdout is not None
        first = await asyncio.wait_for(self.process.stdout.readline(), READY_SECONDS)
        found = _ANSWERS.search(first.decode())
        if found is None:
            self.strike()
            await self.gone()
            raise AssertionError(f"the server did not start: {self.log()[-2_000:]}")
        self.address = found.group(1)

    def strike(self) -> None:
        """Kill -9, now; harmless when it is gone."""
        with suppress(ProcessLookupError):
            self.process.kill()

    async def gone(self) -> None:
        """Once the process has ended."""
        await self.process.communicate()

    async def restart(self) -> None:
        """On the same folder and database, once the old process is gone."""
        await self.gone()
        await self.start()

    def log(self) -> str:
        return (self.installation.folder / "serve.log").read_text(encoding="utf-8", errors="replace")

    def openai(self, key: str = "a-key") -> AsyncOpenAI:
        """The real client of the OpenAI form; it repeats nothing by itself."""
        return AsyncOpenAI(base_url=f"{self.address}/v1", api_key=key, max_retries=0, timeout=60.0)

    def rest(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(base_url=f"{self.address}/api/v1", timeout=60.0)
