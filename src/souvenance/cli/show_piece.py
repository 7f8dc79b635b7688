"""A reply on a terminal: its text on stdout as it comes, everything about it on stderr."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing

from souvenance.app.turn import Done, Noted
from souvenance.cli.output import say, visible
from souvenance.library import Piece


async def show_pieces(pieces: AsyncGenerator[Piece, None]) -> None:
    """The whole of it, as it comes."""
    async with aclosing(pieces):
        async for piece in pieces:
            show_piece(piece)


def show_piece(piece: Piece) -> None:
    sys.stdout.write(visible(piece.text))
    sys.stdout.flush()
    match piece.event:
        case Noted() if piece.event.kind != "command":  # Its answer comes as text too.
            say(f"({piece.event.text})")
        case Done():
            sys.stdout.write("" if piece.event.more else "\n")
            if piece.event.memory_unavailable:
                say("(Memory was unavailable: this exchange is not kept.)")
        case _:
            return
