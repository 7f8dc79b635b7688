"""Starting: import, process start to first answer, memory and disk with 1,000 memories, installed size.

`python -m bench.start` prints one JSON line. `--installed` also measures the core in a virtual environment of its own,
which needs a package registry. Every process is new, and its times are seen from outside: from the call that starts it
to the line that it prints.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.figures import median_ms, print_line
from bench.world import Speech
from souvenance.app.remember import NewMemory, remember_many
from souvenance.domain.ids import LOCAL_ACCOUNT
from souvenance.domain.memory import ACCOUNT_SCOPE
from souvenance.settings import read_settings
from souvenance.testing import ScriptedModel
from souvenance.wiring import open_house

MEMORIES = 1_000
MEGABYTE = 1_000_000
_QUIET = {"SOUVENANCE_DETECT_LOCAL": "off", "SOUVENANCE_DETECT_KEYS": "off"}

_BARE = "print('ready', flush=True); input()"
_IMPORT = """
import time
before = time.perf_counter()
import souvenance
print(time.perf_counter() - before)
"""
_OPENED = """
import asyncio, souvenance, sys
async def main():
    async with souvenance.open(sys.argv[1]) as memory:
        {answer}
        input()
asyncio.run(main())
"""
_QUERY = _OPENED.format(
    answer="""hits = await memory.query("harbour lighthouse")
        print(hits.memories[0].memory.text, flush=True)"""
)
_CHAT = _OPENED.format(
    answer="""async for piece in memory.chat("Where is the lighthouse?", bot="Ada"):
            if piece.text:
                print(piece.text.splitlines()[0], flush=True)
                break"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One process: seconds until it answered, and its resident bytes then."""

    seconds: float
    resident: int


async def fill(folder: Path) -> None:
    """A store with a thousand memories of one account."""
    speech = Speech(seed=4)
    new = [NewMemory(text=speech.fact(number), scope=ACCOUNT_SCOPE) for number in range(MEMORIES)]
    async with await open_house(read_settings({"folder": folder}, environment={}), models=ScriptedModel()) as house:
        for first in range(0, MEMORIES, 100):
            await remember_many(house.kit, LOCAL_ACCOUNT, new[first : first + 100])


def started(code: str, *arguments: str) -> Start:
    """A Python process until its first line."""
    before = time.perf_counter()
    with _process((sys.executable, "-c", code, *arguments)) as process:
        _line(process)
        return Start(seconds=time.perf_counter() - before, resident=_resident(process.pid))


def served(folder: Path, path: str) -> Start:
    """A server on a free port until it has answered one request."""
    command = "import sys; from souvenance.cli import main; sys.exit(main())"
    before = time.perf_counter()
    with _process((sys.executable, "-c", command, "serve", "--port", "0", "--folder", str(folder))) as process:
        address = _line(process).split()[3]
        with _direct().open(address + path, timeout=30) as response:
            response.read()
        return Start(seconds=time.perf_counter() - before, resident=_resident(process.pid))


def import_seconds() -> float:
    """What the import statement itself takes, told by the process that runs it."""
    ran = subprocess.run((sys.executable, "-c", _IMPORT), capture_output=True, text=True, check=True)
    return float(ran.stdout)


def measure(folder: Path, runs: int) -> dict[str, object]:
    """The figures of `runs` processes of each kind, one after the other."""
    asyncio.run(fill(folder))
    bare = [started(_BARE) for _ in range(runs)]
    query = [started(_QUERY, str(folder)) for _ in range(runs)]
    chat = [started(_CHAT, str(folder)) for _ in range(runs)]
    server = [served(folder, "/api/v1/memories?limit=1") for _ in range(runs)]
    floor = _middle([start.resident for start in bare])
    return {
        "import_ms": median_ms([import_seconds() for _ in range(runs)]),
        "bare_interpreter_ms": _ms(bare),
        "library_first_query_ms": _ms(query),
        "library_first_reply_ms": _ms(chat),
        "server_first_answer_ms": _ms(server),
        "library_rss_mb": _megabytes(_middle([start.resident for start in query]) - floor),
        "library_rss_after_reply_mb": _megabytes(_middle([start.resident for start in chat]) - floor),
        "server_rss_mb": _megabytes(_middle([start.resident for start in server]) - floor),
        "bare_interpreter_rss_mb": _megabytes(floor),
        "disk_mb": _megabytes(_size(folder)),
        "memories": MEMORIES,
        "runs": runs,
    }


def installed(folder: Path) -> dict[str, object]:
    """The size of the core and what it needs, installed from this checkout into an environment of its own."""
    subprocess.run((sys.executable, "-m", "venv", "--without-pip", str(folder)), check=True)
    target = next(folder.glob("lib/python*/site-packages"))
    root = Path(__file__).resolve().parent.parent
    install = (sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(target), str(root))
    subprocess.run(install, check=True, stdout=sys.stderr)
    sizes = {path.name: _size(path) for path in target.iterdir() if path.is_dir()}
    largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:5]
    return {
        "installed_mb": _megabytes(_size(target)),
        "installed_largest_mb": {name: _megabytes(sizes[name]) for name in largest},
    }


@contextmanager
def _process(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")} | _QUIET
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    assert process.stderr is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"it ended without an answer: {process.stderr.read()[-500:]}")
    return line


def _direct() -> urllib.request.OpenerDirector:
    """Without the proxy of the environment: the server is on this machine."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _resident(pid: int) -> int:
    """Resident bytes of a process, as Linux tells them."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _middle(values: Sequence[int]) -> int:
    return sorted(values)[len(values) // 2]


def _ms(starts: Sequence[Start]) -> float:
    return median_ms([start.seconds for start in starts])


def _megabytes(size: int) -> float:
    return round(size / MEGABYTE, 1)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="processes of each kind")
    parser.add_argument("--installed", action="store_true", help="also install the core and measure its size")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder) / "memory", options.runs)
        if options.installed:
            figures |= installed(Path(folder) / "environment")
    print_line("start", figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
