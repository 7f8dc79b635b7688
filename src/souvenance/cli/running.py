"""Run one command's work on an opened memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from souvenance.cli.interruptible import interruptible
from souvenance.library import Souvenance, open_memory

T = TypeVar("T")


def with_memory(work: Callable[[Souvenance], Awaitable[T]], *, folder: Path | None, database_url: str | None) -> T:
    """The result of `work`; the store is closed again whatever happens. Nothing is done in the background meanwhile."""

    async def opened() -> T:
        async with open_memory(folder, database_url=database_url, work=False) as memory:
            return await work(memory)

    with interruptible() as runner:
        return runner.run(opened())
