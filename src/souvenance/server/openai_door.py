"""The OpenAI-compatible door: any client gets memory by changing its base URL (I3). With and without `/v1`."""

from __future__ import annotations

import hashlib
import uuid

from fastapi import APIRouter, Request, Response

from souvenance.app.turn import FromClient, TurnEvent, TurnRequest
from souvenance.domain.text import clean
from souvenance.errors import BadValue, UnknownModel
from souvenance.server.caller import Here
from souvenance.server.openai_models import conversation_for, listed, resolve
from souvenance.server.openai_reply import CONVERSATION, OpenAIVoice, headers_of, whole
from souvenance.server.openai_request import ChatBody, is_utility, parse_chat
from souvenance.server.pace import Pace
from souvenance.server.plain_answer import PlainAnswer
from souvenance.server.problems import encoded
from souvenance.server.turn_reply import AskedTurn, StreamedTurn, WholeTurn

REF_CHARACTERS = 200
TASK = "X-OpenWebUI-Task"

router = APIRouter(tags=["openai"])

_BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}}


@router.get("/models")
async def models(here: Here) -> dict[str, object]:
    """Bots, then upstream models: every name that `model` may have."""
    return {"object": "list", "data": await listed(here)}


@router.get("/models/{name:path}")
async def model(here: Here, name: str) -> dict[str, object]:
    for entry in await listed(here):
        if entry["id"] == name:
            return entry
    raise UnknownModel(name)


@router.post("/chat/completions", response_class=Response, openapi_extra=_BODY)
async def chat_completions(request: Request, here: Here) -> Response:
    """`model` is a bot's name, `<upstream model>@<bot>`, or a bare upstream model; other fields go to the upstream."""
    data = await request.body()
    body = parse_chat(data)
    ref = _ref(request.headers.get(CONVERSATION, ""))
    target = await resolve(here, body.model)
    reply_id = f"chatcmpl-{uuid.uuid4().hex}"
    created = int(here.kit.clock.now().timestamp())
    voice = OpenAIVoice(reply_id=reply_id, created=created, model=body.model, wants_usage=body.wants_usage, ref=ref)
    pace: Pace = request.app.state.pace
    if is_utility(request.headers.get(TASK, ""), body):
        return PlainAnswer(here, target, body, voice, reply_id=reply_id, pace=pace)
    clean("text", body.text, limit=here.kit.limits.message_characters)
    address = FromClient(
        client=client_of(request.headers.get("Authorization", "")),
        ref=ref,
        history=body.history,
        conversation=await conversation_for(here, target),
    )
    key = request.headers.get("Idempotency-Key", "")
    digest = hashlib.sha256(data).hexdigest()
    asked = AskedTurn(
        caller=here,
        request=_turn(body, address, digest, model=target.model, key=key),
        equals=request.app.state.equals,
        name=f"{address.client} {digest}",
    )
    if body.stream:
        return StreamedTurn(asked, voice, pace)

    def compose(events: list[TurnEvent]) -> Response:
        answer = whole(events, reply_id=reply_id, created=created, model=body.model)
        return Response(encoded(answer), headers=headers_of(events[0], ref), media_type="application/json")

    return WholeTurn(asked, compose)


def client_of(authorization: str) -> str:
    """A stable name for the key that a request came with: keys do not share conversations. "" without a key."""
    scheme, _, key = authorization.strip().partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        return ""
    return hashlib.sha256(key.strip().encode(errors="surrogateescape")).hexdigest()[:16]


def _ref(name: str) -> str:
    """The name that a client gives its conversation."""
    name = name.strip()
    if len(name) > REF_CHARACTERS or not name.isprintable():
        raise BadValue(CONVERSATION, value=name, expected=f"at most {REF_CHARACTERS} visible characters")
    return name


def _turn(body: ChatBody, address: FromClient, digest: str, *, model: str | None, key: str) -> TurnRequest:
    return TurnRequest(
        address=address,
        text=body.text,
        request_key=key,
        request_hash=digest,
        model=model,
        system=body.system,
        user_message=body.user_message,
        tail=body.tail,
        tools=body.tools,
        fields=body.fields,
        stream=body.stream,
    )
