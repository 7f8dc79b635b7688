"""What was sent for a reply: figures by layer, and the very bytes (C1)."""

from __future__ import annotations

from fastapi import APIRouter, Response

from souvenance.app.read_prompts import prompts_of_message, read_prompt
from souvenance.domain.ids import MessageId, PromptId, known_shape
from souvenance.server.caller import Here
from souvenance.server.views.prompts import FiguresJson, PromptJson, PromptsJson

router = APIRouter(tags=["prompts"])


@router.get("/messages/{message_id}/prompts")
async def of_message(here: Here, message_id: str) -> PromptsJson:
    """The requests that led to this reply, one a tool round, with what was left out of each (W7)."""
    found = await prompts_of_message(here.kit, here.owner_id, MessageId(known_shape("message", message_id)))
    return PromptsJson(items=[FiguresJson.of(prompt) for prompt in found])


@router.get("/prompts/{prompt_id}")
async def read(here: Here, prompt_id: str) -> PromptJson:
    """One request with its parts, their layers and what was left out."""
    found = await read_prompt(here.kit, here.owner_id, PromptId(known_shape("prompt", prompt_id)))
    return PromptJson.whole(found)


@router.get("/prompts/{prompt_id}/body", response_class=Response)
async def body(here: Here, prompt_id: str) -> Response:
    """Byte for byte as it was sent; erased text shows as `[erased]`."""
    found = await read_prompt(here.kit, here.owner_id, PromptId(known_shape("prompt", prompt_id)))
    return Response(b"".join(part.data for part in found.parts), media_type="application/json")
