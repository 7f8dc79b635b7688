"""`souvenance drafts …`: let memories be drafted, look through them, save what is right."""

from __future__ import annotations

from typing import Annotated

import typer

from souvenance.app.browse import MemoryView
from souvenance.app.drafts import Drafted
from souvenance.app.save_from_conversation import How
from souvenance.cli.json_forms import draft_form, drafted_form, view_form
from souvenance.cli.options import AsJson, BotName, Database, Folder
from souvenance.cli.output import json_line, line, say, table
from souvenance.cli.running import with_memory
from souvenance.domain.draft import Draft
from souvenance.domain.ids import DraftId, MessageId
from souvenance.domain.memory import Scope
from souvenance.library import Souvenance

drafts = typer.Typer(no_args_is_help=True, help="Let memories be drafted, review them, save what is right.")

DraftIdArgument = Annotated[str, typer.Argument(metavar="DRAFT", help="The draft's id, as `drafts list` prints it.")]
DraftIdsArgument = Annotated[list[str], typer.Argument(metavar="DRAFT...", help="Ids, as `drafts list` prints them.")]
ModelName = Annotated[str | None, typer.Option("--model", metavar="NAME", help="The model that drafts.")]


@drafts.command()
def generate(
    description: Annotated[str, typer.Argument(help="What should be remembered; `-` reads it from standard input.")],
    *,
    bot: BotName = None,
    model: ModelName = None,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Let a model draft memories from your description; it reads no conversation."""
    said = typer.get_text_stream("stdin").read().rstrip("\n") if description == "-" else description
    drafted = with_memory(
        lambda memory: memory.drafts.generate(said, bot=bot, model=model), folder=folder, database_url=database_url
    )
    _show(drafted, as_json=as_json)


@drafts.command("from-messages")
def from_messages(
    message_ids: Annotated[list[str], typer.Argument(metavar="MESSAGE...", help="Ids of one conversation.")],
    *,
    how: Annotated[How, typer.Option(help="By a model, each message as it is, or all as one.")] = How.DRAFT,
    pin: Annotated[bool, typer.Option("--pin/--no-pin", help="Whether they are pinned when saved.")] = True,
    model: ModelName = None,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Draft memories from messages of one conversation."""
    ids = tuple(map(MessageId, message_ids))
    drafted = with_memory(
        lambda memory: memory.drafts.from_messages(*ids, how=how, pinned=pin, model=model),
        folder=folder,
        database_url=database_url,
    )
    _show(drafted, as_json=as_json)


def _show(drafted: Drafted, *, as_json: bool) -> None:
    if as_json:
        json_line(drafted_form(drafted))
        return
    table(("draft", "scope", "text", "marks", "until"), map(_row, drafted.drafts))
    say(drafted.note)
    room = drafted.room
    if room.pinned_limit is not None:
        say(f"{room.pinned} of {room.pinned_limit} pins of {room.scope.key} are in use.")
    if (charge := drafted.charge) is not None:
        counted = "reported" if charge.reported else "estimated"
        say(f"{charge.model} took {charge.tokens_in} tokens and wrote {charge.tokens_out} ({counted}).")


def _row(draft: Draft) -> tuple[str, ...]:
    text = f"{draft.key}: {draft.text}" if draft.key else draft.text
    marks = "pinned" if draft.pinned else ""
    return draft.draft_id, draft.scope.key, text, marks, draft.until.strftime("%Y-%m-%d %H:%M")


@drafts.command("list")
def list_(*, folder: Folder = None, database_url: Database = None, as_json: AsJson = False) -> None:
    """What waits to be reviewed."""

    async def work(memory: Souvenance) -> list[Draft]:
        return [draft async for draft in memory.drafts.list()]

    found = with_memory(work, folder=folder, database_url=database_url)
    if as_json:
        for draft in found:
            json_line(draft_form(draft))
    else:
        table(("draft", "scope", "text", "marks", "until"), map(_row, found))


@drafts.command()
def edit(
    draft_id: DraftIdArgument,
    text: Annotated[str | None, typer.Argument(help="What it says from now on.")] = None,
    *,
    key: Annotated[str | None, typer.Option(help="A notebook's key; an empty one takes it away.")] = None,
    pin: Annotated[bool | None, typer.Option("--pin/--no-pin", help="Whether it is pinned when saved.")] = None,
    scope: Annotated[str | None, typer.Option(help="Where it is saved: account, or bot:<id>.")] = None,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Change a draft before it is saved."""
    target = None if scope is None else Scope.parse(scope)
    draft = with_memory(
        lambda memory: memory.drafts.edit(DraftId(draft_id), text=text, key=key, pinned=pin, scope=target),
        folder=folder,
        database_url=database_url,
    )
    if as_json:
        json_line(draft_form(draft))
    else:
        line(f"{draft.draft_id}\tedited")


@drafts.command()
def save(
    draft_ids: DraftIdsArgument,
    *,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a notebook's keys that are there.")] = False,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Make memories of drafts, all of them or none."""
    ids = tuple(map(DraftId, draft_ids))

    async def save_and_read(memory: Souvenance) -> list[tuple[MemoryView, bool]]:
        saved = await memory.drafts.save(*ids, overwrite=overwrite)
        return [(await memory.memory(one.memory.memory_id), one.created) for one in saved]

    for view, created in with_memory(save_and_read, folder=folder, database_url=database_url):
        if as_json:
            json_line({"memory": view_form(view), "created": created})
        else:
            line(f"{view.memory.memory_id}\t{'remembered' if created else 'known already: one more source'}")


@drafts.command()
def discard(draft_id: DraftIdArgument, *, folder: Folder = None, database_url: Database = None) -> None:
    """Drop a draft."""
    with_memory(lambda memory: memory.drafts.discard(DraftId(draft_id)), folder=folder, database_url=database_url)
    line(f"{draft_id}\tdiscarded")
