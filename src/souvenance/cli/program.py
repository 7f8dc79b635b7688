"""All commands as one program."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

import souvenance

COMMANDS = (
    "serve",
    "chat",
    "remember",
    "memories",
    "drafts",
    "query",
    "bots",
    "turns",
    "conversations",
    "messages",
    "summary",
    "worker",
    "work",
    "notifications",
    "doctor",
)
"""Each in the file of its name."""


def _print_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"souvenance {souvenance.__version__}\n")
        raise typer.Exit


def _before(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and leave.")
    ] = False,
) -> None:
    """A memory for chats, characters and agents that stays with its owner."""


def program_of(commands: Sequence[str] = COMMANDS) -> typer.Typer:
    """These commands as one program."""
    program = typer.Typer(
        name="souvenance",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    program.callback()(_before)
    for name in commands:
        command = getattr(import_module(f"souvenance.cli.{name}"), name)
        if isinstance(command, typer.Typer):
            program.add_typer(command, name=name)
        else:
            program.command()(command)
    return program


def run(arguments: Sequence[str] | None) -> int:
    """The exit code of one command; errors of `souvenance.errors` come out as they are."""
    for stream in (sys.stdout, sys.stderr):
        # What a terminal's encoding cannot show must not end a command in the middle.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    given = sys.argv[1:] if arguments is None else list(arguments)
    # A server does not wait for the commands that read and print. Help, and a word that is none of them, needs all.
    asked = given[:1] if given and given[0] in COMMANDS else COMMANDS
    try:
        program_of(asked)(args=given)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 0
    return 0
