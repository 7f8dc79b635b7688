"""One object over the app's verbs, for the one account of local use (I1).

A bot's name says whose memory is meant: with a bot it is that bot's, without one the account's.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from souvenance.app import (
    bots,
    browse,
    conversations,
)
from souvenance.app.browse import Page
from souvenance.app.chat_turn import chat_turn
from souvenance.app.conversations import NewConversation
from souvenance.app.let_answer import LetAnswer, let_answer
from souvenance.app.prepare_turn import Prepared, Recorded, prepare, record
from souvenance.app.turn import Done, InConversation, NewChat, Noted, Opened, TurnEvent, TurnRequest
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.ids import BotId, ConversationId, TurnId, known_shape
from souvenance.library.branches import Branches
from souvenance.library.drafts import Drafts
from souvenance.library.memory_verbs import MemoryVerbs, conversation_id_of
from souvenance.library.pages import walk
from souvenance.library.pieces import Piece, Reply
from souvenance.library.replies import Replies
from souvenance.library.temporary import say_temporarily
from souvenance.library.turns import Turns
from souvenance.wiring import House


class Souvenance(MemoryVerbs):
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

    def temporary(
        self,
        text: str,
        *,
        bot: str | None = None,
        history: Sequence[tuple[str, str]] = (),
        model: str | None = None,
    ) -> AsyncGenerator[Piece, None]:
        """The reply to `text`, piece by piece, in a chat that reads no memory and is stored nowhere (O4): `history` is
        what was said before, oldest first, as pairs of a role (`user` or `bot`) and a text.

        What passes the window is dropped, as a note says. A bot of an unknown name is not made; the model answers
        without its words. Raises MemoryIsOff for a command, NoModel without a model.
        """
        return self._replies.begin(say_temporarily(self._kit, self._owner, text, bot=bot, history=history, model=model))

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
        return self._replies.begin(self._further(conversation_id_of(conversation), speakers, model))

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
        conversation_id = conversation_id_of(conversation)
        return walk(
            lambda cursor: browse.list_messages(self._kit, self._owner, conversation_id, cursor=cursor, limit=None)
        )

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
            InConversation(conversation_id=conversation_id_of(going_on))
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
