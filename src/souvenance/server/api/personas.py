"""Personas: the masks that a user wears."""

from __future__ import annotations

from fastapi import APIRouter, Response

from souvenance.app.browse import list_personas
from souvenance.app.personas import change_persona, create_persona, delete_persona
from souvenance.domain.ids import PersonaId, known_shape
from souvenance.server.caller import Here
from souvenance.server.forms import Cursor, Limit, NewPersonaForm, PersonaChanges
from souvenance.server.views.bots import PersonaJson
from souvenance.server.views.page import PageJson

router = APIRouter(prefix="/personas", tags=["personas"])


@router.get("")
async def list_(here: Here, cursor: Cursor = None, limit: Limit = None) -> PageJson[PersonaJson]:
    """In the order in which they were made."""
    page = await list_personas(here.kit, here.owner_id, cursor=cursor, limit=limit)
    return PageJson(items=[PersonaJson.of(persona) for persona in page.items], next=page.next)


@router.post("", status_code=201)
async def create(here: Here, form: NewPersonaForm) -> PersonaJson:
    """A name and a description that a user wears in a chat."""
    return PersonaJson.of(await create_persona(here.kit, here.owner_id, form.name, form.description))


@router.patch("/{persona_id}")
async def change(here: Here, persona_id: str, form: PersonaChanges) -> PersonaJson:
    """A stale edit is refused with both texts."""
    changed = await change_persona(
        here.kit,
        here.owner_id,
        PersonaId(known_shape("persona", persona_id)),
        seen=form.seen,
        name=form.name,
        description=form.description,
    )
    return PersonaJson.of(changed)


@router.delete("/{persona_id}", status_code=204)
async def delete(here: Here, persona_id: str) -> Response:
    """Takes the mask away; conversations that wore it go on without one."""
    await delete_persona(here.kit, here.owner_id, PersonaId(known_shape("persona", persona_id)))
    return Response(status_code=204)
