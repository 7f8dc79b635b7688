"""Personas: the masks a user wears."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, bindparam, delete, insert, select, update

from souvenance.domain.bot import Persona
from souvenance.domain.ids import PersonaId
from souvenance.errors import NotFound, StaleEdit
from souvenance.storage.repository import LIMIT, Repository, owned
from souvenance.storage.schema import personas

_C = personas.c
_GET = select(personas).where(owned(personas), _C.persona_id == bindparam("id"))
_PAGE = select(personas).where(owned(personas), _C.persona_id > bindparam("after")).order_by(_C.persona_id).limit(LIMIT)
_SAVE = update(personas).where(owned(personas), _C.persona_id == bindparam("id"), _C.version == bindparam("seen"))
_DELETE = delete(personas).where(owned(personas), _C.persona_id == bindparam("id"))


class SqlPersonas(Repository):
    """`ports.conversations.Personas`."""

    __slots__ = ()

    def get(self, persona_id: PersonaId) -> Persona:
        row = self._row(_GET, id=persona_id)
        if row is None:
            raise NotFound("persona", persona_id)
        return _persona(row)

    def put(self, persona: Persona) -> None:
        self._insert(insert(personas), [{"persona_id": persona.persona_id, **_values(persona)}])

    def save(self, persona: Persona) -> None:
        seen = persona.version - 1
        if self._run(_SAVE, id=persona.persona_id, seen=seen, **_values(persona)).rowcount == 0:
            now = self.get(persona.persona_id)
            raise StaleEdit(
                "persona", now.persona_id, seen=seen, current=now.version, theirs=now.name, yours=persona.name
            )

    def delete(self, persona_id: PersonaId) -> None:
        if self._run(_DELETE, id=persona_id).rowcount == 0:
            raise NotFound("persona", persona_id)

    def page(self, *, after: PersonaId | None, limit: int) -> list[Persona]:
        return [_persona(row) for row in self._rows(_PAGE, after=after or "", limit=limit)]


def _values(persona: Persona) -> dict[str, object]:
    return {
        "name": persona.name,
        "description": persona.description,
        "created_at": persona.created_at,
        "updated_at": persona.updated_at,
        "version": persona.version,
    }


def _persona(row: Row[Any]) -> Persona:
    return Persona(
        persona_id=PersonaId(row.persona_id),
        name=row.name,
        description=row.description,
        created_at=row.created_at,
        updated_at=row.updated_at,
        version=row.version,
    )
