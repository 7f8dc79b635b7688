"""What the house tells a person without being asked: listed, marked as read, and as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from fastapi import APIRouter, Header, Request, Response
from starlette.types import Receive, Scope, Send

from souvenance.app.browse import list_notifications, mark_read
from souvenance.domain.ids import NotificationId, known_shape
from souvenance.domain.notification import Notification
from souvenance.errors import StoreUnavailable
from souvenance.server.caller import Caller, Here
from souvenance.server.event_line import hang_up, named_event, open_line
from souvenance.server.forms import Cursor, Limit
from souvenance.server.hang_up import ClientLeft, while_connected
from souvenance.server.pace import Pace
from souvenance.server.views.about import NotificationJson
from souvenance.server.views.page import PageJson

router = APIRouter(prefix="/notifications", tags=["notifications"])


@router.get("")
async def list_(
    here: Here, unread_only: bool = False, cursor: Cursor = None, limit: Limit = None
) -> PageJson[NotificationJson]:
    """Newest first."""
    page = await list_notifications(here.kit, here.owner_id, unread_only=unread_only, cursor=cursor, limit=limit)
    return PageJson(items=[NotificationJson.of(each) for each in page.items], next=page.next)


@router.put("/{notification_id}/read", status_code=204)
async def read(here: Here, notification_id: str) -> Response:
    """Marking twice keeps the first time."""
    known = NotificationId(known_shape("notification", notification_id))
    await mark_read(here.kit, here.owner_id, known)
    return Response(status_code=204)


@router.get("/stream", response_class=Response)
async def stream(request: Request, here: Here, last_event_id: str | None = Header(default=None)) -> Response:
    """New notifications as `notification` events; after a reconnect those since `Last-Event-ID` come first."""
    return NotificationStream(here, request, after=last_event_id)


class NotificationStream(Response):
    """Looks into the store at most once in five seconds, until the client leaves or the server stops."""

    def __init__(self, here: Caller, request: Request, *, after: str | None) -> None:
        super().__init__(media_type="text/event-stream")
        self._here = here
        self._after = after
        self._stopping: asyncio.Event = request.app.state.stopping
        self._pace: Pace = request.app.state.pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(ClientLeft):
            await while_connected(receive, self._speak(send))

    async def _speak(self, send: Send) -> None:
        seen = await self._seen_before()
        async with open_line(send, {}, self._pace.quiet) as line:
            async for notification in self._arriving(seen):
                data = NotificationJson.of(notification).model_dump(mode="json")
                await line.say(named_event("notification", data, event_id=notification.notification_id))
        await hang_up(send)

    async def _seen_before(self) -> set[NotificationId]:
        """What need not be told: all there is, or what is no newer than the last one the client has."""
        known = {each.notification_id for each in await self._newest()}
        return known if self._after is None else {each for each in known if each <= self._after}

    async def _arriving(self, seen: set[NotificationId]) -> AsyncIterator[Notification]:
        while not self._stopping.is_set():
            with suppress(StoreUnavailable):
                newest = await self._newest()
                for notification in reversed(newest):
                    if notification.notification_id not in seen:
                        yield notification
                seen |= {each.notification_id for each in newest}
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pace.poll):
                    await self._stopping.wait()

    async def _newest(self) -> tuple[Notification, ...]:
        page = await list_notifications(self._here.kit, self._here.owner_id, unread_only=False, cursor=None, limit=None)
        return page.items
