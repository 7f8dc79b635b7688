"""What the house tells a person without being asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from souvenance.domain.ids import NotificationId


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """`kind` is a stable word such as `rebuild_done`; `about` holds ids and figures, never text of memories."""

    notification_id: NotificationId
    kind: str
    about: dict[str, str | int | float]
    created_at: datetime
    read_at: datetime | None = None
