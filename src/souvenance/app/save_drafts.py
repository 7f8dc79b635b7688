"""Save drafts that a person has reviewed: all of them or none (V6, V10)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from souvenance.app.change_memories import Store, hold, said_by_person, source
from souvenance.app.drafts import standing
from souvenance.app.kit import Kit
from souvenance.app.remember import NewMemory, Ready, Remembered, checked, store_ready
from souvenance.domain.draft import Draft
from souvenance.domain.ids import DraftId, MemoryId, OwnerId
from souvenance.domain.journal import Content
from souvenance.domain.memory import Evidence
from souvenance.domain.terms import terms
from souvenance.errors import BadValue, TooMany
from souvenance.ports.store import Unit


async def save_drafts(
    kit: Kit, owner_id: OwnerId, draft_ids: Sequence[DraftId], *, overwrite: bool = False
) -> tuple[Remembered, ...]:
    """The memories that these drafts became, in their order; one that was there already gained a source (M10).

    Raises NotFound, DraftExpired, PinRoomFull with the figures, KeyTaken unless `overwrite`, BadValue for a notebook's
    draft without a key; then nothing is saved and every draft stays.
    """
    wanted = tuple(dict.fromkeys(draft_ids))
    if not wanted:
        raise BadValue("ids", value=[], expected="at least one draft id")
    if len(wanted) > kit.limits.page_most:
        raise TooMany("ids", size=len(wanted), limit=kit.limits.page_most)
    memory_ids = [MemoryId(kit.ids.new("mem")) for _ in wanted]
    now = kit.clock.now()

    def work(unit: Unit) -> tuple[Remembered, ...]:
        unit.owners.hold()
        drafts = [standing(unit, draft_id, now) for draft_id in wanted]
        for scope in sorted({draft.scope for draft in drafts}, key=lambda scope: scope.key):
            hold(unit, scope)
        ready = [
            _ready(unit, kit, draft, memory_id, now, overwrite=overwrite)
            for draft, memory_id in zip(drafts, memory_ids, strict=True)
        ]
        saved = store_ready(unit, kit, ready, said_by_person(now))
        unit.drafts.remove(wanted)
        return saved

    return await kit.store.write(owner_id, work, label="drafts.saved")


def _ready(unit: Unit, kit: Kit, draft: Draft, memory_id: MemoryId, now: datetime, *, overwrite: bool) -> Ready:
    key, text = checked(kit.limits, draft.key, draft.text)
    content = Content(text=text, key=key, origin=draft.origin, evidence=_evidence(unit, draft, now))
    return Ready(
        new=NewMemory(text=text, scope=draft.scope, key=key, pinned=draft.pinned, overwrite=overwrite),
        wish=Store(
            memory_id=memory_id,
            scope=draft.scope,
            content=content,
            terms=tuple(terms(f"{key or ''} {text}")),
            overwrite=overwrite,
        ),
    )


def _evidence(unit: Unit, draft: Draft, now: datetime) -> tuple[Evidence, ...]:
    """The messages that it was drawn from and that are still there; of a description, that a person saved it now."""
    said = {message.message_id: message for message in unit.messages.many(draft.sources)}
    found = tuple(
        Evidence(at=message.created_at, conversation_id=message.conversation_id, message_id=message.message_id)
        for message in (said[source_id] for source_id in draft.sources if source_id in said)
    )
    return found or source(now)
