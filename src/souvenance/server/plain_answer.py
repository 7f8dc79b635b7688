"""Answer a client's job of its own (a title, tags, follow-ups): the upstream's reply, no memory, nothing stored."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import Response
from starlette.types import Receive, Scope, Send

from souvenance.app.choose_model import models_at_hand
from souvenance.app.turn import Delta, Done, TurnEvent
from souvenance.domain.prompt import AsSent, assemble
from souvenance.errors import NoModel, SouvenanceError
from souvenance.ports.chat_model import ChatRequest
from souvenance.server.caller import Caller
from souvenance.server.event_line import hang_up, open_line
from souvenance.server.event_pump import pumping
from souvenance.server.hang_up import ClientLeft, while_connected
from souvenance.server.openai_models import Target
from souvenance.server.openai_reply import OpenAIVoice, whole
from souvenance.server.openai_request import ChatBody
from souvenance.server.pace import Pace
from souvenance.server.problems import encoded

log = logging.getLogger(__name__)


class PlainAnswer(Response):
    """The model's own answer to the messages as the client sent them; no bot is made for it."""

    def __init__(self, here: Caller, target: Target, body: ChatBody, voice: OpenAIVoice, pace: Pace) -> None:
        super().__init__()
        self._here = here
        self._target = target
        self._body = body
        self._voice = voice
        self._pace = pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        speak = self._stream(send) if self._body.stream else self._say_whole(scope, receive, send)
        try:
            await while_connected(receive, speak)
        except ClientLeft:
            log.info("client_left", extra={"path": scope["path"]})

    async def _stream(self, send: Send) -> None:
        async with pumping(self._events()) as pump:
            await pump.peek(self._pace.patience)
            async with open_line(send, {}, self._pace.quiet) as line:
                try:
                    while (event := await pump.next()) is not None:
                        for piece in self._voice.say(event):
                            await line.say(piece)
                except SouvenanceError as error:
                    await line.say(self._voice.trouble(error))
        await hang_up(send)

    async def _say_whole(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._events()) as events:
            heard = [event async for event in events]
        response = Response(encoded(whole(heard, self._voice.frame)), media_type="application/json")
        await response(scope, receive, send)

    async def _events(self) -> AsyncGenerator[TurnEvent, None]:
        model = await self._model()
        finish = "stop"
        async with aclosing(self._here.kit.models.reply(_as_sent(model, self._body))) as chunks:
            async for chunk in chunks:
                finish = chunk.finish or finish
                yield Delta(text=chunk.text, chunk=chunk)
        yield Done(turn=None, message=None, finish=finish, model=model)

    async def _model(self) -> str:
        bot = self._target.bot
        named = self._target.model or (bot.model if bot is not None else None)
        model = named or (await models_at_hand(self._here.kit)).default
        if model is None:
            raise NoModel
        return model


def _as_sent(model: str, body: ChatBody) -> ChatRequest:
    head = {"model": model, **body.fields, **({"tools": list(body.tools)} if body.tools else {}), "stream": body.stream}
    asked = assemble(head, [AsSent(layer="sent", wire=message) for message in body.messages])
    return ChatRequest(
        model=model,
        messages=asked.messages,
        tools=body.tools,
        fields=body.fields,
        stream=body.stream,
        body=asked.body,
    )
