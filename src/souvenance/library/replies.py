"""The replies that run in one opened memory, so that closing it leaves none in the middle (T6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING
from weakref import WeakSet

from souvenance.library import verbs
from souvenance.library.pieces import Piece

if TYPE_CHECKING:
    from souvenance.app.turn import TurnEvent


class Replies:
    """Every way to a reply, whichever facet it is asked through, begins here."""

    def __init__(self) -> None:
        self._begun: WeakSet[AsyncGenerator[Piece, None]] = WeakSet()
        self._running = 0
        self._at_rest = asyncio.Event()
        self._at_rest.set()

    def begin(self, events: AsyncGenerator[TurnEvent, None]) -> AsyncGenerator[Piece, None]:
        """The events as pieces; closing the iterator ends the turn."""
        pieces = self._pieces(events)
        self._begun.add(pieces)
        return pieces

    async def end(self) -> None:
        """Stop the replies that nobody reads any more, and wait for those that somebody does."""
        for pieces in tuple(self._begun):
            with suppress(RuntimeError):  # It runs right now: its reader ends it.
                await pieces.aclose()
        await self._at_rest.wait()

    async def _pieces(self, events: AsyncGenerator[TurnEvent, None]) -> AsyncGenerator[Piece, None]:
        self._running += 1
        self._at_rest.clear()
        try:
            async with aclosing(events):
                async for event in events:
                    yield Piece(text=verbs.shown(event), event=event)
        finally:
            self._running -= 1
            if not self._running:
                self._at_rest.set()
