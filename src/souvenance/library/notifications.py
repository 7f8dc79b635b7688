"""`memory.notifications`: what the house tells a person without being asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from souvenance.app.browse import list_notifications, mark_read
from souvenance.domain.ids import NotificationId, known_shape
from souvenance.domain.notification import Notification
from souvenance.library.pages import walk
from souvenance.wiring import House


class Notifications:
    """That work was parked, a rebuild ended, rules are full or credit ran out: each a `kind` with ids and figures."""

    def __init__(self, house: House) -> None:
        self._house = house

    def list(self, *, unread_only: bool = False) -> AsyncGenerator[Notification, None]:
        """All of them, or those that nobody marked as read; newest first."""
        kit, owner_id = self._house.kit, self._house.owner_id
        return walk(lambda cursor: list_notifications(kit, owner_id, unread_only=unread_only, cursor=cursor))

    async def read(self, notification_id: NotificationId | str) -> None:
        """Mark one as read; a second time changes nothing. NotFound when there is none."""
        known = NotificationId(known_shape("notification", notification_id))
        await mark_read(self._house.kit, self._house.owner_id, known)
