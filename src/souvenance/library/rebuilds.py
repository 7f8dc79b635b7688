"""`memory.rebuilds`: write a conversation's summary anew, after it was shown what that costs (S7, S8)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from souvenance.app.begin_rebuild import begin_rebuild, start_over
from souvenance.app.estimate_rebuild import estimate_rebuild
from souvenance.app.steer_rebuild import cancel_rebuild, pause_rebuild, read_rebuild, resume_rebuild
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import ConversationId
from souvenance.domain.limits import Level
from souvenance.domain.summary import Rebuild, RebuildState
from souvenance.library.memory_verbs import conversation_id_of

if TYPE_CHECKING:
    from souvenance.app.estimate_rebuild import Estimate
    from souvenance.wiring import House


class Rebuilds:
    """The old summary serves until the new one is whole; the work is done wherever background work is."""

    def __init__(self, house: House) -> None:
        self._kit = house.kit
        self._owner = house.owner_id

    async def estimate(
        self, conversation: Conversation | ConversationId, *, level: Level | str | None = None
    ) -> Estimate:
        """What it would cost at this level, at the conversation's own when none is named; NothingToRebuild."""
        here = conversation_id_of(conversation)
        return await estimate_rebuild(self._kit, self._owner, here, level=_level(level))

    async def begin(self, conversation: Conversation | ConversationId, *, level: Level | str | None = None) -> Rebuild:
        """Raises RebuildRunning while one is on its way, NothingToRebuild, NoCredit."""
        return await begin_rebuild(self._kit, self._owner, conversation_id_of(conversation), level=_level(level))

    async def read(self, conversation: Conversation | ConversationId) -> Rebuild:
        """The last one, in whatever state; NotFound when there was none."""
        return await read_rebuild(self._kit, self._owner, conversation_id_of(conversation))

    async def pause(self, conversation: Conversation | ConversationId) -> Rebuild:
        """NoRebuildRuns when none is on its way, here and in what follows."""
        return await pause_rebuild(self._kit, self._owner, conversation_id_of(conversation))

    async def resume(self, conversation: Conversation | ConversationId) -> Rebuild:
        """Go on where it was paused or failed; nothing that stands is paid for again."""
        return await resume_rebuild(self._kit, self._owner, conversation_id_of(conversation))

    async def start_over(
        self, conversation: Conversation | ConversationId, *, level: Level | str | None = None
    ) -> Rebuild:
        """Begin again from nothing, at the level of the one before when none is named."""
        return await start_over(self._kit, self._owner, conversation_id_of(conversation), level=_level(level))

    async def cancel(self, conversation: Conversation | ConversationId) -> Rebuild:
        """Keep the old summary."""
        return await cancel_rebuild(self._kit, self._owner, conversation_id_of(conversation))

    async def watch(
        self, conversation: Conversation | ConversationId, *, every: float = 1.0
    ) -> AsyncGenerator[Rebuild, None]:
        """The last rebuild now and at each change, seen at most once in `every` seconds, until it has ended, or waits
        for a person.
        """
        seen: Rebuild | None = None
        while True:
            rebuild = await self.read(conversation)
            if rebuild != seen:
                yield rebuild
            if rebuild.state is not RebuildState.RUNNING:
                return
            seen = rebuild
            await asyncio.sleep(every)


def _level(level: Level | str | None) -> Level | None:
    return None if level is None else Level.read(level)
