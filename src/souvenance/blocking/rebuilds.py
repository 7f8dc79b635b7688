"""`memory.rebuilds` for those who await nothing."""

from __future__ import annotations

from collections.abc import Iterator

from souvenance.app.estimate_rebuild import Estimate
from souvenance.blocking.loop_thread import LoopThread
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import ConversationId
from souvenance.domain.limits import Level
from souvenance.domain.summary import Rebuild
from souvenance.library.rebuilds import Rebuilds


class BlockingRebuilds:
    """`library.rebuilds.Rebuilds` with methods that wait; each does and raises what its namesake there does."""

    def __init__(self, thread: LoopThread, rebuilds: Rebuilds) -> None:
        self._thread = thread
        self._rebuilds = rebuilds

    def estimate(self, conversation: Conversation | ConversationId, *, level: Level | str | None = None) -> Estimate:
        return self._thread.call(lambda: self._rebuilds.estimate(conversation, level=level))

    def begin(self, conversation: Conversation | ConversationId, *, level: Level | str | None = None) -> Rebuild:
        return self._thread.call(lambda: self._rebuilds.begin(conversation, level=level))

    def read(self, conversation: Conversation | ConversationId) -> Rebuild:
        return self._thread.call(lambda: self._rebuilds.read(conversation))

    def pause(self, conversation: Conversation | ConversationId) -> Rebuild:
        return self._thread.call(lambda: self._rebuilds.pause(conversation))

    def resume(self, conversation: Conversation | ConversationId) -> Rebuild:
        return self._thread.call(lambda: self._rebuilds.resume(conversation))

    def start_over(self, conversation: Conversation | ConversationId, *, level: Level | str | None = None) -> Rebuild:
        return self._thread.call(lambda: self._rebuilds.start_over(conversation, level=level))

    def cancel(self, conversation: Conversation | ConversationId) -> Rebuild:
        return self._thread.call(lambda: self._rebuilds.cancel(conversation))

    def watch(self, conversation: Conversation | ConversationId, *, every: float = 1.0) -> Iterator[Rebuild]:
        return self._thread.each(lambda: self._rebuilds.watch(conversation, every=every))
