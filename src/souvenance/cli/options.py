"""Options that many commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[Path | None, typer.Option(help="Data folder; without it the settings' or the platform's.")]
Database = Annotated[str | None, typer.Option(metavar="URL", help="PostgreSQL to use instead of SQLite in the folder.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")]
BotName = Annotated[
    str | None, typer.Option("--bot", metavar="NAME", help="This bot's memory; without it the account's.")
]
OneConversation = Annotated[
    str | None, typer.Option("--conversation", metavar="ID", help="What holds in this conversation only.")
]
MemoryIdArgument = Annotated[str, typer.Argument(metavar="ID", help="The memory's id, as `memories list` prints it.")]
MemoryIdsArgument = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, as `memories list` prints them.")]
