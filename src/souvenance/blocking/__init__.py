"""The one synchronous door, for scripts and notebooks: the library on an event loop of its own, in a thread.

    with souvenance.blocking.open("my-memory") as memory:
        for piece in memory.chat("Hello", bot="Ada"):
            print(piece.text, end="")

It works where a loop is already running, as in a notebook, and may be shared by threads.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from souvenance.blocking.souvenance import BlockingSouvenance
from souvenance.library import open_memory

if TYPE_CHECKING:
    from souvenance.ports.chat_model import ChatModel

__all__ = ["BlockingSouvenance", "open"]


def open(  # noqa: A001 - `blocking.open` mirrors `souvenance.open`
    folder: str | PathLike[str] | None = None,
    *,
    database_url: str | None = None,
    model: ChatModel | str | None = None,
    **settings: object,
) -> BlockingSouvenance:
    """The memory in a folder or database, opened; the arguments and errors are those of `souvenance.open`.

    Use it in a `with` block, or `close` it.
    """
    return BlockingSouvenance(lambda: open_memory(folder, database_url=database_url, model=model, **settings))
