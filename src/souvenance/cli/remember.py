"""`souvenance remember`: keep a fact."""

from __future__ import annotations

from typing import Annotated

import typer

from souvenance.cli.json_forms import memory_form
from souvenance.cli.options import AsJson, BotName, Database, Folder
from souvenance.cli.output import json_line, line
from souvenance.cli.running import with_memory


def remember(
    text: Annotated[str, typer.Argument(help="The fact, in your own words; `-` reads it from standard input.")],
    *,
    bot: BotName = None,
    key: Annotated[str | None, typer.Option(help="A notebook's key; the text is then its value.")] = None,
    subject: Annotated[str, typer.Option(help="Whom it is about, when not you.")] = "",
    pin: Annotated[bool, typer.Option("--pin", help="Send it every turn; no model may change it.")] = False,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Keep a fact for every conversation from now on."""
    said = typer.get_text_stream("stdin").read().rstrip("\n") if text == "-" else text
    kept = with_memory(
        lambda memory: memory.remember(said, bot=bot, key=key, subject=subject, pinned=pin),
        folder=folder,
        database_url=database_url,
    )
    if as_json:
        json_line({"memory": memory_form(kept.memory), "created": kept.created})
    else:
        line(f"{kept.memory.memory_id}\t{'remembered' if kept.created else 'known already: one more source'}")
