"""`souvenance notifications …`: what the house tells without being asked, in plain words."""

from __future__ import annotations

from typing import Annotated

import typer

from souvenance.cli.json_forms import notification_form
from souvenance.cli.notification_words import words_of
from souvenance.cli.options import AsJson, Database, Folder
from souvenance.cli.output import json_line, line, say, table
from souvenance.cli.running import with_memory
from souvenance.domain.notification import Notification
from souvenance.library import Souvenance

notifications = typer.Typer(
    no_args_is_help=True, help="Read what you are told unasked: work that failed, rebuilds that ended, rules, credit."
)

_ALL = "all"


@notifications.command("list")
def list_(
    *,
    unread: Annotated[bool, typer.Option("--unread", help="Only those that were not marked as read.")] = False,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """All notifications, newest first."""

    async def read(memory: Souvenance) -> list[Notification]:
        return [each async for each in memory.notifications.list(unread_only=unread)]

    found = with_memory(read, folder=folder, database_url=database_url)
    if as_json:
        for each in found:
            json_line(notification_form(each))
    elif found:
        table(("id", "at", "state", "notification"), map(_row, found))
    else:
        say("no unread notifications" if unread else "no notifications")


def _row(told: Notification) -> tuple[str, ...]:
    at = told.created_at.strftime("%Y-%m-%d %H:%M")
    return told.notification_id, at, "unread" if told.read_at is None else "read", words_of(told)


@notifications.command()
def read(
    which: Annotated[str, typer.Argument(metavar="ID|all", help="As `notifications list` prints it; or all of them.")],
    *,
    folder: Folder = None,
    database_url: Database = None,
) -> None:
    """Mark a notification, or every unread one, as read."""

    async def mark(memory: Souvenance) -> list[str]:
        unread = memory.notifications.list(unread_only=True)
        ids = [each.notification_id async for each in unread] if which == _ALL else [which]
        for each in ids:
            await memory.notifications.read(each)
        return list(ids)

    marked = with_memory(mark, folder=folder, database_url=database_url)
    for each in marked:
        line(f"{each}\tread")
    if not marked:
        say("no unread notifications")
