"""`souvenance remember`: keep a fact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from souvenance.app.browse import MemoryView
from souvenance.app.find_in_summaries import SummaryLine
from souvenance.app.find_similar import Similar
from souvenance.cli.json_forms import similar_form, view_form
from souvenance.cli.options import AsJson, BotName, Database, Folder, OneConversation
from souvenance.cli.output import json_line, line, table
from souvenance.cli.running import with_memory
from souvenance.cli.summary_forms import summary_line_form
from souvenance.domain.ids import ConversationId
from souvenance.domain.memory_lines import told
from souvenance.library import Souvenance


def remember(
    text: Annotated[str, typer.Argument(help="The fact, in your own words; `-` reads it from standard input.")],
    *,
    bot: BotName = None,
    conversation: OneConversation = None,
    key: Annotated[str | None, typer.Option(help="A notebook's key; the text is then its value.")] = None,
    subject: Annotated[str, typer.Option(help="Whom it is about, when not you.")] = "",
    pin: Annotated[bool, typer.Option("--pin", help="Send it every turn; no model may change it.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the key's value if there is one.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Keep nothing: show what already says it.")] = False,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Keep a fact for every conversation from now on."""
    said = typer.get_text_stream("stdin").read().rstrip("\n") if text == "-" else text
    where = None if conversation is None else ConversationId(conversation)
    if check:

        async def look(memory: Souvenance) -> tuple[Sequence[Similar], Sequence[SummaryLine]]:
            found = await memory.similar(said, bot=bot, conversation=where, key=key, subject=subject)
            return found, await memory.summaries.similar(said, bot=bot, conversation=where)

        _tell_similar(*with_memory(look, folder=folder, database_url=database_url), as_json=as_json)
        return

    async def keep_and_read(memory: Souvenance) -> tuple[MemoryView, bool]:
        if bot is not None:
            await memory.bot(bot)
        kept = await memory.remember(
            said, bot=bot, conversation=where, key=key, subject=subject, pinned=pin, overwrite=overwrite
        )
        return await memory.memory(kept.memory.memory_id), kept.created

    view, created = with_memory(keep_and_read, folder=folder, database_url=database_url)
    if as_json:
        json_line({"memory": view_form(view), "created": created})
    else:
        line(f"{view.memory.memory_id}\t{'remembered' if created else 'known already: one more source'}")


def _tell_similar(found: Sequence[Similar], lines: Sequence[SummaryLine], *, as_json: bool) -> None:
    """Memories, then lines of summaries, these by their nodes' ids."""
    if as_json:
        for similar in found:
            json_line(similar_form(similar))
        for told_there in lines:
            json_line({"summary_line": summary_line_form(told_there)})
    else:
        table(("id", "scope", "text", "how alike"), [*map(_row, found), *map(_row_of_line, lines)])


def _row(similar: Similar) -> tuple[str, ...]:
    memory = similar.view.memory
    alike = "the same" if similar.equal else f"{similar.matched} of {similar.asked} terms"
    archived = ", archived" if similar.view.archived else ""
    return memory.memory_id, memory.scope.key, told(memory), f"{alike}{archived}"


def _row_of_line(found: SummaryLine) -> tuple[str, ...]:
    alike = f"{found.matched} of {found.asked} terms, in a summary"
    return found.node_id, f"conversation:{found.conversation_id}", found.item.text, alike
