"""Whether the process lives, and whether its store answers; served under `/health` too, for those who watch it."""

from __future__ import annotations

from fastapi import APIRouter

from souvenance.app.browse import list_bots
from souvenance.server.caller import Here
from souvenance.server.views.about import HealthJson

router = APIRouter(prefix="/health", tags=["about"])


@router.get("/live")
async def live() -> HealthJson:
    """The process answers; nothing else is looked at."""
    return HealthJson(status="live")


@router.get("/ready")
async def ready(here: Here) -> HealthJson:
    """503 while the store cannot be read."""
    await list_bots(here.kit, here.owner_id, cursor=None, limit=1)
    return HealthJson(status="ready")
