"""`souvenance turns …`: ask the last turn again, go on with a reply that was cut off, choose another variant."""

from __future__ import annotations

from typing import Annotated

import typer

from souvenance.cli.json_forms import variant_form
from souvenance.cli.options import AsJson, Database, Folder
from souvenance.cli.output import json_line, line, table
from souvenance.cli.running import with_memory
from souvenance.cli.show_piece import show_pieces
from souvenance.domain.ids import TurnId

turns = typer.Typer(no_args_is_help=True, help="See a turn's replies, ask it again, go on, choose another variant.")

Turn = Annotated[str, typer.Argument(metavar="TURN_ID", help="The turn's id; messages and hits carry it.")]
Part = Annotated[int | None, typer.Option(help="Which reply of a group's turn; the last when left out.")]
Model = Annotated[str | None, typer.Option(help="The model that answers.")]


@turns.command()
def show(turn_id: Turn, *, folder: Folder = None, database_url: Database = None, as_json: AsJson = False) -> None:
    """All messages of a turn, variants that were not chosen included."""
    found = with_memory(lambda memory: memory.turns.read(TurnId(turn_id)), folder=folder, database_url=database_url)
    if as_json:
        for message in found:
            json_line(variant_form(message))
    else:
        rows = [
            (str(m.part), str(m.variant), "chosen" if m.chosen else "", m.role.value, m.state.value, m.text)
            for m in found
        ]
        table(("part", "variant", "", "role", "state", "text"), rows)


@turns.command()
def regenerate(
    turn_id: Turn, *, part: Part = None, model: Model = None, folder: Folder = None, database_url: Database = None
) -> None:
    """Ask the last turn again: a new variant of its reply, as if the one there had never been given."""
    with_memory(
        lambda memory: show_pieces(memory.turns.regenerate(TurnId(turn_id), part=part, model=model)),
        folder=folder,
        database_url=database_url,
    )


@turns.command("continue")
def continue_(
    turn_id: Turn, *, part: Part = None, model: Model = None, folder: Folder = None, database_url: Database = None
) -> None:
    """Go on with a reply that was cut off; only what is new is printed."""
    with_memory(
        lambda memory: show_pieces(memory.turns.go_on(TurnId(turn_id), part=part, model=model)),
        folder=folder,
        database_url=database_url,
    )


@turns.command()
def choose(
    turn_id: Turn,
    variant: Annotated[int, typer.Argument(help="The variant that is to stand, counted from 0.")],
    *,
    part: Annotated[int, typer.Option(help="Which reply of the turn.")] = 1,
    folder: Folder = None,
    database_url: Database = None,
) -> None:
    """Let another variant of a reply stand: what the one left wrote is undone, what this one wrote comes back."""
    message = with_memory(
        lambda memory: memory.turns.choose(TurnId(turn_id), part=part, variant=variant),
        folder=folder,
        database_url=database_url,
    )
    line(message.text)
