"""Drafts: memories to be reviewed by a person before they are any (V5, V6, V10)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from souvenance.domain.ids import DraftId, MessageId
from souvenance.domain.memory import Origin, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What could become a memory of `scope`: with a key, `text` is its value.

    `batch` is the same for all of one drafting; `sources` are the messages that it was drawn from. From `until` on it
    has expired: it can be neither read nor saved, and its text is purged.
    """

    draft_id: DraftId
    batch: str
    scope: Scope
    origin: Origin
    text: str
    key: str | None = None
    pinned: bool = False
    sources: tuple[MessageId, ...] = ()
    created_at: datetime
    until: datetime
