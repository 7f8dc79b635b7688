"""The methods of the library's door, each waiting for its namesake there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Self

from souvenance.app.browse import MemoryView, Page
from souvenance.app.clear_scope import Cleared
from souvenance.app.delete_bot import DeletedBot, Memories
from souvenance.app.find_similar import Similar
from souvenance.app.prepare_turn import Prepared, Recorded
from souvenance.app.query_memories import Hits
from souvenance.app.remember import Remembered
from souvenance.blocking.background_work import BlockingBackgroundWork
from souvenance.blocking.branches import BlockingBranches
from souvenance.blocking.drafts import BlockingDrafts
from souvenance.blocking.loop_thread import LoopThread, Opening
from souvenance.blocking.notifications import BlockingNotifications
from souvenance.blocking.rebuilds import BlockingRebuilds
from souvenance.blocking.summaries import BlockingSummaries
from souvenance.blocking.turns import BlockingTurns
from souvenance.domain.bot import Bot, Preset
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.erasure import Erasure
from souvenance.domain.ids import ConversationId, ErasureId, MemoryId, TurnId
from souvenance.domain.journal import Operation
from souvenance.domain.json_object import JsonObject
from souvenance.domain.limits import Level
from souvenance.domain.memory import Memory
from souvenance.library import Piece, Reply
from souvenance.ports.memories import Order, Removed, Shelf


class BlockingSouvenance:
    """`Souvenance` with methods that wait; each does and raises what its namesake there does."""

    def __init__(self, opening: Opening) -> None:
        self._thread = LoopThread(opening)
        self._memory = self._thread.opened()
        self.turns = BlockingTurns(self._thread, self._memory.turns)
        self.branches = BlockingBranches(self._thread, self._memory.branches)
        self.drafts = BlockingDrafts(self._thread, self._memory.drafts)
        self.summaries = BlockingSummaries(self._thread, self._memory.summaries)
        self.rebuilds = BlockingRebuilds(self._thread, self._memory.rebuilds)
        self.work = BlockingBackgroundWork(self._thread, self._memory.work)
        self.notifications = BlockingNotifications(self._thread, self._memory.notifications)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End running replies, close the store; again is harmless."""
        self._thread.close()

    # --- chat ---

    def chat(
        self,
        text: str,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        speakers: Sequence[str] = (),
        model: str | None = None,
        request_key: str = "",
        replaces: TurnId | None = None,
    ) -> Iterator[Piece]:
        """The reply piece by piece; closing the iterator stops it and keeps it as cut off."""
        return self._thread.each(
            lambda: self._memory.chat(
                text,
                bot=bot,
                conversation=conversation,
                speakers=speakers,
                model=model,
                request_key=request_key,
                replaces=replaces,
            )
        )

    def say(
        self,
        text: str,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        speakers: Sequence[str] = (),
        model: str | None = None,
        request_key: str = "",
        replaces: TurnId | None = None,
    ) -> Reply:
        return self._thread.call(
            lambda: self._memory.say(
                text,
                bot=bot,
                conversation=conversation,
                speakers=speakers,
                model=model,
                request_key=request_key,
                replaces=replaces,
            )
        )

    def temporary(
        self,
        text: str,
        *,
        bot: str | None = None,
        history: Sequence[tuple[str, str]] = (),
        model: str | None = None,
    ) -> Iterator[Piece]:
        return self._thread.each(lambda: self._memory.temporary(text, bot=bot, history=history, model=model))

    def prepare(
        self,
        text: str,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        model: str | None = None,
    ) -> Prepared:
        return self._thread.call(lambda: self._memory.prepare(text, bot=bot, conversation=conversation, model=model))

    def record(
        self,
        prepared: Prepared,
        reply: str,
        *,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
        cut_off: bool = False,
    ) -> Recorded:
        return self._thread.call(
            lambda: self._memory.record(prepared, reply, tokens_in=tokens_in, tokens_out=tokens_out, cut_off=cut_off)
        )

    def let_answer(
        self, conversation: Conversation | ConversationId, *, speakers: Sequence[str] = (), model: str | None = None
    ) -> Iterator[Piece]:
        return self._thread.each(lambda: self._memory.let_answer(conversation, speakers=speakers, model=model))

    def begin(
        self, *, bot: str | None = None, members: Sequence[str] = (), title: str = "", model: str | None = None
    ) -> Conversation:
        return self._thread.call(lambda: self._memory.begin(bot=bot, members=members, title=title, model=model))

    def conversations(self, *, bot: str | None = None) -> Iterator[Conversation]:
        return self._thread.each(lambda: self._memory.conversations(bot=bot))

    def messages(self, conversation: Conversation | ConversationId) -> Iterator[Message]:
        return self._thread.each(lambda: self._memory.messages(conversation))

    # --- memories ---

    def remember(
        self,
        text: str,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        key: str | None = None,
        subject: str = "",
        pinned: bool = False,
        overwrite: bool = False,
    ) -> Remembered:
        return self._thread.call(
            lambda: self._memory.remember(
                text, bot=bot, conversation=conversation, key=key, subject=subject, pinned=pinned, overwrite=overwrite
            )
        )

    def similar(
        self,
        text: str,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        key: str | None = None,
        subject: str = "",
    ) -> tuple[Similar, ...]:
        return self._thread.call(
            lambda: self._memory.similar(text, bot=bot, conversation=conversation, key=key, subject=subject)
        )

    def memories(
        self,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        everywhere: bool = False,
        shelf: Shelf = Shelf.ALL,
        order: Order = Order.UPDATED,
    ) -> Iterator[MemoryView]:
        return self._thread.each(
            lambda: self._memory.memories(
                bot=bot, conversation=conversation, everywhere=everywhere, shelf=shelf, order=order
            )
        )

    def page_of_memories(
        self,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        everywhere: bool = False,
        shelf: Shelf = Shelf.ALL,
        order: Order = Order.UPDATED,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Page[MemoryView]:
        return self._thread.call(
            lambda: self._memory.page_of_memories(
                bot=bot,
                conversation=conversation,
                everywhere=everywhere,
                shelf=shelf,
                order=order,
                cursor=cursor,
                limit=limit,
            )
        )

    def memory(self, memory_id: MemoryId) -> MemoryView:
        return self._thread.call(lambda: self._memory.memory(memory_id))

    def history(self, memory_id: MemoryId) -> tuple[Operation, ...]:
        return self._thread.call(lambda: self._memory.history(memory_id))

    def bring_back(self, memory_id: MemoryId, place: int) -> Memory:
        return self._thread.call(lambda: self._memory.bring_back(memory_id, place))

    def removed(
        self,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        everywhere: bool = False,
    ) -> Iterator[Removed]:
        return self._thread.each(
            lambda: self._memory.removed(bot=bot, conversation=conversation, everywhere=everywhere)
        )

    def page_of_removed(
        self,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        everywhere: bool = False,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Page[Removed]:
        return self._thread.call(
            lambda: self._memory.page_of_removed(
                bot=bot, conversation=conversation, everywhere=everywhere, cursor=cursor, limit=limit
            )
        )

    def query(self, text: str, *, bot: str | None = None, messages: bool = False, limit: int | None = None) -> Hits:
        return self._thread.call(lambda: self._memory.query(text, bot=bot, messages=messages, limit=limit))

    def edit(
        self,
        memory_id: MemoryId,
        *,
        text: str | None = None,
        key: str | None = None,
        subject: str | None = None,
        seen: int | None = None,
    ) -> Memory:
        return self._thread.call(lambda: self._memory.edit(memory_id, text=text, key=key, subject=subject, seen=seen))

    def pin(self, memory_id: MemoryId) -> Memory:
        return self._thread.call(lambda: self._memory.pin(memory_id))

    def unpin(self, memory_id: MemoryId) -> Memory:
        return self._thread.call(lambda: self._memory.unpin(memory_id))

    def archive(self, memory_id: MemoryId) -> Memory:
        return self._thread.call(lambda: self._memory.archive(memory_id))

    def restore(self, memory_id: MemoryId) -> Memory:
        return self._thread.call(lambda: self._memory.restore(memory_id))

    def forget(self, *memory_ids: MemoryId) -> Erasure:
        return self._thread.call(lambda: self._memory.forget(*memory_ids))

    def clear(self, *, bot: str | None = None, conversation: Conversation | ConversationId | None = None) -> Cleared:
        return self._thread.call(lambda: self._memory.clear(bot=bot, conversation=conversation))

    def clear_pinned(
        self, *, bot: str | None = None, conversation: Conversation | ConversationId | None = None, expected: int
    ) -> Erasure:
        return self._thread.call(
            lambda: self._memory.clear_pinned(bot=bot, conversation=conversation, expected=expected)
        )

    def undo(self, erasure: Erasure | ErasureId) -> Erasure:
        return self._thread.call(lambda: self._memory.undo(erasure))

    # --- bots ---

    def bots(self) -> Iterator[Bot]:
        return self._thread.each(self._memory.bots)

    def bot(self, name: str) -> Bot:
        return self._thread.call(lambda: self._memory.bot(name))

    def add_bot(
        self,
        name: str,
        *,
        preset: Preset = Preset.COMPANION,
        system_prompt: str = "",
        model: str | None = None,
        settings: Mapping[str, str | bool] | None = None,
    ) -> Bot:
        return self._thread.call(
            lambda: self._memory.add_bot(
                name, preset=preset, system_prompt=system_prompt, model=model, settings=settings
            )
        )

    def change_bot(self, name: str, changes: Mapping[str, object]) -> Bot:
        return self._thread.call(lambda: self._memory.change_bot(name, changes))

    def delete_bot(self, name: str, *, memories: Memories | str = Memories.KEEP) -> DeletedBot:
        return self._thread.call(lambda: self._memory.delete_bot(name, memories=memories))

    def export_bot(self, name: str) -> JsonObject:
        return self._thread.call(lambda: self._memory.export_bot(name))

    def share_link(self, name: str) -> str:
        return self._thread.call(lambda: self._memory.share_link(name))

    def import_bot(self, shared: object) -> Bot:
        return self._thread.call(lambda: self._memory.import_bot(shared))

    def level(self, bot: str) -> Level:
        return self._thread.call(lambda: self._memory.level(bot))

    def set_level(self, bot: str, level: Level) -> None:
        self._thread.call(lambda: self._memory.set_level(bot, level))
