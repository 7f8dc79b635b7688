"""`souvenance query`: find what matches some words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from souvenance.app.query_memories import Hits, MemoryHit, MessageHit
from souvenance.cli.json_forms import hit_form
from souvenance.cli.options import AsJson, Database, Folder
from souvenance.cli.output import json_line, say, table
from souvenance.cli.running import with_memory


def query(
    text: Annotated[str, typer.Argument(help="What to look for.")],
    *,
    bot: Annotated[str | None, typer.Option(metavar="NAME", help="Only this bot's memory and the account's.")] = None,
    messages: Annotated[bool, typer.Option("--messages", help="Past messages too.")] = False,
    limit: Annotated[int | None, typer.Option(help="Most hits of each kind.")] = None,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Find memories, archived ones too, best first, each with the reason why it was found."""
    hits = with_memory(
        lambda memory: memory.query(text, bot=bot, messages=messages, limit=limit),
        folder=folder,
        database_url=database_url,
    )
    for leg, state in hits.legs.items():
        if state != "ok":
            say(f"Searching by {leg} gave nothing: {state}.")
    if as_json:
        for hit in _all(hits):
            json_line(hit_form(hit))
    else:
        table(("id", "text", "why"), _rows(hits))


def _rows(hits: Hits) -> list[tuple[str, str, str]]:
    def row(hit: MemoryHit | MessageHit) -> tuple[str, str, str]:
        if isinstance(hit, MessageHit):
            return hit.message.message_id, hit.message.text, "; ".join(hit.why)
        named = f"{hit.memory.key}: {hit.memory.text}" if hit.memory.key else hit.memory.text
        return hit.memory.memory_id, named, "; ".join(hit.why)

    return [row(hit) for hit in _all(hits)]


def _all(hits: Hits) -> Iterator[MemoryHit | MessageHit]:
    yield from hits.memories
    yield from hits.messages
