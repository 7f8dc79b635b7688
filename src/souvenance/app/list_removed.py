"""What turns and passes removed, so that a person finds it and brings it back (M11)."""

from __future__ import annotations

from souvenance.app.browse import Page, page_size
from souvenance.app.cursor import decode, encode, number
from souvenance.app.kit import Kit
from souvenance.app.rooms import known_scopes
from souvenance.domain.ids import OwnerId
from souvenance.domain.memory import Scope
from souvenance.ports.memories import Removed
from souvenance.ports.store import Unit

_MOST_PLACES = 2**63 - 1


async def list_removed(
    kit: Kit, owner_id: OwnerId, *, scope: Scope | None = None, cursor: str | None = None, limit: int | None = None
) -> Page[Removed]:
    """Deleted memories of one scope, or of all the owner's own but those of single conversations; removed last first.

    What a person erased is not among them (M14), nor what is gone only because its turn was taken back.
    """
    most = page_size(kit, limit)
    before = None if cursor is None else number(decode(cursor, "removed"), most=_MOST_PLACES)

    def work(unit: Unit) -> list[Removed]:
        scopes = known_scopes(unit, kit) if scope is None else (scope,)
        return unit.memories.removed(scopes, before=before, limit=most + 1)

    found = await kit.store.read(owner_id, work, label="memories.removed")
    more = len(found) > most
    return Page(items=tuple(found[:most]), next=encode("removed", str(found[most - 1].place)) if more else None)
