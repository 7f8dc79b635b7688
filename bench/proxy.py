"""Time to first token through Souvenance against straight to the upstream: `python -m bench.proxy [--requests 300]`.

Three processes: a scripted upstream, `souvenance serve` with 100 + 20 memories in two scopes, and this one. Each
request carries a history of 60 messages and goes once each way, in turn, over warm connections. A token counts when its
first byte of content arrives; the next request waits for the end of the stream, so no settling write is under way.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from bench.figures import median_ms, p95_ms, print_line
from bench.world import BOT, Said, Speech, furnish
from souvenance.domain.ids import LOCAL_ACCOUNT
from souvenance.settings import read_settings
from souvenance.testing import ScriptedModel
from souvenance.wiring import open_house

MESSAGES = 60
WARM_UP = 30
AIM_MS = 8
MODEL = "scripted"


class Client:
    """One kept-alive connection to a server that speaks the OpenAI form."""

    def __init__(self, base_url: str, *, model: str, headers: dict[str, str] | None = None) -> None:
        parts = urlsplit(base_url)
        self._path = f"{parts.path}/chat/completions"
        self._model = model
        self._headers = {"Content-Type": "application/json", **(headers or {})}
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)

    def first_token(self, messages: Sequence[dict[str, str]]) -> float:
        """Seconds until the first content; returns after the last byte."""
        body = json.dumps({"model": self._model, "stream": True, "messages": messages}).encode()
        began = time.perf_counter()
        self._connection.request("POST", self._path, body, self._headers)
        response = self._connection.getresponse()
        passed = None
        for line in response:
            if passed is None and _has_content(line):
                passed = time.perf_counter() - began
        assert passed is not None, f"no content in an answer of status {response.status}"
        return passed

    def close(self) -> None:
        self._connection.close()


def _has_content(line: bytes) -> bool:
    if not line.startswith(b"data: {"):
        return False
    choices = json.loads(line[6:])["choices"]
    return bool(choices and choices[0]["delta"].get("content"))


@contextmanager
def process(*arguments: str, environment: dict[str, str]) -> Iterator[str]:
    """A Python process that runs until the end; the first address that it prints."""
    started = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    try:
        assert started.stdout is not None
        yield next(word for line in started.stdout for word in line.split() if word.startswith("http"))
    finally:
        started.terminate()
        started.wait(timeout=30)


@contextmanager
def served(folder: Path, upstream: str, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """`souvenance serve` on a furnished folder; its address. `settings` are more of its environment."""
    environment = {
        **(settings or {}),
        "SOUVENANCE_UPSTREAMS_BENCH_BASE_URL": upstream,
        "SOUVENANCE_DETECT_LOCAL": "false",
        "SOUVENANCE_DETECT_KEYS": "false",
        "SOUVENANCE_LOG_LEVEL": "warning",
    }
    serve = ("-c", "from souvenance.cli import main; main()", "serve", "--port", "0", "--folder", str(folder))
    with process(*serve, environment=environment) as address:
        yield address


async def prepare(folder: Path) -> None:
    """A bot and its account with full memories in this folder."""
    settings = read_settings({"folder": folder}, environment={})
    async with await open_house(settings, models=ScriptedModel()) as house:
        await furnish(house.kit, LOCAL_ACCOUNT, messages=0)


def measure(through: Client, straight: Client, requests: int) -> dict[str, object]:
    """Both ways in turn, the first of a pair changing sides."""
    speech = Speech(seed=5)
    history = _history([speech.turn() for _ in range(MESSAGES // 2)])
    ours, theirs = [], []
    for number in range(WARM_UP + requests):
        messages = [*history, {"role": "user", "content": speech.turn().user}]
        if number % 2:
            ours.append(through.first_token(messages))
        theirs.append(straight.first_token(messages))
        if not number % 2:
            ours.append(through.first_token(messages))
    return report(ours[WARM_UP:], theirs[WARM_UP:])


def _history(said: Sequence[Said]) -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [
        {"role": role, "content": text}
        for turn in said
        for role, text in zip(roles, (turn.user, turn.reply), strict=True)
    ]


def report(ours: Sequence[float], theirs: Sequence[float]) -> dict[str, object]:
    """`added_ms` is the difference of the medians, `added_p95_ms` the 95th percentile of the pairs' differences."""
    return {
        "added_ms": round((statistics.median(ours) - statistics.median(theirs)) * 1_000, 2),
        "added_p95_ms": p95_ms([one - other for one, other in zip(ours, theirs, strict=True)]),
        "median_ms": median_ms(ours),
        "p95_ms": p95_ms(ours),
        "straight_median_ms": median_ms(theirs),
        "straight_p95_ms": p95_ms(theirs),
        "requests": len(ours),
        "messages": MESSAGES,
    }


def main() -> None:
    """Measure and print one JSON line."""
    parser = argparse.ArgumentParser(prog="python -m bench.proxy", description=main.__doc__)
    parser.add_argument("--requests", type=int, default=300, help="requests each way that count; 20 or more")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="souvenance-bench-")))
        asyncio.run(prepare(folder))
        upstream = stack.enter_context(process("-m", "souvenance.testing.upstream", "--chunks", "20", environment={}))
        address = stack.enter_context(served(folder, upstream))
        through = Client(f"{address}/v1", model=BOT, headers={"X-Souvenance-Conversation": "bench"})
        straight = Client(upstream, model=MODEL)
        stack.callback(through.close)
        stack.callback(straight.close)
        figures = measure(through, straight, options.requests)
    print_line("proxy", {"aim_added_ms": AIM_MS, **figures})


if __name__ == "__main__":
    main()
