"""`souvenance memories …`: look through what is remembered and change it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

import typer

from souvenance.app.browse import MemoryView, Page
from souvenance.cli.bring_back import bring_back, removed
from souvenance.cli.clear import FINAL, clear, tell_erased
from souvenance.cli.json_forms import erasure_form, operation_form, view_form
from souvenance.cli.options import (
    AsJson,
    BotName,
    Database,
    Folder,
    MemoryIdArgument,
    MemoryIdsArgument,
    OneConversation,
)
from souvenance.cli.output import is_terminal, json_line, line, one_line, say, table
from souvenance.cli.running import with_memory
from souvenance.domain.ids import ConversationId, ErasureId, MemoryId
from souvenance.domain.journal import Add, Operation, Pin, Update
from souvenance.domain.memory import Memory
from souvenance.domain.memory_lines import told
from souvenance.library import Souvenance
from souvenance.ports.memories import Order, Shelf

memories = typer.Typer(no_args_is_help=True, help="Look through what is remembered and change it.")


@memories.command("list")
def list_(
    *,
    bot: BotName = None,
    conversation: OneConversation = None,
    account: Annotated[bool, typer.Option("--account", help="Only the account's.")] = False,
    shelf: Annotated[Shelf, typer.Option(help="Which ones.")] = Shelf.ALL,
    order: Annotated[Order, typer.Option(help="Newest change, newest, or first stored first.")] = Order.UPDATED,
    limit: Annotated[int | None, typer.Option(help="Most memories of this page.")] = None,
    cursor: Annotated[str | None, typer.Option(help="Where the page before ended.")] = None,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """One page of memories: of the account and all bots, of one of them, or of one conversation."""

    async def work(memory: Souvenance) -> Page[MemoryView]:
        return await memory.page_of_memories(
            bot=bot,
            conversation=None if conversation is None else ConversationId(conversation),
            everywhere=bot is None and conversation is None and not account,
            shelf=shelf,
            order=order,
            cursor=cursor,
            limit=limit,
        )

    page = with_memory(work, folder=folder, database_url=database_url)
    if as_json:
        for view in page.items:
            json_line(view_form(view))
    else:
        table(("id", "scope", "text", "marks", "updated"), map(_row, page.items))
    if page.next is not None:
        say(f"There are more: --cursor {page.next}")


def _row(view: MemoryView) -> tuple[str, ...]:
    memory = view.memory
    marks = ("pinned" if memory.pinned else "", "archived" if view.archived else "", "recent" if view.recent else "")
    updated = memory.updated_at.strftime("%Y-%m-%d %H:%M")
    return memory.memory_id, memory.scope.key, told(memory), " ".join(filter(None, marks)), updated


@memories.command()
def show(
    memory_id: MemoryIdArgument, *, folder: Folder = None, database_url: Database = None, as_json: AsJson = False
) -> None:
    """Everything that is known of one memory."""
    view = with_memory(lambda memory: memory.memory(MemoryId(memory_id)), folder=folder, database_url=database_url)
    if as_json:
        json_line(view_form(view))
        return
    form = view_form(view)
    table(("", ""), [(name, _cell(value)) for name, value in form.items() if value not in (None, "", [])])


def _cell(value: object) -> str:
    return f"{len(value)} sources" if isinstance(value, list) else str(value)


@memories.command()
def edit(
    memory_id: MemoryIdArgument,
    text: Annotated[str | None, typer.Argument(help="What it says from now on.")] = None,
    *,
    key: Annotated[str | None, typer.Option(help="A notebook's new key.")] = None,
    subject: Annotated[str | None, typer.Option(help="Whom it is about.")] = None,
    seen: Annotated[int | None, typer.Option(help="Refuse if it is no longer at this version.")] = None,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Let a memory say something else."""
    _change(
        lambda memory: memory.edit(MemoryId(memory_id), text=text, key=key, subject=subject, seen=seen),
        "edited",
        folder,
        database_url,
        as_json,
    )


@memories.command()
def pin(
    memory_id: MemoryIdArgument, *, folder: Folder = None, database_url: Database = None, as_json: AsJson = False
) -> None:
    """Send it every turn; no model may change it."""
    _change(lambda memory: memory.pin(MemoryId(memory_id)), "pinned", folder, database_url, as_json)


