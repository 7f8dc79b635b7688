"""`memory.work` for those who await nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from souvenance.app.due_work import Work
from souvenance.blocking.loop_thread import LoopThread
from souvenance.domain.conversation import Conversation
from souvenance.domain.due import Due
from souvenance.domain.ids import ConversationId
from souvenance.library.background_work import BackgroundWork


class BlockingBackgroundWork:
    """`library.background_work.BackgroundWork` with methods that wait; each does and raises what its namesake does."""

    def __init__(self, thread: LoopThread, work: BackgroundWork) -> None:
        self._thread = thread
        self._work = work

    def list(self) -> Iterator[Due]:
        return self._thread.each(self._work.list)

    def restart(self, kind: Work | str, conversation: Conversation | ConversationId) -> Due:
        return self._thread.call(lambda: self._work.restart(kind, conversation))

    def now(self) -> Mapping[str, int]:
        return self._thread.call(self._work.now)
