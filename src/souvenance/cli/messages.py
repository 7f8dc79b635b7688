"""`souvenance messages …`: change or take away what was said."""

from __future__ import annotations

from typing import Annotated

import typer

from souvenance.cli.json_forms import conversation_form, message_form
from souvenance.cli.options import AsJson, Database, Folder
from souvenance.cli.output import json_line, line, say
from souvenance.cli.running import with_memory
from souvenance.domain.ids import MessageId

messages = typer.Typer(no_args_is_help=True, help="Change or delete messages; later turns stay.")

MessageArgument = Annotated[
    str, typer.Argument(metavar="MESSAGE_ID", help="The message's id, as `conversations show` prints it.")
]


@messages.command()
def edit(
    message_id: MessageArgument,
    text: Annotated[str, typer.Argument(help="What it says from now on.")],
    *,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Let a message say something else; what was drawn only from its old words is taken back.

    Prompts that were sent with the old words still read back as they were: to have words gone, delete the message.
    """
    edited = with_memory(
        lambda memory: memory.branches.edit_message(MessageId(message_id), text),
        folder=folder,
        database_url=database_url,
    )
    if as_json:
        json_line(message_form(edited))
    else:
        line(edited.text)


@messages.command()
def delete(
    message_id: MessageArgument, *, folder: Folder = None, database_url: Database = None, as_json: AsJson = False
) -> None:
    """Take a message out, of a reply all its variants, with what was drawn only from it."""
    left = with_memory(
        lambda memory: memory.branches.delete_message(MessageId(message_id)),
        folder=folder,
        database_url=database_url,
    )
    if as_json:
        json_line(conversation_form(left))
    else:
        say(f"Deleted; {left.messages} messages are left.")
