"""`memory.notifications` for those who await nothing."""

from __future__ import annotations

from collections.abc import Iterator

from souvenance.blocking.loop_thread import LoopThread
from souvenance.domain.ids import NotificationId
from souvenance.domain.notification import Notification
from souvenance.library.notifications import Notifications


class BlockingNotifications:
    """`library.notifications.Notifications` with methods that wait; each does and raises what its namesake does."""

    def __init__(self, thread: LoopThread, notifications: Notifications) -> None:
        self._thread = thread
        self._notifications = notifications

    def list(self, *, unread_only: bool = False) -> Iterator[Notification]:
        return self._thread.each(lambda: self._notifications.list(unread_only=unread_only))

    def read(self, notification_id: NotificationId | str) -> None:
        self._thread.call(lambda: self._notifications.read(notification_id))
