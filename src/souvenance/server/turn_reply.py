"""A turn as an HTTP response: streamed or whole, ended upstream when the client hangs up, acknowledged when it is out.

The headers of a stream go out once the user's message is stored, and wait a moment longer for the model: an upstream
that refuses at once is an HTTP error with its own status. What goes wrong later is an event of the stream (T6).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import Protocol

from fastapi import Response
from starlette.types import Receive, Scope, Send

from souvenance.app.chat_turn import acknowledge, chat_turn
from souvenance.app.kit import Kit
from souvenance.app.turn import Done, TurnEvent, TurnRequest
from souvenance.domain.ids import OwnerId, TurnId
from souvenance.errors import SouvenanceError
from souvenance.server.caller import Caller
from souvenance.server.equals import Equals
from souvenance.server.event_line import EventLine, hang_up, open_line
from souvenance.server.event_pump import EventPump, pumping
from souvenance.server.hang_up import ClientLeft, while_connected
from souvenance.server.pace import Pace

log = logging.getLogger(__name__)


class InternalError(SouvenanceError):
    """A surprise, after the headers went out: its cause is in the log."""

    code = "internal_error"

    def __init__(self) -> None:
        super().__init__("Something went wrong inside Souvenance; its log says what. What was stored stays stored.")


Answer = Callable[[Kit, OwnerId], AsyncGenerator[TurnEvent, None]]


def saying(request: TurnRequest) -> Answer:
    """The turn that this request opens."""
    return lambda kit, owner_id: chat_turn(kit, owner_id, request)


class Voice(Protocol):
    """How one door says the events of a turn."""

    def headers(self, first: TurnEvent) -> Mapping[str, str]: ...

    def say(self, event: TurnEvent) -> Iterator[bytes]:
        """The event in this door's form, in none, one or several pieces."""
        ...

    def trouble(self, error: SouvenanceError) -> bytes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTurn:
    """What is asked, and who asked; `answer` begins the turn's events. `name` is shared by requests of the same key and
    bytes, "" by none.
    """

    caller: Caller
    answer: Answer
    equals: Equals
    name: str = ""

    def events(self) -> AsyncGenerator[TurnEvent, None]:
        return self.answer(self.caller.kit, self.caller.owner_id)

    async def settle(self, done: Done, stack: AsyncExitStack) -> TurnId | None:
        """Before the last piece goes out: the turn to acknowledge once it is out, if any."""
        last = await self.equals.settle(self.name, stack)
        return done.turn.turn_id if last and done.turn is not None else None

    async def acknowledge(self, turn_id: TurnId | None) -> None:
        """Note that the reply is with the client; a store that fails here costs at most a repeated answer."""
        if turn_id is None:
            return
        try:
            await acknowledge(self.caller.kit, self.caller.owner_id, turn_id)
        except SouvenanceError as error:
            log.warning("acknowledgement_failed", extra={"turn_id": turn_id, "code": error.code})


class StreamedTurn(Response):
    """Server-sent events in a door's voice; the last piece leaves only after the reply is stored."""

    def __init__(self, asked: AskedTurn, voice: Voice, pace: Pace) -> None:
        super().__init__(media_type="text/event-stream")
        self._asked = asked
        self._voice = voice
        self._patience, self._quiet = pace.patience, pace.quiet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._asked.equals.joined(self._asked.name), AsyncExitStack() as stack:
            try:
                answered = await while_connected(receive, self._speak(send, stack))
            except ClientLeft:
                log.info("client_left", extra={"path": scope["path"]})
                return
            await self._asked.acknowledge(answered)
            await hang_up(send)

    async def _speak(self, send: Send, stack: AsyncExitStack) -> TurnId | None:
        async with pumping(self._asked.events()) as pump:
            first = await pump.next()
            assert first is not None, "a turn has at least one event"
            await pump.peek(self._patience)
            async with open_line(send, self._voice.headers(first), self._quiet) as line:
                try:
                    return await self._say_all(first, pump, line, stack)
                except SouvenanceError as error:
                    await line.say(self._voice.trouble(error))
                except Exception:
                    log.exception("turn_failed")
                    await line.say(self._voice.trouble(InternalError()))
        return None

    async def _say_all(
        self, event: TurnEvent | None, pump: EventPump, line: EventLine, stack: AsyncExitStack
    ) -> TurnId | None:
        answered: TurnId | None = None
        while event is not None:
            if isinstance(event, Done) and not event.more:
                answered = await self._asked.settle(event, stack)
            for piece in self._voice.say(event):
                await line.say(piece)
            event = await pump.next()
        return answered


class WholeTurn(Response):
    """One JSON answer, once the turn is done."""

    def __init__(self, asked: AskedTurn, compose: Callable[[list[TurnEvent]], Response]) -> None:
        super().__init__()
        self._asked = asked
        self._compose = compose

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._asked.equals.joined(self._asked.name), AsyncExitStack() as stack:
            try:
                events = await while_connected(receive, self._listen())
            except ClientLeft:
                log.info("client_left", extra={"path": scope["path"]})
                return
            done = next(event for event in reversed(events) if isinstance(event, Done))
            answered = await self._asked.settle(done, stack)
            await self._compose(events)(scope, receive, send)
            await self._asked.acknowledge(answered)

    async def _listen(self) -> list[TurnEvent]:
        async with aclosing(self._asked.events()) as events:
            return [event async for event in events]
