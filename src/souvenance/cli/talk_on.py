"""Message after message in a terminal, until the person leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator

from souvenance.cli.output import say
from souvenance.errors import SouvenanceError

_LEAVE = ("/quit", "/exit")


def talk_on(runner: asyncio.Runner, reply: Callable[[str], Coroutine[None, None, None]], *, stopped: str) -> None:
    """Answer each message that is typed; an interrupt ends a reply and says `stopped`; a failed one ends nothing."""
    for text in _typed():
        try:
            runner.run(reply(text))
        except KeyboardInterrupt:
            say(f"\n({stopped})")
        except SouvenanceError as error:
            say(f"souvenance: {error.message}")


def _typed() -> Iterator[str]:
    while True:
        try:
            text = input("> ")
        except (EOFError, KeyboardInterrupt):
            say("")
            return
        if text.strip() in _LEAVE:
            return
        if text.strip():
            yield text
