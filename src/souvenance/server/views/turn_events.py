"""The events of a turn as JSON: what each server-sent event holds, and the whole turn in one object."""

from __future__ import annotations

from typing import Self

from souvenance.app.turn import Done, Noted, Opened, Speaking, TurnEvent, shown
from souvenance.server.views.conversations import ConversationJson, MessageJson, TurnJson
from souvenance.server.views.view import View


class OpenedJson(View):
    """The user's message is stored; all null where memory is unavailable, and in a temporary chat. Only there `dropped`
    says how many messages passed the window (O4).
    """

    conversation: ConversationJson | None
    turn: TurnJson | None
    message: MessageJson | None
    dropped: int | None

    @classmethod
    def of(cls, event: Opened) -> Self:
        return cls(
            conversation=None if event.conversation is None else ConversationJson.of(event.conversation),
            turn=None if event.turn is None else TurnJson.of(event.turn),
            message=None if event.message is None else MessageJson.of(event.message),
            dropped=event.dropped,
        )


class SpeakingJson(View):
    """In a group: the member whose reply follows."""

    bot_id: str
    name: str

    @classmethod
    def of(cls, event: Speaking) -> Self:
        return cls(bot_id=event.bot.bot_id, name=event.bot.name)


class NotedJson(View):
    kind: str
    text: str
    memory_id: str | None

    @classmethod
    def of(cls, event: Noted) -> Self:
        return cls(kind=event.kind, text=event.text, memory_id=event.memory_id)


class DoneJson(View):
    """The reply is stored (unless `memory_unavailable`, or in a temporary chat); tokens are `estimated` until the model
    reports them (C5); `more`: in a group another member answers after this one.
    """

    turn: TurnJson | None
    message: MessageJson | None
    finish: str
    model: str
    tokens_in: int
    tokens_out: int
    estimated: bool
    saved: int
    memory_unavailable: bool
    more: bool

    @classmethod
    def of(cls, event: Done) -> Self:
        return cls(
            turn=None if event.turn is None else TurnJson.of(event.turn),
            message=None if event.message is None else MessageJson.of(event.message),
            finish=event.finish,
            model=event.model,
            tokens_in=event.tokens_in,
            tokens_out=event.tokens_out,
            estimated=event.estimated,
            saved=event.saved,
            memory_unavailable=event.memory_unavailable,
            more=event.more,
        )


class ReplyJson(View):
    """A whole turn: what was opened, the reply as a person sees it, what was noted beside it, and how it ended.

    In a group `text` names each speaker before its words, and `replies` has each reply by itself.
    """

    opened: OpenedJson | None
    text: str
    replies: list[MessageJson]
    noted: list[NotedJson]
    done: DoneJson | None

    @classmethod
    def of(cls, events: list[TurnEvent]) -> Self:
        ended = [event for event in events if isinstance(event, Done)]
        return cls(
            opened=next((OpenedJson.of(event) for event in events if isinstance(event, Opened)), None),
            text="".join(map(shown, events)),
            replies=[MessageJson.of(done.message) for done in ended if done.message is not None],
            noted=[NotedJson.of(event) for event in events if isinstance(event, Noted)],
            done=DoneJson.of(ended[-1]) if ended else None,
        )
