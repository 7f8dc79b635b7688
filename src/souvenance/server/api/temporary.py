"""Turns of temporary chats, of which the server keeps nothing (O4)."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from souvenance.app.plan_temporary_turn import TemporaryTurn
from souvenance.app.temporary_turn import temporary_turn
from souvenance.server.api.conversations import bot_id_of, persona_id_of
from souvenance.server.api.turns import ANSWERS, answered
from souvenance.server.caller import Here
from souvenance.server.forms_of_temporary import TemporaryTurnForm

router = APIRouter(tags=["turns"])


@router.post("/temporary-turns", response_class=Response, responses=ANSWERS)
async def say_temporarily(request: Request, here: Here, form: TemporaryTurnForm) -> Response:
    """Answers without memory and stores nothing; `opened.dropped` counts the messages that passed the window (O4)."""
    asked = TemporaryTurn(
        text=form.text,
        bot_id=await bot_id_of(here, form.bot),
        persona_id=persona_id_of(form.persona_id),
        model=form.model,
        history=tuple((said.role, said.text) for said in form.history),
        stream=form.stream,
    )
    return answered(request, here, lambda kit, owner_id: temporary_turn(kit, owner_id, asked), stream=form.stream)
