"""The short offer to take an erasure back (M14)."""

from __future__ import annotations

from fastapi import APIRouter

from souvenance.app.erase import undo_erasure
from souvenance.domain.ids import ErasureId, known_shape
from souvenance.server.caller import Here
from souvenance.server.views.memories import ErasureJson

router = APIRouter(prefix="/erasures", tags=["memories"])


@router.post("/{erasure_id}/undo")
async def undo(here: Here, erasure_id: str) -> ErasureJson:
    """410 once the offer has ended."""
    done = await undo_erasure(here.kit, here.owner_id, ErasureId(known_shape("erasure", erasure_id)))
    return ErasureJson.of(done)
