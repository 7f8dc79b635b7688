"""The library's verbs on memories: keep, find, change, erase, bring back (M3, M11, M14)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from souvenance.domain.conversation import Conversation
from souvenance.domain.erasure import Erasure
from souvenance.domain.ids import BotId, ConversationId, ErasureId, MemoryId, known_shape
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory, Scope
from souvenance.errors import BadValue
from souvenance.library import verbs
from souvenance.library.bot_verbs import BotVerbs
from souvenance.library.pages import walk
from souvenance.ports.memories import Order, Removed, Shelf

if TYPE_CHECKING:
    from souvenance.app.browse import MemoryView, Page
    from souvenance.app.clear_scope import Cleared
    from souvenance.app.find_similar import Similar
    from souvenance.app.query_memories import Hits
    from souvenance.app.remember import Remembered
    from souvenance.domain.journal import Operation


class MemoryVerbs(BotVerbs):
    """What `Souvenance` can do with memories: a bot's, or without one the account's."""

    async def remember(
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
        """Keep a fact; one that is there already gains a source instead (M10). A bot of an unknown name is made.

        With a `conversation` it holds there only. With a `key`, `text` is its value; a key that has another value is
        KeyTaken, unless `overwrite`.
        """
        scope = await self._scope(bot, conversation, make=True)
        new = verbs.NewMemory(text=text, scope=scope, key=key, subject=subject, pinned=pinned, overwrite=overwrite)
        return await verbs.remember(self._kit, self._owner, new)

    async def similar(
        self,
        text: str,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        key: str | None = None,
        subject: str = "",
    ) -> tuple[Similar, ...]:
        """What already says `text`, equal ones first, archived ones too; nothing is stored (V4)."""
        target: BotId | Scope = await self._scope(bot, conversation)
        if bot is not None:
            target = (await self.bot(bot)).bot_id
        return await verbs.find_similar(self._kit, self._owner, text, target=target, key=key, subject=subject)

    def memories(
        self,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        everywhere: bool = False,
        shelf: Shelf = Shelf.ALL,
        order: Order = Order.UPDATED,
    ) -> AsyncGenerator[MemoryView, None]:
        """The memories of a bot, of one conversation or of the account, or `everywhere`."""
        return walk(
            lambda cursor: self.page_of_memories(
                bot=bot, conversation=conversation, everywhere=everywhere, shelf=shelf, order=order, cursor=cursor
            )
        )

    async def page_of_memories(
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
        """One page of `memories`; `cursor` is the `next` of the page before."""
        scope = None if everywhere else await self._scope(bot, conversation)
        return await verbs.list_memories(
            self._kit, self._owner, scope=scope, shelf=shelf, order=order, cursor=cursor, limit=limit
        )

    async def memory(self, memory_id: MemoryId) -> MemoryView:
        """One memory as it is now."""
        return await verbs.read_memory(self._kit, self._owner, _memory_id(memory_id))

    async def history(self, memory_id: MemoryId) -> tuple[Operation, ...]:
        """Everything that was ever decided about a memory, in order (M11)."""
        return await verbs.memory_history(self._kit, self._owner, _memory_id(memory_id))

    async def bring_back(self, memory_id: MemoryId, place: int) -> Memory:
        """Let a memory say again what it said at a place of its `history`; by a deletion: before that (M11)."""
        return await verbs.bring_back(self._kit, self._owner, _memory_id(memory_id), place)

    def removed(
        self,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        everywhere: bool = False,
    ) -> AsyncGenerator[Removed, None]:
        """What models and passes removed of a bot's memory, of one conversation's, of the account's, or `everywhere`;
        last first (M11).
        """
        return walk(
            lambda cursor: self.page_of_removed(
                bot=bot, conversation=conversation, everywhere=everywhere, cursor=cursor
            )
        )

    async def page_of_removed(
        self,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        everywhere: bool = False,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Page[Removed]:
        """One page of `removed`."""
        scope = None if everywhere else await self._scope(bot, conversation)
        return await verbs.list_removed(self._kit, self._owner, scope=scope, cursor=cursor, limit=limit)

    async def query(
        self, text: str, *, bot: str | None = None, messages: bool = False, limit: int | None = None
    ) -> Hits:
        """What matches `text` best, each with its reasons; with a bot only its memories and the account's."""
        scopes = None if bot is None else (ACCOUNT_SCOPE, await self._scope(bot))
        return await verbs.query_memories(
            self._kit, self._owner, verbs.Query(text=text, scopes=scopes, messages=messages, limit=limit)
        )

    async def edit(
        self,
        memory_id: MemoryId,
        *,
        text: str | None = None,
        key: str | None = None,
        subject: str | None = None,
        seen: int | None = None,
    ) -> Memory:
        """Change a memory. `seen` is the version that was read; StaleEdit when it is no longer that one."""
        if seen is None:
            seen = (await self.memory(memory_id)).memory.version
        return await verbs.edit_memory(
            self._kit, self._owner, _memory_id(memory_id), seen=seen, text=text, key=key, subject=subject
        )

    async def pin(self, memory_id: MemoryId) -> Memory:
        """Send it whole every turn, and let no model change it (M5); PinRoomFull past the scope's room."""
        return await verbs.pin_memory(self._kit, self._owner, _memory_id(memory_id), pinned=True)

    async def unpin(self, memory_id: MemoryId) -> Memory:
        return await verbs.pin_memory(self._kit, self._owner, _memory_id(memory_id), pinned=False)

    async def archive(self, memory_id: MemoryId) -> Memory:
        """Take it out of every prompt; it stays listed and can be found."""
        return await verbs.archive_memory(self._kit, self._owner, _memory_id(memory_id), archived=True)

    async def restore(self, memory_id: MemoryId) -> Memory:
        return await verbs.archive_memory(self._kit, self._owner, _memory_id(memory_id), archived=False)

    async def forget(self, *memory_ids: MemoryId) -> Erasure:
        """Erase for good: out of sight at once, purged when the offer to `undo` ends (M14)."""
        return await verbs.erase_memories(self._kit, self._owner, tuple(map(_memory_id, memory_ids)))

    async def clear(
        self, *, bot: str | None = None, conversation: Conversation | ConversationId | None = None
    ) -> Cleared:
        """Erase all unpinned memories of the bot, of one conversation or of the account; tells how many pinned ones
        are kept (M9).
        """
        return await verbs.clear_scope(self._kit, self._owner, await self._scope(bot, conversation))

    async def clear_pinned(
        self, *, bot: str | None = None, conversation: Conversation | ConversationId | None = None, expected: int
    ) -> Erasure:
        """Erase the pinned ones too; `expected` is the number that `clear` told, Conflict when it is another by now."""
        scope = await self._scope(bot, conversation)
        return await verbs.clear_pinned(self._kit, self._owner, scope, expected=expected)

    async def undo(self, erasure: Erasure | ErasureId) -> Erasure:
        """Bring back what `forget` or `clear` took; OfferExpired when it is too late."""
        raw = erasure.erasure_id if isinstance(erasure, Erasure) else erasure
        return await verbs.undo_erasure(self._kit, self._owner, ErasureId(known_shape("erasure", raw)))

    async def _scope(
        self, bot: str | None, conversation: Conversation | ConversationId | None = None, *, make: bool = False
    ) -> Scope:
        """With `make` a bot of an unknown name is made."""
        if conversation is not None:
            where = conversation_id_of(conversation)
            if bot is not None:
                raise BadValue("conversation", value=where, expected="none beside a bot")
            return Scope.of_conversation(where)
        if bot is None:
            return ACCOUNT_SCOPE
        found = await (verbs.bot_for(self._kit, self._owner, bot) if make else self.bot(bot))
        return Scope.of_bot(found.bot_id)


def _memory_id(raw: str) -> MemoryId:
    return MemoryId(known_shape("memory", raw))


def conversation_id_of(given: Conversation | ConversationId) -> ConversationId:
    raw = given.conversation_id if isinstance(given, Conversation) else given
    return ConversationId(known_shape("conversation", raw))