@memories.command()
def unpin(
    memory_id: MemoryIdArgument, *, folder: Folder = None, database_url: Database = None, as_json: AsJson = False
) -> None:
    """Let it take its turn with the others."""
    _change(lambda memory: memory.unpin(MemoryId(memory_id)), "unpinned", folder, database_url, as_json)


@memories.command()
def archive(
    memory_id: MemoryIdArgument, *, folder: Folder = None, database_url: Database = None, as_json: AsJson = False
) -> None:
    """Take it out of every prompt; it stays listed and can be found."""
    _change(lambda memory: memory.archive(MemoryId(memory_id)), "archived", folder, database_url, as_json)


@memories.command()
def restore(
    memory_id: MemoryIdArgument, *, folder: Folder = None, database_url: Database = None, as_json: AsJson = False
) -> None:
    """Bring it back from the archive."""
    _change(lambda memory: memory.restore(MemoryId(memory_id)), "restored", folder, database_url, as_json)


def _change(
    work: Callable[[Souvenance], Awaitable[Memory]],
    done: str,
    folder: Folder,
    database_url: Database,
    as_json: bool,
) -> None:
    async def change_and_read(memory: Souvenance) -> MemoryView:
        return await memory.memory((await work(memory)).memory_id)

    view = with_memory(change_and_read, folder=folder, database_url=database_url)
    if as_json:
        json_line(view_form(view))
    else:
        line(f"{view.memory.memory_id}\t{done}")


@memories.command()
def forget(
    memory_ids: MemoryIdsArgument,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Erase memories for good; for a few seconds that can be undone."""
    ids = tuple(map(MemoryId, memory_ids))
    if not yes and is_terminal():
        _ask(ids, folder, database_url)
    erasure = with_memory(lambda memory: memory.forget(*ids), folder=folder, database_url=database_url)
    if as_json:
        json_line(erasure_form(erasure))
        return
    tell_erased(erasure)


def _ask(ids: Sequence[MemoryId], folder: Folder, database_url: Database) -> None:
    """Show what no bot will know any more, before it is gone for good (M14)."""

    async def work(memory: Souvenance) -> list[MemoryView]:
        return [await memory.memory(memory_id) for memory_id in ids]

    views = with_memory(work, folder=folder, database_url=database_url)
    say("This will be gone for good, and no bot will know it any more:")
    for view in views:
        say(f"  {one_line(view.memory.text if view.memory.key is None else f'{view.memory.key}: {view.memory.text}')}")
    say(FINAL)
    typer.confirm(f"Erase {len(ids)}?", abort=True, err=True)


memories.command()(clear)


@memories.command()
def undo(
    erasure_id: Annotated[str, typer.Argument(metavar="ERASURE", help="The id that `forget` printed.")],
    *,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Bring back what `forget` took, while its offer stands."""
    undone = with_memory(lambda memory: memory.undo(ErasureId(erasure_id)), folder=folder, database_url=database_url)
    if as_json:
        json_line(erasure_form(undone))
    else:
        line(f"{undone.erasure_id}\tbrought back {len(undone.memory_ids)}")


@memories.command()
def history(
    memory_id: MemoryIdArgument, *, folder: Folder = None, database_url: Database = None, as_json: AsJson = False
) -> None:
    """Everything that was ever decided about a memory, oldest first."""
    operations = with_memory(
        lambda memory: memory.history(MemoryId(memory_id)), folder=folder, database_url=database_url
    )
    if as_json:
        for operation in operations:
            json_line(operation_form(operation))
    else:
        table(("when", "who", "what", "text"), map(_decided, operations))


def _decided(operation: Operation) -> tuple[str, ...]:
    intent = operation.intent
    text = intent.content.text if isinstance(intent, Add | Update | Pin) else ""
    what = type(intent).__name__.lower() + (" (undone)" if operation.revoked else "")
    return operation.at.strftime("%Y-%m-%d %H:%M:%S"), operation.actor.value, what, text


memories.command()(removed)
memories.command()(bring_back)
