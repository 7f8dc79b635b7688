"""`souvenance memories clear`: erase a whole scope, and the pinned ones by a question of their own (M9)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from souvenance.cli.json_forms import erasure_form
from souvenance.cli.options import AsJson, Database, Folder
from souvenance.cli.output import json_line, line, say
from souvenance.cli.running import with_memory
from souvenance.domain.erasure import Erasure
from souvenance.domain.ids import ConversationId
from souvenance.errors import BadValue

FINAL = "Messages and summaries may still hold what they say."


def clear(
    *,
    bot: Annotated[str | None, typer.Option("--bot", metavar="NAME", help="Clear this bot's memory.")] = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", metavar="ID", help="Clear what holds in this conversation only.")
    ] = None,
    account: Annotated[bool, typer.Option("--account", help="Clear the account's.")] = False,
    pinned: Annotated[
        int | None, typer.Option(metavar="COUNT", help="Erase the pinned ones too, if there are exactly so many.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; pinned ones stay.")] = False,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Erase all memories of one bot, one conversation or the account; pinned ones only when asked for apart."""
    if [bot is not None, conversation is not None, account].count(True) != 1:
        raise BadValue("scope", value=bot, expected="one of --bot NAME, --conversation ID and --account")
    where = None if conversation is None else ConversationId(conversation)
    if not yes:
        _ask(bot, where, folder, database_url)
    cleared = with_memory(
        lambda memory: memory.clear(bot=bot, conversation=where), folder=folder, database_url=database_url
    )
    _tell(cleared.erasure, kept=cleared.pinned, as_json=as_json)
    if pinned is None and cleared.pinned and not yes:
        say(f"{cleared.pinned} are left: these are the ones you marked and protected yourself.")
        if typer.confirm("Erase them too?", default=False, err=True):
            pinned = cleared.pinned
    if pinned is not None:
        erasure = with_memory(
            lambda memory: memory.clear_pinned(bot=bot, conversation=where, expected=pinned),
            folder=folder,
            database_url=database_url,
        )
        _tell(erasure, kept=0, as_json=as_json)


def _ask(bot: str | None, conversation: ConversationId | None, folder: Path | None, database_url: str | None) -> None:
    whose, knows = ("the account", "Your bots") if conversation is None else ("this conversation", "Its bot")
    if bot is not None:
        found = with_memory(lambda memory: memory.bot(bot), folder=folder, database_url=database_url)
        whose = knows = found.name
    say(f"All memories of {whose} that are not pinned will be gone for good, archived ones too.")
    say(f"{knows} will no longer know them. {FINAL}")
    typer.confirm("Erase them?", abort=True, err=True)


def _tell(erasure: Erasure | None, *, kept: int, as_json: bool) -> None:
    if as_json:
        json_line({"erasure": None if erasure is None else erasure_form(erasure), "pinned": kept})
        return
    if erasure is None:
        say("There was nothing to erase.")
        return
    tell_erased(erasure)


def tell_erased(erasure: Erasure) -> None:
    line(f"{erasure.erasure_id}\terased {len(erasure.memory_ids)}")
    seconds = (erasure.until - erasure.at).total_seconds()
    say(f"For {seconds:g} seconds this brings them back: souvenance memories undo {erasure.erasure_id}")
