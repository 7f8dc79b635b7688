"""One object over the app's verbs, for the one account of local use (I1).

A bot's name says whose memory is meant: with a bot it is that bot's, without one the account's.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from souvenance.app import (
    archive_memory,
    bots,
    browse,
    clear_scope,
    conversations,
    edit_memory,
    erase,
    pin_memory,
)
from souvenance.app.bring_back import bring_back
from souvenance.app.browse import MemoryView, Page
from souvenance.app.chat_turn import chat_turn
from souvenance.app.clear_scope import Cleared
from souvenance.app.conversations import NewConversation
from souvenance.app.find_similar import Similar, find_similar
from souvenance.app.let_answer import LetAnswer, let_answer
from souvenance.app.list_removed import list_removed
from souvenance.app.prepare_turn import Prepared, Recorded, prepare, record
from souvenance.app.query_memories import Hits, Query, query_memories
from souvenance.app.remember import NewMemory, Remembered, remember
from souvenance.app.turn import Done, InConversation, NewChat, Noted, Opened, TurnEvent, TurnRequest
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.erasure import Erasure
from souvenance.domain.ids import BotId, ConversationId, ErasureId, MemoryId, TurnId, known_shape
from souvenance.domain.journal import Operation
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory, Scope
from souvenance.errors import BadValue
from souvenance.library.bot_verbs import BotVerbs
from souvenance.library.branches import Branches
from souvenance.library.drafts import Drafts
from souvenance.library.pages import walk
from souvenance.library.pieces import Piece, Reply
from souvenance.library.replies import Replies
from souvenance.library.turns import Turns
from souvenance.ports.memories import Order, Removed, Shelf
from souvenance.wiring import House


class Souvenance(BotVerbs):
    """What is remembered, and the chats that it is remembered in. `souvenance.open` makes one.

    Everything a caller does here counts as a person's. Raises the errors of `souvenance.errors` only. May be used by
    many tasks of one event loop.
    """

    def __init__(self, house: House) -> None:
        super().__init__(house)
        self._house = house
        self.drafts = Drafts(house)
        self._current: dict[str | None, ConversationId] = {}
        self._replies = Replies()
        self.turns = Turns(house, self._replies)
        self.branches = Branches(house, deleted=self._let_go_of)

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
    ) -> AsyncGenerator[Piece, None]:
        """The reply to `text`, piece by piece; a bot of an unknown name is made, a companion.

        Without a `conversation` the one last had here with this bot goes on, or a new one begins. Without a bot a bare
        model answers on the account's memory. In a group `speakers` answer in this order, the first member when nobody
        is named. The turn that this one `replaces` goes as it opens, with all after it (T7). Closing the iterator stops
        the reply and keeps it as cut off.
        """
        return self._replies.begin(
            self._events(
                text,
                bot=bot,
                conversation=conversation,
                speakers=speakers,
                model=model,
                request_key=request_key,
                replaces=replaces,
            )
        )

    async def say(
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
        """The whole reply to `text`; the arguments are those of `chat`."""
        said: list[str] = []
        notes: list[Noted] = []
        where: ConversationId | None = None
        done: Done | None = None
        pieces = self.chat(
            text,
            bot=bot,
            conversation=conversation,
            speakers=speakers,
            model=model,
            request_key=request_key,
            replaces=replaces,
        )
        async with aclosing(pieces):
            async for piece in pieces:
                said.append(piece.text)
                match piece.event:
                    case Opened(conversation=opened) if opened is not None:
                        where = opened.conversation_id
                    case Noted():
                        notes.append(piece.event)
                    case Done():
                        done = piece.event
                    case _:
                        continue
        assert done is not None, "a turn ends with Done or with an error"
        return Reply(text="".join(said), conversation_id=where, notes=tuple(notes), done=done)

    async def prepare(
        self,
        text: str,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        model: str | None = None,
    ) -> Prepared:
        """Store `text` and return what to send to a model of the caller's own; `record` takes its reply."""
        prepared = await prepare(self._kit, self._owner, await self._request(text, bot, conversation, model))
        self._current[bot] = prepared.conversation.conversation_id
        return prepared

    async def record(
        self,
        prepared: Prepared,
        reply: str,
        *,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
        cut_off: bool = False,
    ) -> Recorded:
        """Store the reply to what `prepare` returned, its text calls carried out; show what comes back of it."""
        return await record(
            self._kit, self._owner, prepared, reply, tokens_in=tokens_in, tokens_out=tokens_out, cut_off=cut_off
        )

    def let_answer(
        self, conversation: Conversation | ConversationId, *, speakers: Sequence[str] = (), model: str | None = None
    ) -> AsyncGenerator[Piece, None]:
        """Replies of further members of a group to the last message, piece by piece; nobody named: of the member after
        the one that spoke last.
        """
        return self._replies.begin(self._further(_conversation_id(conversation), speakers, model))

    async def begin(
        self, *, bot: str | None = None, members: Sequence[str] = (), title: str = "", model: str | None = None
    ) -> Conversation:
        """A new conversation with this bot (made if need be), `members` beside it in a group; from now on `chat` goes
        on there.
        """
        new = await self._new_conversation(bot, title=title, model=model)
        others = tuple([(await bots.bot_for(self._kit, self._owner, name)).bot_id for name in members])
        begun = await conversations.open_conversation(self._kit, self._owner, replace(new, others=others))
        self._current[bot] = begun.conversation_id
        return begun

    def conversations(self, *, bot: str | None = None) -> AsyncGenerator[Conversation, None]:
        """All conversations, or those with one bot."""

        async def page(cursor: str | None) -> Page[Conversation]:
            bot_id = (await self.bot(bot)).bot_id if bot is not None else None
            return await browse.list_conversations(self._kit, self._owner, bot_id=bot_id, cursor=cursor, limit=None)

        return walk(page)

    def messages(self, conversation: Conversation | ConversationId) -> AsyncGenerator[Message, None]:
        """The messages of a conversation, newest first."""
        conversation_id = _conversation_id(conversation)
        return walk(
            lambda cursor: browse.list_messages(self._kit, self._owner, conversation_id, cursor=cursor, limit=None)
        )

    # --- memories ---

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
        new = NewMemory(text=text, scope=scope, key=key, subject=subject, pinned=pinned, overwrite=overwrite)
        return await remember(self._kit, self._owner, new)

    async def similar(self, text: str, *, bot: str | None = None, key: str | None = None) -> tuple[Similar, ...]:
        """What already says `text`, equal ones first, archived ones too; nothing is stored (V4)."""
        target = ACCOUNT_SCOPE if bot is None else (await self.bot(bot)).bot_id
        return await find_similar(self._kit, self._owner, text, target=target, key=key)

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
        return await browse.list_memories(
            self._kit, self._owner, scope=scope, shelf=shelf, order=order, cursor=cursor, limit=limit
        )

    async def memory(self, memory_id: MemoryId) -> MemoryView:
        """One memory as it is now."""
        return await browse.read_memory(self._kit, self._owner, _memory_id(memory_id))

    async def history(self, memory_id: MemoryId) -> tuple[Operation, ...]:
        """Everything that was ever decided about a memory, in order (M11)."""
        return await browse.memory_history(self._kit, self._owner, _memory_id(memory_id))

    async def bring_back(self, memory_id: MemoryId, place: int) -> Memory:
        """Let a memory say again what it said at a place of its `history`; by a deletion: before that (M11)."""
        return await bring_back(self._kit, self._owner, _memory_id(memory_id), place)

    def removed(self, *, bot: str | None = None, everywhere: bool = False) -> AsyncGenerator[Removed, None]:
        """What models and passes removed of a bot's memory, of the account's, or `everywhere`; last first (M11)."""
        return walk(lambda cursor: self.page_of_removed(bot=bot, everywhere=everywhere, cursor=cursor))

    async def page_of_removed(
        self, *, bot: str | None = None, everywhere: bool = False, cursor: str | None = None, limit: int | None = None
    ) -> Page[Removed]:
        """One page of `removed`."""
        scope = None if everywhere else await self._scope(bot)
        return await list_removed(self._kit, self._owner, scope=scope, cursor=cursor, limit=limit)

    async def query(
        self, text: str, *, bot: str | None = None, messages: bool = False, limit: int | None = None
    ) -> Hits:
        """What matches `text` best, each with its reasons; with a bot only its memories and the account's."""
        scopes = None if bot is None else (ACCOUNT_SCOPE, await self._scope(bot))
        return await query_memories(
            self._kit, self._owner, Query(text=text, scopes=scopes, messages=messages, limit=limit)
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
        return await edit_memory.edit_memory(
            self._kit, self._owner, _memory_id(memory_id), seen=seen, text=text, key=key, subject=subject
        )

    async def pin(self, memory_id: MemoryId) -> Memory:
        """Send it whole every turn, and let no model change it (M5); PinRoomFull past the scope's room."""
        return await pin_memory.pin_memory(self._kit, self._owner, _memory_id(memory_id), pinned=True)

    async def unpin(self, memory_id: MemoryId) -> Memory:
        return await pin_memory.pin_memory(self._kit, self._owner, _memory_id(memory_id), pinned=False)

    async def archive(self, memory_id: MemoryId) -> Memory:
        """Take it out of every prompt; it stays listed and can be found."""
        return await archive_memory.archive_memory(self._kit, self._owner, _memory_id(memory_id), archived=True)

    async def restore(self, memory_id: MemoryId) -> Memory:
        return await archive_memory.archive_memory(self._kit, self._owner, _memory_id(memory_id), archived=False)

    async def forget(self, *memory_ids: MemoryId) -> Erasure:
        """Erase for good: out of sight at once, purged when the offer to `undo` ends (M14)."""
        return await erase.erase_memories(self._kit, self._owner, tuple(map(_memory_id, memory_ids)))

    async def clear(self, *, bot: str | None = None) -> Cleared:
        """Erase all unpinned memories of the bot or of the account; tells how many pinned ones are kept (M9)."""
        return await clear_scope.clear_scope(self._kit, self._owner, await self._scope(bot))

    async def clear_pinned(self, *, bot: str | None = None, expected: int) -> Erasure:
        """Erase the pinned ones too; `expected` is the number that `clear` told, Conflict when it is another by now."""
        return await clear_scope.clear_pinned(self._kit, self._owner, await self._scope(bot), expected=expected)

    async def undo(self, erasure: Erasure | ErasureId) -> Erasure:
        """Bring back what `forget` or `clear` took; OfferExpired when it is too late."""
        raw = erasure.erasure_id if isinstance(erasure, Erasure) else erasure
        return await erase.undo_erasure(self._kit, self._owner, ErasureId(known_shape("erasure", raw)))

    # --- inside ---

    async def end_replies(self) -> None:
        """Stop the replies that nobody reads any more, and wait for those that somebody does."""
        await self._replies.end()

    async def _events(
        self,
        text: str,
        *,
        bot: str | None,
        conversation: Conversation | ConversationId | None,
        speakers: Sequence[str],
        model: str | None,
        request_key: str,
        replaces: TurnId | None,
    ) -> AsyncGenerator[TurnEvent, None]:
        asked = await self._request(text, bot, conversation, model, request_key)
        old = None if replaces is None else TurnId(known_shape("turn", replaces))
        request = replace(asked, speakers=await self._ids(speakers), replaces=old)
        async with aclosing(chat_turn(self._kit, self._owner, request)) as events:
            async for event in events:
                if isinstance(event, Opened) and event.conversation is not None:
                    self._current[bot] = event.conversation.conversation_id
                yield event

    async def _further(
        self, conversation_id: ConversationId, speakers: Sequence[str], model: str | None
    ) -> AsyncGenerator[TurnEvent, None]:
        asked = LetAnswer(conversation_id=conversation_id, speakers=await self._ids(speakers), model=model)
        async with aclosing(let_answer(self._kit, self._owner, asked)) as events:
            async for event in events:
                yield event

    async def _ids(self, names: Sequence[str]) -> tuple[BotId, ...]:
        return tuple([(await self.bot(name)).bot_id for name in names])

    def _let_go_of(self, conversation_id: ConversationId) -> None:
        """No chat goes on in a conversation that was deleted."""
        for bot in [bot for bot, current in self._current.items() if current == conversation_id]:
            del self._current[bot]

    async def _request(
        self,
        text: str,
        bot: str | None,
        conversation: Conversation | ConversationId | None,
        model: str | None,
        request_key: str = "",
    ) -> TurnRequest:
        going_on = conversation or self._current.get(bot)
        address = (
            InConversation(conversation_id=_conversation_id(going_on))
            if going_on is not None
            else NewChat(conversation=await self._new_conversation(bot, model=model))
        )
        zone = self._house.settings.time_zone
        return TurnRequest(address=address, text=text, time_zone=zone, model=model, request_key=request_key)

    async def _new_conversation(self, bot: str | None, *, title: str = "", model: str | None) -> NewConversation:
        if bot is None:
            return NewConversation(model=model, title=title, time_zone=self._house.settings.time_zone)
        found = await bots.bot_for(self._kit, self._owner, bot)
        return NewConversation(bot_id=found.bot_id, title=title, time_zone=self._house.settings.time_zone)

    async def _scope(
        self, bot: str | None, conversation: Conversation | ConversationId | None = None, *, make: bool = False
    ) -> Scope:
        """With `make` a bot of an unknown name is made."""
        if conversation is not None:
            where = _conversation_id(conversation)
            if bot is not None:
                raise BadValue("conversation", value=where, expected="none beside a bot")
            return Scope.of_conversation(where)
        if bot is None:
            return ACCOUNT_SCOPE
        found = await (bots.bot_for(self._kit, self._owner, bot) if make else self.bot(bot))
        return Scope.of_bot(found.bot_id)


def _conversation_id(given: Conversation | ConversationId) -> ConversationId:
    raw = given.conversation_id if isinstance(given, Conversation) else given
    return ConversationId(known_shape("conversation", raw))


def _memory_id(raw: str) -> MemoryId:
    return MemoryId(known_shape("memory", raw))
