"""`souvenance conversations …`: see them, let others answer, go back, branch off, delete."""

from __future__ import annotations

from typing import Annotated

import typer

from souvenance.app.delete_bot import Memories
from souvenance.cli.json_forms import conversation_form, message_form
from souvenance.cli.messages import MessageArgument
from souvenance.cli.options import AsJson, Database, Folder
from souvenance.cli.output import json_line, say, table
from souvenance.cli.running import with_memory
from souvenance.cli.show_piece import show_pieces
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.ids import ConversationId, MessageId, TurnId
from souvenance.errors import BadValue
from souvenance.library import Souvenance

conversations = typer.Typer(no_args_is_help=True, help="See conversations, go back in them, branch off, delete them.")

Which = Annotated[str, typer.Argument(metavar="ID", help="The conversation's id, as `conversations list` prints it.")]


@conversations.command("list")
def list_(
    *,
    bot: Annotated[str | None, typer.Option(metavar="NAME", help="Those with this bot only.")] = None,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """All conversations, newest first."""

    async def work(memory: Souvenance) -> list[Conversation]:
        return [each async for each in memory.conversations(bot=bot)]

    found = with_memory(work, folder=folder, database_url=database_url)
    if as_json:
        for each in found:
            json_line(conversation_form(each))
    else:
        rows = [
            (c.conversation_id, c.bot_id or c.model or "", f"{c.updated_at:%Y-%m-%d %H:%M}", str(c.messages), c.title)
            for c in found
        ]
        table(("id", "with", "last changed", "messages", "title"), rows)


@conversations.command()
def show(which: Which, *, folder: Folder = None, database_url: Database = None, as_json: AsJson = False) -> None:
    """The messages in order, with the ids by which they are edited, deleted or forked at."""

    async def work(memory: Souvenance) -> list[Message]:
        newest_first = [each async for each in memory.messages(ConversationId(which))]
        return newest_first[::-1]

    found = with_memory(work, folder=folder, database_url=database_url)
    if as_json:
        for each in found:
            json_line(message_form(each))
    else:
        table(("id", "turn", "said by", "text"), [(m.message_id, m.turn_id, m.role.value, m.text) for m in found])


@conversations.command("let-answer")
def let_answer(
    which: Which,
    *,
    speakers: Annotated[
        list[str] | None, typer.Option("--speaker", metavar="NAME", help="Who answers; may be repeated, in this order.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model that answers.")] = None,
    folder: Folder = None,
    database_url: Database = None,
) -> None:
    """Let other members of a group answer the last message too; nobody named: the one after who spoke last."""
    with_memory(
        lambda memory: show_pieces(memory.let_answer(ConversationId(which), speakers=speakers or (), model=model)),
        folder=folder,
        database_url=database_url,
    )


@conversations.command()
def fork(
    message_id: MessageArgument, *, folder: Folder = None, database_url: Database = None, as_json: AsJson = False
) -> None:
    """Begin a second conversation with what was said up to and with a message."""
    made = with_memory(
        lambda memory: memory.branches.fork(MessageId(message_id)), folder=folder, database_url=database_url
    )
    _print(made, as_json)


@conversations.command()
def rewind(
    which: Which,
    *,
    after: Annotated[str | None, typer.Option(metavar="TURN_ID", help="The last turn that stays.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Remove every turn.")] = False,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Remove later turns, and what they wrote; memories that a person made or pinned stay."""
    if everything == (after is not None):
        raise BadValue("conversations rewind", value=which, expected="either --after TURN_ID or --all")
    left = with_memory(
        lambda memory: memory.branches.rewind(ConversationId(which), after=None if after is None else TurnId(after)),
        folder=folder,
        database_url=database_url,
    )
    _print(left, as_json)


@conversations.command()
def delete(
    which: Which,
    *,
    memories: Annotated[
        Memories, typer.Option(help="Keep what was remembered there, or erase what was drawn from it alone.")
    ] = Memories.KEEP,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Delete a conversation for good."""
    if not yes:
        also = ", and what was remembered from it alone," if memories is Memories.ERASE else ""
        say(f"All that was said in {which}{also} will be gone for good.")
        typer.confirm("Delete it?", abort=True, err=True)
    gone = with_memory(
        lambda memory: memory.branches.delete_conversation(ConversationId(which), memories=memories),
        folder=folder,
        database_url=database_url,
    )
    if as_json:
        json_line({"id": gone.conversation_id, "memories": gone.memories.value, "erased": gone.erased})
    else:
        say(f"Deleted; {gone.erased} memories went with it.")


def _print(conversation: Conversation, as_json: bool) -> None:
    form = conversation_form(conversation)
    if as_json:
        json_line(form)
    else:
        table(("", ""), [(name, str(value)) for name, value in form.items() if value not in (None, "")])
