"""Turns: say something, and hear the reply as server-sent events or as one JSON object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from fastapi import APIRouter, Request, Response

from souvenance.app.browse import read_turn
from souvenance.app.choose_variant import choose_variant
from souvenance.app.conversations import NewConversation
from souvenance.app.go_on import go_on
from souvenance.app.let_answer import LetAnswer, let_answer
from souvenance.app.regenerate import regenerate
from souvenance.app.reopen_turn import AskedAgain
from souvenance.app.turn import (
    Address,
    Delta,
    Done,
    InConversation,
    NewChat,
    Noted,
    Opened,
    Speaking,
    TurnEvent,
    TurnRequest,
)
from souvenance.domain.conversation import Channel
from souvenance.domain.ids import TurnId, known_shape
from souvenance.errors import SouvenanceError
from souvenance.server.api.conversations import bot_id_of, bot_ids_of, conversation_id_of, persona_id_of
from souvenance.server.caller import Caller, Here
from souvenance.server.event_line import named_event
from souvenance.server.forms import AgainForm, AnswersForm, ChoiceForm, FirstTurnForm, TurnForm
from souvenance.server.problems import problem, trouble_of
from souvenance.server.turn_reply import Answer, AskedTurn, StreamedTurn, WholeTurn, saying
from souvenance.server.views.conversations import MessageJson, TurnJson, TurnMessagesJson
from souvenance.server.views.turn_events import DoneJson, NotedJson, OpenedJson, ReplyJson, SpeakingJson

router = APIRouter(tags=["turns"])

ANSWERS: dict[int | str, dict[str, object]] = {
    200: {
        "model": ReplyJson,
        "description": "With `stream: false` one object; else the events opened, speaking, delta, noted, done, error.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@router.post("/conversations/{conversation_id}/turns", response_class=Response, responses=ANSWERS)
async def say(request: Request, here: Here, conversation_id: str, form: TurnForm) -> Response:
    """A repeated `idempotency_key` gets the stored reply; it is never said twice."""
    address = InConversation(conversation_id=conversation_id_of(conversation_id))
    return await _reply(request, here, address, form)


@router.post("/conversations/{conversation_id}/answers", response_class=Response, responses=ANSWERS)
async def let_others_answer(
    request: Request, here: Here, conversation_id: str, form: AnswersForm | None = None
) -> Response:
    """Lets other members of a group answer the last message too, without a new one (M7)."""
    form = form or AnswersForm()
    asked = LetAnswer(
        conversation_id=conversation_id_of(conversation_id),
        speakers=await bot_ids_of(here, form.speakers),
        model=form.model,
        stream=form.stream,
    )
    return answered(request, here, lambda kit, owner_id: let_answer(kit, owner_id, asked), stream=form.stream)


@router.post("/turns", response_class=Response, responses=ANSWERS)
async def say_first(request: Request, here: Here, form: FirstTurnForm) -> Response:
    """Opens a new conversation with the bot of this name or id, or with a bare `model`."""
    bot_id = await bot_id_of(here, form.bot)
    new = NewConversation(
        bot_id=bot_id,
        others=await bot_ids_of(here, form.members),
        model=form.model if bot_id is None else None,
        persona_id=persona_id_of(form.persona_id),
        channel=Channel.API,
        flags=form.flags.value(),
        time_zone=form.time_zone or here.time_zone,
        title=form.title,
    )
    return await _reply(request, here, NewChat(conversation=new), form)


@router.get("/turns/{turn_id}")
async def read(here: Here, turn_id: str) -> TurnMessagesJson:
    """A turn with all its messages, variants that were not chosen included."""
    turn, messages = await read_turn(here.kit, here.owner_id, turn_id_of(turn_id))
    return TurnMessagesJson(turn=TurnJson.of(turn), messages=[MessageJson.of(message) for message in messages])


@router.post("/turns/{turn_id}/regenerate", response_class=Response, responses=ANSWERS)
async def ask_again(request: Request, here: Here, turn_id: str, form: AgainForm | None = None) -> Response:
    """A new variant of the last turn's reply (T1), as if the one there had never been given: what that one wrote is
    undone once the new one is stored; until then, and when the model fails, it stays. A client's own system prompt and
    tools are not kept, and so not sent.
    """
    asked = _asked(turn_id, form or AgainForm())
    return answered(request, here, lambda kit, owner_id: regenerate(kit, owner_id, asked), stream=asked.stream)


@router.post("/turns/{turn_id}/continue", response_class=Response, responses=ANSWERS)
async def continue_(request: Request, here: Here, turn_id: str, form: AgainForm | None = None) -> Response:
    """Goes on with a reply that was cut off (T6): the deltas are what is new, the message of `done` is all of it."""
    asked = _asked(turn_id, form or AgainForm())
    return answered(request, here, lambda kit, owner_id: go_on(kit, owner_id, asked), stream=asked.stream)


@router.put("/turns/{turn_id}/choice")
async def choose(here: Here, turn_id: str, form: ChoiceForm) -> MessageJson:
    """Lets another variant of a reply stand (T3): what the one left wrote is undone, what this one wrote comes back."""
    turn = turn_id_of(turn_id)
    return MessageJson.of(await choose_variant(here.kit, here.owner_id, turn, part=form.part, variant=form.variant))


def turn_id_of(raw: str) -> TurnId:
    return TurnId(known_shape("turn", raw))


def _asked(turn_id: str, form: AgainForm) -> AskedAgain:
    return AskedAgain(turn_id=turn_id_of(turn_id), part=form.part, model=form.model, stream=form.stream)


async def _reply(request: Request, here: Caller, address: Address, form: TurnForm) -> Response:
    asked = TurnRequest(
        address=address,
        text=form.text,
        time_zone=form.time_zone,
        speakers=await bot_ids_of(here, form.speakers),
        replaces=None if form.replaces is None else turn_id_of(form.replaces),
        request_key=form.idempotency_key,
        model=form.model,
        stream=form.stream,
    )
    return answered(request, here, saying(asked), stream=form.stream)


def answered(request: Request, here: Caller, answer: Answer, *, stream: bool) -> Response:
    """The turn as a stream of named events, or as one object."""
    asked = AskedTurn(caller=here, equals=request.app.state.equals, answer=answer)
    if not stream:
        return WholeTurn(asked, _whole)
    return StreamedTurn(asked, RestVoice(), request.app.state.pace)


def _whole(events: list[TurnEvent]) -> Response:
    return Response(ReplyJson.of(events).model_dump_json(), media_type="application/json")


class RestVoice:
    """Events by name, each with one JSON object: opened, speaking (in a group), delta, noted, done, error."""

    def headers(self, first: TurnEvent) -> Mapping[str, str]:
        return {}

    def say(self, event: TurnEvent) -> Iterator[bytes]:
        match event:
            case Opened():
                yield named_event("opened", OpenedJson.of(event).model_dump(mode="json"))
            case Speaking():
                yield named_event("speaking", SpeakingJson.of(event).model_dump(mode="json"))
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
