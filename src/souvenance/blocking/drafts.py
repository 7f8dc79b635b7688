"""`memory.drafts` for those who await nothing."""

from __future__ import annotations

from collections.abc import Iterator

from souvenance.app.drafts import Drafted
from souvenance.app.remember import Remembered
from souvenance.app.save_from_conversation import How
from souvenance.blocking.loop_thread import LoopThread
from souvenance.domain.conversation import Message
from souvenance.domain.draft import Draft
from souvenance.domain.ids import DraftId, MessageId
from souvenance.domain.memory import Scope
from souvenance.library.drafts import Drafts


class BlockingDrafts:
    """`library.drafts.Drafts` with methods that wait; each does and raises what its namesake there does."""

    def __init__(self, thread: LoopThread, drafts: Drafts) -> None:
        self._thread = thread
        self._drafts = drafts

    def generate(self, description: str, *, bot: str | None = None, model: str | None = None) -> Drafted:
        return self._thread.call(lambda: self._drafts.generate(description, bot=bot, model=model))

    def from_messages(
        self,
        *messages: Message | MessageId,
        how: How | str = How.DRAFT,
        pinned: bool = True,
        model: str | None = None,
    ) -> Drafted:
        return self._thread.call(lambda: self._drafts.from_messages(*messages, how=how, pinned=pinned, model=model))

    def list(self) -> Iterator[Draft]:
        return self._thread.each(self._drafts.list)

    def edit(
        self,
        draft: Draft | DraftId,
        *,
        text: str | None = None,
        key: str | None = None,
        pinned: bool | None = None,
        scope: Scope | None = None,
    ) -> Draft:
        return self._thread.call(lambda: self._drafts.edit(draft, text=text, key=key, pinned=pinned, scope=scope))

    def discard(self, draft: Draft | DraftId) -> None:
        self._thread.call(lambda: self._drafts.discard(draft))

    def save(self, *wanted: Draft | DraftId, overwrite: bool = False) -> tuple[Remembered, ...]:
        return self._thread.call(lambda: self._drafts.save(*wanted, overwrite=overwrite))
