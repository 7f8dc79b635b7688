"""Python imports this by itself where this folder is on PYTHONPATH: it notes whom the process tries to reach."""

from __future__ import annotations

import json
import os
import sys

_WATCHED = frozenset(
    {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.sendto"}
)


def _watch(file: str) -> None:
    """Write one line of JSON, the event and its target, for every attempt."""
    out = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event in _WATCHED:
            target = arguments[:2] if event == "socket.getaddrinfo" else arguments[-1]
            os.write(out, json.dumps([event, target], default=str).encode() + b"\n")

    sys.addaudithook(note)
    # uvloop connects beneath Python, where no hook looks: without it the server runs on Python's own loop.
    sys.modules["uvloop"] = None  # type: ignore[assignment]


if "SOUVENANCE_TEST_AUDIT" in os.environ:
    _watch(os.environ["SOUVENANCE_TEST_AUDIT"])
