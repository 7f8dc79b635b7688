"""Purge what people erased, once the offer to undo has ended (M14), and drafts that have expired (V10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from souvenance.domain.journal import content_of
from souvenance.domain.text import fold

if TYPE_CHECKING:
    from souvenance.app.kit import Kit
    from souvenance.domain.erasure import Erasure
    from souvenance.ports.store import Unit


async def purge_ended(kit: Kit) -> int:
    """Purge every erasure whose offer has ended and every draft that has expired, of all owners; returns how many
    memories and drafts are gone.
    """
    now = kit.clock.now()

    def work(unit: Unit) -> int:
        unit.owners.hold()
        purged = unit.drafts.purge_ended(now)
        for erasure in unit.erasures.ended(now):
            purged += drop_drafts(unit, erasure)
            unit.erasures.purge(erasure)
            purged += len(erasure.memory_ids)
        return purged

    owners = await kit.store.owners_with_ended_offers(now)
    if owners:
        await kit.store.will_purge()
    purged = sum([await kit.store.write(owner_id, work, label="erasures.purged") for owner_id in owners])
    await kit.store.scrub(deleted=purged > 0)
    return purged


def drop_drafts(unit: Unit, erasure: Erasure) -> int:
    """Drop the drafts that say what one of these memories says or once said (M14); returns how many."""
    memories = unit.memories.many(erasure.memory_ids)
    scopes = sorted({memory.scope for memory in memories}, key=lambda scope: scope.key)
    drafts = unit.drafts.of_scopes(scopes) if scopes else []
    if not drafts:
        return 0
    journal = unit.journal.of_memories(erasure.memory_ids)
    said = (content_of(operation.intent) for operations in journal.values() for operation in operations)
    texts = [memory.text for memory in memories] + [content.text for content in said if content is not None]
    erased = {fold(text) for text in texts}
    gone = [draft.draft_id for draft in drafts if fold(draft.text) in erased]
    unit.drafts.remove(gone)
    return len(gone)
