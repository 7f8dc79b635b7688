"""What is due in the background: seen, and started again after it was parked (HOUSE, journey 2)."""

from __future__ import annotations

from fastapi import APIRouter

from souvenance.app.work import list_work, restart_work
from souvenance.domain.ids import ConversationId, known_shape
from souvenance.server.caller import Here
from souvenance.server.forms import Cursor, Limit
from souvenance.server.views.page import PageJson
from souvenance.server.views.work import WorkJson

router = APIRouter(prefix="/work", tags=["work"])


@router.get("")
async def list_(here: Here, cursor: Cursor = None, limit: Limit = None) -> PageJson[WorkJson]:
    """What waits, is being worked on, or is parked with its reason; what has been due longest comes first."""
    page = await list_work(here.kit, here.owner_id, cursor=cursor, limit=limit)
    return PageJson(items=[WorkJson.of(due) for due in page.items], next=page.next)


@router.post("/{kind}/{conversation_id}/restart")
async def restart(here: Here, kind: str, conversation_id: str) -> WorkJson:
    """Lets a piece that is parked, or postponed with a reason, be due at once, its failures forgotten; else 404."""
    known = ConversationId(known_shape("conversation", conversation_id))
    return WorkJson.of(await restart_work(here.kit, here.owner_id, kind, known))
