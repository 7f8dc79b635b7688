"""Notifications: what the house tells a person without being asked."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, func, insert, select, update

from souvenance.domain.ids import NotificationId
from souvenance.domain.notification import Notification
from souvenance.errors import NotFound
from souvenance.storage.columns import Moment
from souvenance.storage.repository import LIMIT, Repository, owned
from souvenance.storage.schema import notifications

_C = notifications.c
_ALL = select(notifications).where(owned(notifications)).order_by(_C.notification_id.desc()).limit(LIMIT)
_OLDER = _C.notification_id < bindparam("before")
_PAGES = {
    (False, False): _ALL,
    (False, True): _ALL.where(_C.read_at.is_(None)),
    (True, False): _ALL.where(_OLDER),
    (True, True): _ALL.where(_OLDER, _C.read_at.is_(None)),
}
"""By whether there is one to start before, and whether only unread ones are asked for."""

_READ = (
    update(notifications)
    .where(owned(notifications), _C.notification_id == bindparam("id"))
    .values(read_at=func.coalesce(_C.read_at, bindparam("moment", type_=Moment)))
)


class SqlNotifications(Repository):
    """`ports.store.Notifications`."""

    __slots__ = ()

    def put(self, notification: Notification) -> None:
        row = {
            "notification_id": notification.notification_id,
            "kind": notification.kind,
            "about": json.dumps(notification.about, sort_keys=True, ensure_ascii=False),
            "created_at": notification.created_at,
            "read_at": notification.read_at,
        }
        self._insert(insert(notifications), [row])

    def page(self, *, before: NotificationId | None, limit: int, unread_only: bool) -> list[Notification]:
        start = {} if before is None else {"before": before}
        rows = self._rows(_PAGES[before is not None, unread_only], limit=limit, **start)
        return [_notification(row) for row in rows]

    def mark_read(self, notification_id: NotificationId, at: datetime) -> None:
        if self._run(_READ, id=notification_id, moment=at).rowcount == 0:
            raise NotFound("notification", notification_id)


def _notification(row: Row[Any]) -> Notification:
    return Notification(
        notification_id=NotificationId(row.notification_id),
        kind=row.kind,
        about=json.loads(row.about),
        created_at=row.created_at,
        read_at=row.read_at,
    )
