"""Owners: accounts and organisations, to whom memories, bots and conversations belong."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from souvenance.domain.ids import OwnerId


class OwnerKind(StrEnum):
    ACCOUNT = "account"
    ORGANISATION = "organisation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """An account or an organisation. `place` counts every change of its memories, one order for all of them; `secret`
    keys the hashes kept instead of content.
    """

    owner_id: OwnerId
    kind: OwnerKind
    name: str
    secret: bytes
    place: int
    created_at: datetime
