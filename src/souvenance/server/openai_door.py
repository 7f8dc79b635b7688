"""The OpenAI-compatible door: any client gets memory by changing its base URL (I3). With and without `/v1`."""

from __future__ import annotations

import hashlib

from fastapi import APIRouter, Request, Response

from souvenance.app.plan_temporary_turn import TemporaryTurn
from souvenance.app.temporary_turn import temporary_turn
from souvenance.app.turn import FromClient, TurnEvent, TurnRequest
from souvenance.domain.text import clean
from souvenance.errors import BadValue, UnknownModel
from souvenance.server.caller import Caller, Here
from souvenance.server.openai_models import Target, conversation_for, listed, resolve
from souvenance.server.openai_reply import CONVERSATION, Frame, OpenAIVoice, headers_of, whole
from souvenance.server.openai_request import ChatBody, is_utility, parse_chat
from souvenance.server.plain_answer import PlainAnswer
from souvenance.server.problems import encoded
from souvenance.server.turn_reply import AskedTurn, StreamedTurn, WholeTurn, saying

REF_CHARACTERS = 200
TASK = "X-OpenWebUI-Task"
TEMPORARY = "X-Souvenance-Temporary"

router = APIRouter(tags=["openai"])

_BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}}


@router.get("/models")
async def models(here: Here) -> dict[str, object]:
    """Bots, then upstream models: every name that `model` may have."""
    return {"object": "list", "data": await listed(here)}


@router.get("/models/{name:path}")
async def model(here: Here, name: str) -> dict[str, object]:
    """One of them by its name."""
    for entry in await listed(here):
        if entry["id"] == name:
            return entry
    raise UnknownModel(name)


@router.post("/chat/completions", response_class=Response, openapi_extra=_BODY)
async def chat_completions(request: Request, here: Here) -> Response:
    """`model` is a bot's name, `<upstream model>@<bot>`, or a bare upstream model; other fields go to the upstream."""
    body = parse_chat(await request.body())
    ref, temporary = _ref(request), _is_temporary(request)
    target = await resolve(here, body.model)
    frame = _frame(here, body)
    voice = OpenAIVoice(frame, wants_usage=body.wants_usage, ref=ref)
    if is_utility(request.headers.get(TASK, ""), body):
        return PlainAnswer(here, target, body, voice, request.app.state.pace)
    asked = _temporary(request, here, body, target) if temporary else await _asked(request, here, body, target)
    if body.stream:
        return StreamedTurn(asked, voice, request.app.state.pace)

    def compose(events: list[TurnEvent]) -> Response:
        answer = encoded(whole(events, frame))
        return Response(answer, headers=headers_of(events[0], ref), media_type="application/json")

    return WholeTurn(asked, compose)


def _frame(here: Caller, body: ChatBody) -> Frame:
    reply_id = "chatcmpl-" + here.kit.ids.new("rpl").partition("_")[2]
    return Frame(reply_id=reply_id, created=int(here.kit.clock.now().timestamp()), model=body.model)


async def _asked(request: Request, here: Caller, body: ChatBody, target: Target) -> AskedTurn:
    """The turn that a request asks for; an unknown bot is made once nothing else can be wrong with it."""
    clean("text", body.text, limit=here.kit.limits.message_characters)
    client = client_of(request.headers.get("Authorization", ""))
    digest = hashlib.sha256(await request.body()).hexdigest()
    turn = TurnRequest(
        address=FromClient(
            client=client, ref=_ref(request), history=body.history, conversation=await conversation_for(here, target)
        ),
        text=body.text,
        request_key=request.headers.get("Idempotency-Key", ""),
        request_hash=digest,
        model=target.model,
        system=body.system,
        user_message=body.user_message,
        tail=body.tail,
        tools=body.tools,
        fields=body.fields,
        stream=body.stream,
    )
    return AskedTurn(caller=here, answer=saying(turn), equals=request.app.state.equals, name=f"{client} {digest}")


def _temporary(request: Request, here: Caller, body: ChatBody, target: Target) -> AskedTurn:
    """The turn of a temporary chat: no bot is made for it, and the client's name for its conversation is not used."""
    turn = TemporaryTurn(
        text=body.text,
        bot_id=None if target.bot is None else target.bot.bot_id,
        model=target.model,
        history=body.history,
        system=body.system,
        user_message=body.user_message,
        tail=body.tail,
        tools=body.tools,
        fields=body.fields,
        stream=body.stream,
    )
    equals = request.app.state.equals
    return AskedTurn(caller=here, answer=lambda kit, owner_id: temporary_turn(kit, owner_id, turn), equals=equals)


def client_of(authorization: str) -> str:
    """A stable name for the key that a request came with: keys share conversations neither with one another nor with
    other doors.
    """
    scheme, _, key = authorization.strip().partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        return "v1"
    return "v1:" + hashlib.sha256(key.strip().encode(errors="surrogateescape")).hexdigest()[:16]


def _ref(request: Request) -> str:
    """The name that a client gives its conversation."""
    name = request.headers.get(CONVERSATION, "").strip()
    if len(name) > REF_CHARACTERS or not name.isprintable():
        raise BadValue(CONVERSATION, value=name, expected=f"at most {REF_CHARACTERS} visible characters")
    return name


def _is_temporary(request: Request) -> bool:
    """Whether the client asks that nothing of this be read from memory or stored (O4)."""
    said = request.headers.get(TEMPORARY, "").strip().lower()
    if said not in ("", "true", "false"):
        raise BadValue(TEMPORARY, value=said, expected="true or false")
    return said == "true"
