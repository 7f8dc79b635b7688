"""A temporary chat in a terminal: what was said lives in this process, and ends with it (O4)."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from souvenance.cli.output import say
from souvenance.cli.show_piece import show_piece
from souvenance.cli.talk_on import talk_on
from souvenance.domain.conversation import Role
from souvenance.library import Souvenance


class TemporaryTalk:
    """One chat that nobody keeps."""

    def __init__(self, runner: asyncio.Runner, memory: Souvenance, *, bot: str) -> None:
        self._runner = runner
        self._memory = memory
        self._bot = bot
        self._said: list[tuple[str, str]] = []

    def say(self, text: str) -> None:
        """One message and its reply."""
        self._runner.run(self._reply(text))

    def go_on(self) -> None:
        """Message after message; the reply to each is told all that fits the window."""
        say(f"You talk with {self._bot}; nothing of it is remembered or kept. Ctrl-C stops a reply, Ctrl-D leaves.")
        talk_on(self._runner, self._reply, stopped="stopped")

    async def _reply(self, text: str) -> None:
        heard: list[str] = []
        try:
            async with aclosing(self._memory.temporary(text, bot=self._bot, history=self._said)) as pieces:
                async for piece in pieces:
                    heard.append(piece.text)
                    show_piece(piece)
        finally:
            if reply := "".join(heard):  # As far as it came: a stopped reply was said too.
                self._said += [(Role.USER, text), (Role.BOT, reply)]
