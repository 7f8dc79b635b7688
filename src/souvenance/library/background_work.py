"""`memory.work`: what is due in the background, done now or started again (HOUSE, journey 2)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

from souvenance.app.due_work import Work
from souvenance.app.work import list_work, restart_work
from souvenance.domain.conversation import Conversation
from souvenance.domain.due import Due
from souvenance.domain.ids import ConversationId
from souvenance.library.memory_verbs import conversation_id_of
from souvenance.library.pages import walk
from souvenance.wiring import House


class BackgroundWork:
    """Summaries and the like, done beside the chat while a memory is open, a server runs or a worker does."""

    def __init__(self, house: House) -> None:
        self._house = house

    def list(self) -> AsyncGenerator[Due, None]:
        """All that waits, is being worked on, or is parked with its reason; what has been due longest comes first."""
        return walk(lambda cursor: list_work(self._house.kit, self._house.owner_id, cursor=cursor))

    async def restart(self, kind: Work | str, conversation: Conversation | ConversationId) -> Due:
        """Let work that was parked, or postponed with a reason, be due at once; NotFound when there is none."""
        return await restart_work(self._house.kit, self._house.owner_id, kind, conversation_id_of(conversation))

    async def now(self) -> Mapping[str, int]:
        """Do all that is due now; how many steps ended how: `done`, `postponed`, `parked`, `capped` (C4) and so on."""
        worker = self._house.worker()
        await worker.work_off()
        return worker.outcomes
