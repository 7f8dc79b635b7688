"""Open a memory and close it again, with everything that belongs to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from os import PathLike
from typing import TYPE_CHECKING

from souvenance.library.souvenance import Souvenance
from souvenance.settings import read_settings
from souvenance.wiring import open_house

if TYPE_CHECKING:
    from souvenance.ports.chat_model import ChatModel


@asynccontextmanager
async def open_memory(
    folder: str | PathLike[str] | None = None,
    *,
    database_url: str | None = None,
    model: ChatModel | str | None = None,
    **settings: object,
) -> AsyncIterator[Souvenance]:
    """The memory in `folder` (made if need be; the platform's data folder when None) or in a PostgreSQL database.

    While it is open, background work that is due is done beside, unless `work=False`; closing waits for none of it:
    what was in hand is given back, and done when somebody works again.

    `model` is the name of the default model, or an object that answers in place of all configured ones. `settings` are
    those of the reference page. Raises SettingError, StoreUnavailable, StoreTooNew.
    """
    named, models = (model, None) if isinstance(model, str) else (None, model)
    read = read_settings({**settings, "folder": folder, "database_url": database_url, "model": named})
    async with await open_house(read, models=models) as house:
        memory = Souvenance(house)
        async with house.at_work(grace=0.0):
            try:
                yield memory
            finally:
                await memory.end_replies()
