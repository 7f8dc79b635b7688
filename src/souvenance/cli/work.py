"""`souvenance work …`: see what is due in the background, start again what was parked."""

from __future__ import annotations

from typing import Annotated

import typer

from souvenance.app.due_work import Work
from souvenance.cli.json_forms import work_form
from souvenance.cli.options import AsJson, Database, Folder
from souvenance.cli.output import json_line, line, table
from souvenance.cli.running import with_memory
from souvenance.domain.due import Due
from souvenance.domain.ids import ConversationId
from souvenance.library import Souvenance

work = typer.Typer(no_args_is_help=True, help="See what is due in the background; `souvenance worker` does it.")


@work.command("list")
def list_(*, folder: Folder = None, database_url: Database = None, as_json: AsJson = False) -> None:
    """What waits, is being worked on, or is parked with its reason."""

    async def read(memory: Souvenance) -> list[Due]:
        return [due async for due in memory.work.list()]

    found = with_memory(read, folder=folder, database_url=database_url)
    if as_json:
        for due in found:
            json_line(work_form(due))
    else:
        table(("kind", "conversation", "state", "due", "failures", "reason"), map(_row, found))


def _row(due: Due) -> tuple[str, ...]:
    at = due.due_at.strftime("%Y-%m-%d %H:%M")
    return due.kind, due.subject, due.state.value, at, str(due.attempts), due.reason


@work.command()
def restart(
    kind: Annotated[Work, typer.Argument(help="The kind of work, as `work list` prints it.")],
    conversation: Annotated[str, typer.Argument(metavar="CONVERSATION", help="Its id, as `work list` prints it.")],
    *,
    folder: Folder = None,
    database_url: Database = None,
) -> None:
    """Let work that was parked, or postponed with a reason, be due now."""
    with_memory(
        lambda memory: memory.work.restart(kind, ConversationId(conversation)),
        folder=folder,
        database_url=database_url,
    )
    line(f"{kind}\t{conversation}\tdue again")
