"""`souvenance bots delete`: with the question what becomes of its memories (M8)."""

from __future__ import annotations

from typing import Annotated

import typer

from souvenance.app.delete_bot import Memories
from souvenance.cli.options import AsJson, Database, Folder
from souvenance.cli.output import json_line, line, say
from souvenance.cli.running import with_memory
from souvenance.domain.bot import Bot


def delete(
    name: Annotated[str, typer.Argument(help="The bot's name or id.")],
    *,
    memories: Annotated[
        Memories | None, typer.Option(help="Keep its memories, or erase them; asked without it.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; its memories are kept.")] = False,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Delete a bot for good; its conversations stay readable, its memories become the account's unless erased."""
    bot = with_memory(lambda memory: memory.bot(name), folder=folder, database_url=database_url)
    chosen = memories or (Memories.KEEP if yes else _asked(bot))
    if not yes:
        _confirm(bot, chosen)
    deleted = with_memory(
        lambda memory: memory.delete_bot(bot.bot_id, memories=chosen), folder=folder, database_url=database_url
    )
    if as_json:
        json_line({"id": bot.bot_id, "name": bot.name, "memories": chosen.value, "count": deleted.count})
    else:
        became = "kept for the account" if chosen is Memories.KEEP else "erased"
        line(f"{bot.bot_id}\tdeleted, {deleted.count} memories {became}")


def _asked(bot: Bot) -> Memories:
    say(f"What {bot.name} remembers can be kept for all your bots, or be erased for good.")
    keep = typer.confirm("Keep it?", default=True, err=True)
    return Memories.KEEP if keep else Memories.ERASE


def _confirm(bot: Bot, memories: Memories) -> None:
    lost = " and all that it remembers" if memories is Memories.ERASE else ""
    say(f"{bot.name}{lost} will be gone for good. Messages and summaries may still hold what was said.")
    typer.confirm("Delete it?", abort=True, err=True)
