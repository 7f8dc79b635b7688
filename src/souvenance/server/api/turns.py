"""Turns: say something, and hear the reply as server-sent events or as one JSON object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from fastapi import APIRouter, Request, Response

from souvenance.app.browse import read_turn
from souvenance.app.conversations import NewConversation
from souvenance.app.turn import (
    Address,
    Delta,
    Done,
    InConversation,
    NewChat,
    Noted,
    Opened,
    TurnEvent,
    TurnRequest,
)
from souvenance.domain.conversation import Channel
from souvenance.domain.ids import TurnId, known_shape
from souvenance.errors import SouvenanceError
from souvenance.server.api.conversations import bot_id_of, conversation_id_of, persona_id_of
from souvenance.server.caller import Caller, Here
from souvenance.server.event_line import named_event
from souvenance.server.forms import FirstTurnForm, TurnForm
from souvenance.server.problems import problem, trouble_of
from souvenance.server.turn_reply import AskedTurn, StreamedTurn, WholeTurn
from souvenance.server.views.conversations import MessageJson, TurnJson, TurnMessagesJson
from souvenance.server.views.turn_events import DoneJson, NotedJson, OpenedJson, ReplyJson

router = APIRouter(tags=["turns"])

_ANSWERS: dict[int | str, dict[str, object]] = {
    200: {
        "model": ReplyJson,
        "description": "With `stream: false` one object; else the events opened, delta, noted, done, error.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@router.post("/conversations/{conversation_id}/turns", response_class=Response, responses=_ANSWERS)
async def say(request: Request, here: Here, conversation_id: str, form: TurnForm) -> Response:
    """A repeated `idempotency_key` gets the stored reply; it is never said twice."""
    address = InConversation(conversation_id=conversation_id_of(conversation_id))
    return _reply(request, here, address, form)


@router.post("/turns", response_class=Response, responses=_ANSWERS)
async def say_first(request: Request, here: Here, form: FirstTurnForm) -> Response:
    """Opens a new conversation with the bot of this name or id, or with a bare `model`."""
    bot_id = await bot_id_of(here, form.bot)
    new = NewConversation(
        bot_id=bot_id,
        model=form.model if bot_id is None else None,
        persona_id=persona_id_of(form.persona_id),
        channel=Channel.API,
        flags=form.flags.value(),
        time_zone=form.time_zone or here.time_zone,
        title=form.title,
    )
    return _reply(request, here, NewChat(conversation=new), form)


@router.get("/turns/{turn_id}")
async def read(here: Here, turn_id: str) -> TurnMessagesJson:
    """A turn with all its messages, variants that were not chosen included."""
    turn, messages = await read_turn(here.kit, here.owner_id, TurnId(known_shape("turn", turn_id)))
    return TurnMessagesJson(turn=TurnJson.of(turn), messages=[MessageJson.of(message) for message in messages])


def _reply(request: Request, here: Caller, address: Address, form: TurnForm) -> Response:
    asked = AskedTurn(
        caller=here,
        equals=request.app.state.equals,
        request=TurnRequest(
            address=address,
            text=form.text,
            time_zone=form.time_zone,
            request_key=form.idempotency_key,
            model=form.model,
            stream=form.stream,
        ),
    )
    if not form.stream:
        return WholeTurn(asked, _whole)
    return StreamedTurn(asked, RestVoice(), request.app.state.pace)


def _whole(events: list[TurnEvent]) -> Response:
    return Response(ReplyJson.of(events).model_dump_json(), media_type="application/json")


class RestVoice:
    """Events by name, each with one JSON object: opened, delta, noted, done, error."""

    def headers(self, first: TurnEvent) -> Mapping[str, str]:
        return {}

    def say(self, event: TurnEvent) -> Iterator[bytes]:
        match event:
            case Opened():
                yield named_event("opened", OpenedJson.of(event).model_dump(mode="json"))
            case Delta(text=text):
                if text:
                    yield named_event("delta", {"text": text})
            case Noted():
                yield named_event("noted", NotedJson.of(event).model_dump(mode="json"))
            case Done():
                yield named_event("done", DoneJson.of(event).model_dump(mode="json"))
            case _:
                assert_never(event)

    def trouble(self, error: SouvenanceError) -> bytes:
        return named_event("error", problem(trouble_of(error)))
