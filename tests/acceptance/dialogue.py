"""The conversation that is replayed: what the user says, and what the upstream is to answer."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VARIABLE = "SOUVENANCE_REPLAY"
MOST_MESSAGES = 300
LEAST_MESSAGES = 120
_DEMO = Path(__file__).resolve().parents[2] / "demo" / "conversation.jsonl"

Line = tuple[str, str]
"""Who says what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One turn: the user's message and the upstream's reply."""

    said: str
    reply: str


def exchanges(most: int = MOST_MESSAGES) -> tuple[Exchange, ...]:
    """The conversation in the file that SOUVENANCE_REPLAY names, else the invented life's; at most `most` messages."""
    named = os.environ.get(VARIABLE)
    lines = _of_locomo(Path(named)) if named else _of_demo()
    messages = [(who, text.strip()) for who, text in joined(lines) if text.strip()][:most]
    pairs = zip(messages[::2], messages[1::2], strict=False)
    found = tuple(Exchange(said=said, reply=reply) for (_, said), (_, reply) in pairs)
    assert 2 * len(found) >= min(most, LEAST_MESSAGES), "too short a conversation proves nothing"
    return found


def joined(lines: Iterable[Line]) -> list[Line]:
    """Runs of one speaker joined by a newline."""
    runs = itertools.groupby(lines, key=lambda line: line[0])
    return [(who, "\n".join(text for _, text in said)) for who, said in runs]


def _of_locomo(file: Path) -> list[Line]:
    """The first conversation of a file in LoCoMo's form, its sessions in order."""
    told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))[0]["conversation"]
    numbers = sorted(int(name.removeprefix("session_")) for name in told if name.removeprefix("session_").isdigit())
    return [
        (line["speaker"], line["text"] + (f" [{line['blip_caption']}]" if line.get("blip_caption") else ""))
        for number in numbers
        for line in told[f"session_{number}"]
    ]


def _of_demo() -> list[Line]:
    rows = [json.loads(row) for row in _DEMO.read_text(encoding="utf-8").splitlines() if row]
    return [(row["speaker"], row["text"]) for row in rows]
