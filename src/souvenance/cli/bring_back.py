"""`souvenance memories removed` and `bring-back`: what turns and passes removed or changed, and its return (M11)."""

from __future__ import annotations

from typing import Annotated

import typer

from souvenance.app.browse import MemoryView, Page
from souvenance.cli.json_forms import removed_form, view_form
from souvenance.cli.options import AsJson, BotName, Database, Folder, MemoryIdArgument, OneConversation
from souvenance.cli.output import json_line, line, say, table
from souvenance.cli.running import with_memory
from souvenance.domain.ids import ConversationId, MemoryId
from souvenance.domain.memory_lines import told
from souvenance.library import Souvenance
from souvenance.ports.memories import Removed


def removed(
    *,
    bot: BotName = None,
    conversation: OneConversation = None,
    account: Annotated[bool, typer.Option("--account", help="Only the account's.")] = False,
    limit: Annotated[int | None, typer.Option(help="Most memories of this page.")] = None,
    cursor: Annotated[str | None, typer.Option(help="Where the page before ended.")] = None,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """What models and passes removed, last first, with who did it; `bring-back ID PLACE` brings one back."""

    async def work(memory: Souvenance) -> Page[Removed]:
        return await memory.page_of_removed(
            bot=bot,
            conversation=None if conversation is None else ConversationId(conversation),
            everywhere=bot is None and conversation is None and not account,
            cursor=cursor,
            limit=limit,
        )

    page = with_memory(work, folder=folder, database_url=database_url)
    if as_json:
        for one in page.items:
            json_line(removed_form(one))
    else:
        table(("id", "place", "scope", "text", "removed by", "when"), map(_row, page.items))
    if page.next is not None:
        say(f"There are more: --cursor {page.next}")


def bring_back(
    memory_id: MemoryIdArgument,
    place: Annotated[int, typer.Argument(help="The place in its history, as `removed` and `history --json` print it.")],
    *,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Let a memory say again what it said at a place of its history, also one that was removed."""

    async def work(memory: Souvenance) -> MemoryView:
        back = await memory.bring_back(MemoryId(memory_id), place)
        return await memory.memory(back.memory_id)

    view = with_memory(work, folder=folder, database_url=database_url)
    if as_json:
        json_line(view_form(view))
    else:
        line(f"{view.memory.memory_id}\tbrought back")


def _row(one: Removed) -> tuple[str, ...]:
    memory = one.memory
    when = one.at.strftime("%Y-%m-%d %H:%M")
    return memory.memory_id, str(one.place), memory.scope.key, told(memory), one.actor.value, when
