"""All commands as one program."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import souvenance
from souvenance.cli.bots import bots
from souvenance.cli.chat import chat
from souvenance.cli.conversations import conversations
from souvenance.cli.doctor import doctor
from souvenance.cli.drafts import drafts
from souvenance.cli.memories import memories
from souvenance.cli.messages import messages
from souvenance.cli.query import query
from souvenance.cli.remember import remember
from souvenance.cli.serve import serve
from souvenance.cli.turns import turns
from souvenance.cli.work import work
from souvenance.cli.worker import worker

program = typer.Typer(
    name="souvenance",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
program.command()(serve)
program.command()(chat)
program.command()(remember)
program.add_typer(memories, name="memories")
program.add_typer(drafts, name="drafts")
program.command()(query)
program.add_typer(bots, name="bots")
program.add_typer(turns, name="turns")
program.add_typer(conversations, name="conversations")
program.add_typer(messages, name="messages")
program.command()(worker)
program.add_typer(work, name="work")
program.command()(doctor)


def _print_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"souvenance {souvenance.__version__}\n")
        raise typer.Exit


@program.callback()
def _before(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and leave.")
    ] = False,
) -> None:
    """A memory for chats, characters and agents that stays with its owner."""


def run(arguments: Sequence[str] | None) -> int:
    """The exit code of one command; errors of `souvenance.errors` come out as they are."""
    for stream in (sys.stdout, sys.stderr):
        # What a terminal's encoding cannot show must not end a command in the middle.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        program(args=None if arguments is None else list(arguments))
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 0
    return 0
