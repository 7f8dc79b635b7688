"""One object over the app's verbs, for the one account of local use (I1).

A bot's name says whose memory is meant: with a bot it is that bot's, without one the account's.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from souvenance.domain.ids import BotId, ConversationId, TurnId, known_shape
from souvenance.library import verbs
from souvenance.library.memory_verbs import MemoryVerbs, conversation_id_of
from souvenance.library.pages import walk
from souvenance.library.pieces import Piece, Reply
from souvenance.library.replies import Replies

if TYPE_CHECKING:
    from souvenance.app.browse import Page
    from souvenance.app.conversations import NewConversation
    from souvenance.app.prepare_turn import Prepared, Recorded
    from souvenance.app.turn import Done, Noted, TurnEvent, TurnRequest
    from souvenance.domain.conversation import Conversation, Message
    from souvenance.library.background_work import BackgroundWork
    from souvenance.library.branches import Branches
    from souvenance.library.drafts import Drafts
    from souvenance.library.notifications import Notifications
    from souvenance.library.rebuilds import Rebuilds
    from souvenance.library.summaries import Summaries
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
        self._current: dict[str | None, ConversationId] = {}
        self._replies = Replies()

    @cached_property
    def turns(self) -> Turns:
        """Ask again, go on, choose another variant."""
        from souvenance.library.turns import Turns

        return Turns(self._house, self._replies)

    @cached_property
    def branches(self) -> Branches:
        """Rewind, fork, edit or delete what was said."""
        from souvenance.library.branches import Branches

        return Branches(self._house, deleted=self._let_go_of)

    @cached_property
    def drafts(self) -> Drafts:
        """Memories to be reviewed before they are kept."""
        from souvenance.library.drafts import Drafts

        return Drafts(self._house)

    @cached_property
    def summaries(self) -> Summaries:
        """What stands for what is no longer sent word for word."""
        from souvenance.library.summaries import Summaries

        return Summaries(self._house)

    @cached_property
    def rebuilds(self) -> Rebuilds:
        """Write a summary anew."""
        from souvenance.library.rebuilds import Rebuilds

        return Rebuilds(self._house)

    @cached_property
    def work(self) -> BackgroundWork:
        """Work that is done in the background."""
        from souvenance.library.background_work import BackgroundWork

        return BackgroundWork(self._house)

    @cached_property
    def notifications(self) -> Notifications:
        """What you are told without asking."""
        from souvenance.library.notifications import Notifications

        return Notifications(self._house)

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
                    case verbs.Opened(conversation=opened) if opened is not None:
                        where = opened.conversation_id
                    case verbs.Noted():
                        notes.append(piece.event)
                    case verbs.Done():
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
        from souvenance.library.temporary import say_temporarily

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
        prepared = await verbs.prepare(self._kit, self._owner, await self._request(text, bot, conversation, model))
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
        return await verbs.record(
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
        others = tuple([(await verbs.bot_for(self._kit, self._owner, name)).bot_id for name in members])
        begun = await verbs.open_conversation(self._kit, self._owner, replace(new, others=others))
        self._current[bot] = begun.conversation_id
        return begun

    def conversations(self, *, bot: str | None = None) -> AsyncGenerator[Conversation, None]:
        """All conversations, or those with one bot."""

        async def page(cursor: str | None) -> Page[Conversation]:
            bot_id = (await self.bot(bot)).bot_id if bot is not None else None
            return await verbs.list_conversations(self._kit, self._owner, bot_id=bot_id, cursor=cursor, limit=None)

        return walk(page)

    def messages(self, conversation: Conversation | ConversationId) -> AsyncGenerator[Message, None]:
        """The messages of a conversation, newest first."""
        conversation_id = conversation_id_of(conversation)
        return walk(
            lambda cursor: verbs.list_messages(self._kit, self._owner, conversation_id, cursor=cursor, limit=None)
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
        async with aclosing(verbs.chat_turn(self._kit, self._owner, request)) as events:
            async for event in events:
                if isinstance(event, verbs.Opened) and event.conversation is not None:
                    self._current[bot] = event.conversation.conversation_id
                yield event

    async def _further(
        self, conversation_id: ConversationId, speakers: Sequence[str], model: str | None
    ) -> AsyncGenerator[TurnEvent, None]:
        asked = verbs.LetAnswer(conversation_id=conversation_id, speakers=await self._ids(speakers), model=model)
        async with aclosing(verbs.let_answer(self._kit, self._owner, asked)) as events:
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
            verbs.InConversation(conversation_id=conversation_id_of(going_on))
            if going_on is not None
            else verbs.NewChat(conversation=await self._new_conversation(bot, model=model))
        )
        zone = self._house.settings.time_zone
        return verbs.TurnRequest(address=address, text=text, time_zone=zone, model=model, request_key=request_key)

    async def _new_conversation(self, bot: str | None, *, title: str = "", model: str | None) -> NewConversation:
        if bot is None:
            return verbs.NewConversation(model=model, title=title, time_zone=self._house.settings.time_zone)
        found = await verbs.bot_for(self._kit, self._owner, bot)
        return verbs.NewConversation(bot_id=found.bot_id, title=title, time_zone=self._house.settings.time_zone)
