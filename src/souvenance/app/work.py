"""What is due in the background: seen, and started again after it was parked (HOUSE, journey 2)."""

from __future__ import annotations

from souvenance.app.browse import Page, page_size
from souvenance.app.cursor import decode, encode, moment
from souvenance.app.due_work import Work
from souvenance.app.kit import Kit
from souvenance.app.steer_rebuild import resume
from souvenance.domain.due import Due
from souvenance.domain.ids import ConversationId, OwnerId
from souvenance.domain.summary import RebuildState
from souvenance.ports.store import Unit

_CURSOR = "work"


async def list_work(kit: Kit, owner_id: OwnerId, *, cursor: str | None = None, limit: int | None = None) -> Page[Due]:
    """All that waits, is being worked on, or is parked with its reason; what has been due longest comes first."""
    most = page_size(kit, limit)
    after = None if cursor is None else decode(cursor, _CURSOR)
    start = None if after is None else (moment(after.split(" ")[0]), *after.split(" ")[1:])
    every = await kit.store.read(owner_id, lambda unit: unit.due.every(), label="work.listed")
    rest = [due for due in every if start is None or (due.due_at, due.kind, due.subject) > start]
    last = rest[most - 1] if len(rest) > most else None
    mark = None if last is None else encode(_CURSOR, f"{last.due_at.isoformat()} {last.kind} {last.subject}")
    return Page(items=tuple(rest[:most]), next=mark)


async def restart_work(kit: Kit, owner_id: OwnerId, kind: str, conversation_id: ConversationId) -> Due:
    """Let a piece that is parked, or postponed with a reason, be due now, its failures forgotten; else NotFound.

    A rebuild that failed is resumed.
    """
    now = kit.clock.now()

    def work(unit: Unit) -> Due:
        unit.due.restart(kind, conversation_id, at=now)
        failed = unit.rebuilds.newest(conversation_id) if kind == Work.REBUILD else None
        if failed is not None and failed.state is RebuildState.FAILED:
            resume(unit, failed, now)
        restarted = unit.due.get(kind, conversation_id)
        assert restarted is not None
        return restarted

    return await kit.store.write(owner_id, work, label="work.restarted")
