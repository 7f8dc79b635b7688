"""Make, change and delete personas: the mask a user wears, never a fact about them."""

from __future__ import annotations

from dataclasses import replace

from souvenance.app.bots import checked_name
from souvenance.app.kit import Kit
from souvenance.domain.bot import Persona
from souvenance.domain.ids import OwnerId, PersonaId
from souvenance.domain.text import clean
from souvenance.errors import StaleEdit
from souvenance.ports.store import Unit


async def create_persona(kit: Kit, owner_id: OwnerId, name: str, description: str = "") -> Persona:
    now = kit.clock.now()
    persona = Persona(
        persona_id=PersonaId(kit.ids.new("per")),
        name=checked_name(kit, name),
        description=_checked(kit, description),
        created_at=now,
        updated_at=now,
    )
    await kit.store.write(owner_id, lambda unit: unit.personas.put(persona), label="persona.created")
    return persona


async def change_persona(
    kit: Kit,
    owner_id: OwnerId,
    persona_id: PersonaId,
    *,
    seen: int,
    name: str | None = None,
    description: str | None = None,
) -> Persona:
    """The persona with the new name or description; StaleEdit with both descriptions."""
    now = kit.clock.now()

    def work(unit: Unit) -> Persona:
        persona = unit.personas.get(persona_id)
        if persona.version != seen:
            raise StaleEdit(
                "persona",
                persona_id,
                seen=seen,
                current=persona.version,
                theirs=persona.description,
                yours=description or "",
            )
        changed = replace(
            persona,
            name=persona.name if name is None else checked_name(kit, name),
            description=persona.description if description is None else _checked(kit, description),
            updated_at=now,
            version=persona.version + 1,
        )
        unit.personas.save(changed)
        return changed

    return await kit.store.write(owner_id, work, label="persona.changed")


async def delete_persona(kit: Kit, owner_id: OwnerId, persona_id: PersonaId) -> None:
    """Take the mask away; conversations that wore it go on without one."""
    await kit.store.write(owner_id, lambda unit: unit.personas.delete(persona_id), label="persona.deleted")


def _checked(kit: Kit, description: str) -> str:
    if not description.strip():
        return ""
    return clean("description", description, limit=kit.limits.description_characters)
