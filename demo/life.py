"""The invented life as values, read from the data files beside this module.

`conversation.jsonl` is also what the acceptance tests replay: a line is `{"speaker": "user" | "bot", "at", "text"}`, in
turn; `remembers` on a reply is what the model stores before it speaks. A `command` (V3) is answered without a model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from souvenance.domain.bot import Preset

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One user message, or a command, and its reply; `number` counts those of a conversation from 0."""

    number: int
    at: datetime
    said: str
    reply: str = ""
    remembers: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A bot and the one conversation with it. `messages` are those that are stored: commands are not."""

    name: str
    preset: Preset
    system_prompt: str
    title: str
    exchanges: tuple[Exchange, ...]

    @property
    def messages(self) -> int:
        return 2 * sum(bool(exchange.reply) for exchange in self.exchanges)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A memory that the person adds; `bot` is empty for the account's."""

    at: datetime
    text: str
    bot: str = ""
    subject: str = ""
    pinned: bool = False
    archived_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    account: str
    time_zone: str
    begins: datetime
    talks: tuple[Talk, ...]
    facts: tuple[Fact, ...]


def read_life(folder: Path = HERE) -> Life:
    """The life that the files of `folder` tell."""
    told: dict[str, Any] = json.loads((folder / "life.json").read_text(encoding="utf-8"))
    return Life(
        account=told["account"],
        time_zone=told["time_zone"],
        begins=datetime.fromisoformat(told["begins"]),
        talks=tuple(_talk(folder, bot) for bot in told["bots"]),
        facts=tuple(_fact(row) for row in _rows(folder / "memories.jsonl")),
    )


def _talk(folder: Path, bot: Mapping[str, str]) -> Talk:
    return Talk(
        name=bot["name"],
        preset=Preset(bot["preset"]),
        system_prompt=bot["system_prompt"],
        title=bot["title"],
        exchanges=_exchanges(_rows(folder / bot["conversation"])),
    )


def _exchanges(rows: list[dict[str, Any]]) -> tuple[Exchange, ...]:
    exchanges: list[Exchange] = []
    for at, row in enumerate(rows):
        if row["speaker"] == "bot":
            continue
        reply = rows[at + 1] if row["speaker"] == "user" else {}
        exchange = Exchange(
            number=len(exchanges),
            at=datetime.fromisoformat(row["at"]),
            said=row["text"],
            reply=reply.get("text", ""),
            remembers=reply.get("remembers", ""),
        )
        exchanges.append(exchange)
    return tuple(exchanges)


def _fact(row: Mapping[str, Any]) -> Fact:
    archived = row.get("archived_at")
    return Fact(
        at=datetime.fromisoformat(row["at"]),
        text=row["text"],
        bot="" if row["scope"] == "account" else row["scope"],
        subject=row.get("subject", ""),
        pinned=row.get("pinned", False),
        archived_at=None if archived is None else datetime.fromisoformat(archived),
    )


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
