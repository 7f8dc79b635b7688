"""`souvenance bots export | share | import`: hand a bot on, without what it remembers (K4)."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from souvenance.cli.json_forms import bot_form
from souvenance.cli.options import AsJson, Database, Folder
from souvenance.cli.output import json_line, line
from souvenance.cli.running import with_memory
from souvenance.errors import BadValue

Name = Annotated[str, typer.Argument(help="The bot's name or id.")]


def export(name: Name, *, folder: Folder = None, database_url: Database = None) -> None:
    """Print a bot as a JSON document; never memory, never keys."""
    json_line(with_memory(lambda memory: memory.export_bot(name), folder=folder, database_url=database_url))


def share(name: Name, *, folder: Folder = None, database_url: Database = None) -> None:
    """Print a link that holds the whole bot, but nothing that it remembers."""
    line(with_memory(lambda memory: memory.share_link(name), folder=folder, database_url=database_url))


def import_(
    shared: Annotated[str, typer.Argument(help="A link; `-` reads a link or a JSON document from standard input.")],
    *,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Make a bot from a document or a link; where its name is taken, a number makes it free."""
    given = sys.stdin.read().strip() if shared == "-" else shared
    document = _document(given) if given.startswith("{") else given
    bot = with_memory(lambda memory: memory.import_bot(document), folder=folder, database_url=database_url)
    if as_json:
        json_line(bot_form(bot))
    else:
        line(f"{bot.bot_id}\t{bot.name}")


def _document(given: str) -> object:
    try:
        return json.loads(given)
    except (ValueError, RecursionError) as e:
        raise BadValue("document", value=given, expected="a JSON object") from e
