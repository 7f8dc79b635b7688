"""`souvenance chat`: talk in the terminal, or ask once."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack, aclosing
from typing import Annotated

import typer

from souvenance.app.turn import Opened
from souvenance.cli.interruptible import interruptible
from souvenance.cli.options import Database, Folder
from souvenance.cli.output import say
from souvenance.cli.show_piece import show_piece
from souvenance.cli.talk_on import talk_on
from souvenance.cli.temporary_talk import TemporaryTalk
from souvenance.domain.ids import ConversationId, TurnId
from souvenance.errors import BadValue
from souvenance.library import Piece, Souvenance, open_memory

DEFAULT_BOT = "Souvenance"


def chat(
    message: Annotated[
        str | None, typer.Argument(help="Say this and leave; without it a conversation begins, or stdin is said.")
    ] = None,
    *,
    bot: Annotated[
        str, typer.Option(metavar="NAME", help="Whom to talk with; made, a companion, if new.")
    ] = DEFAULT_BOT,
    others: Annotated[
        list[str] | None, typer.Option("--with", metavar="NAME", help="Another member of a group; may be repeated.")
    ] = None,
    conversation: Annotated[str | None, typer.Option(metavar="ID", help="Go on with this conversation.")] = None,
    replaces: Annotated[
        str | None,
        typer.Option(metavar="TURN_ID", help="Take out this turn and all after it, say MESSAGE instead."),
    ] = None,
    temporary: Annotated[
        bool, typer.Option("--temporary", help="Read no memory, write none, keep nothing of this chat.")
    ] = False,
    model: Annotated[str | None, typer.Option(help="The model that answers.")] = None,
    folder: Folder = None,
    database_url: Database = None,
) -> None:
    """Talk with a bot that remembers. Ctrl-C stops a reply and keeps it; /remember, /forget and /memories work."""
    once = message if message is not None else _piped()
    if replaces is not None and once is None:
        raise BadValue("replaces", value=replaces, expected="a MESSAGE beside it")
    if temporary and (others or conversation is not None or replaces is not None):
        raise BadValue("temporary", value=True, expected="no --with, --conversation or --replaces beside it")
    with interruptible() as runner:
        stack = AsyncExitStack()
        try:
            memory = runner.run(stack.enter_async_context(open_memory(folder, database_url=database_url, model=model)))
            talk = (
                TemporaryTalk(runner, memory, bot=bot)
                if temporary
                else _Talk(runner, memory, bots=(bot, *(others or ())), conversation=conversation, replaces=replaces)
            )
            if once is not None:
                talk.say(once)
            else:
                talk.go_on()
        finally:
            runner.run(stack.aclose())


def _piped() -> str | None:
    """What comes through a pipe, None when a person sits there."""
    return None if sys.stdin.isatty() else sys.stdin.read().rstrip("\n")


class _Talk:
    """One conversation in a terminal: text on stdout as it comes, everything about it on stderr. In a group everybody
    named answers, in this order.
    """

    def __init__(
        self,
        runner: asyncio.Runner,
        memory: Souvenance,
        *,
        bots: tuple[str, ...],
        conversation: str | None,
        replaces: str | None,
    ) -> None:
        self._runner = runner
        self._memory = memory
        self._bot, *self._others = bots
        self._conversation = None if conversation is None else ConversationId(conversation)
        self._replaces = None if replaces is None else TurnId(replaces)

    def say(self, text: str) -> None:
        """One message and its reply; an interrupt stops the reply, which is kept as cut off, and goes on outward."""
        try:
            self._runner.run(self._reply(text))
        finally:
            if self._conversation is not None:
                others = "".join(f" --with {name!r}" for name in self._others)
                say(f"(go on: souvenance chat --bot {self._bot!r}{others} --conversation {self._conversation})")

    def go_on(self) -> None:
        """Message after message until the person leaves; a failed reply does not end it."""
        if unread := self._runner.run(self._unread()):
            say(f"(unread notifications: {unread}; souvenance notifications list --unread)")
        say(f"You talk with {self._bot}. /remember, /forget, /memories; Ctrl-C stops a reply, Ctrl-D leaves.")
        talk_on(self._runner, self._reply, stopped="stopped; what was said is kept")

    async def _unread(self) -> int:
        return len([each async for each in self._memory.notifications.list(unread_only=True)])

    async def _reply(self, text: str) -> None:
        if self._others and self._conversation is None:
            begun = await self._memory.begin(bot=self._bot, members=self._others)
            self._conversation = begun.conversation_id
        speakers = (self._bot, *self._others) if self._others else ()
        pieces = self._memory.chat(
            text, bot=self._bot, conversation=self._conversation, speakers=speakers, replaces=self._replaces
        )
        async with aclosing(pieces):
            async for piece in pieces:
                self._show(piece)

    def _show(self, piece: Piece) -> None:
        show_piece(piece)
        if isinstance(piece.event, Opened) and piece.event.conversation is not None:
            self._conversation = piece.event.conversation.conversation_id
