from __future__ import annotations

import json
from pathlib import Path

from souvenance.domain.ids import NotificationId
from souvenance.domain.notification import Notification
from souvenance.server.pace import Pace
from tests.flows.serving import Served, served, settings_for


async def notify(server: Served, kind: str) -> NotificationId:
    kit = server.house.kit
    made = Notification(
        notification_id=NotificationId(kit.ids.new("ntf")), kind=kind, about={"count": 3}, created_at=kit.clock.now()
    )
    await kit.store.write(server.house.owner_id, lambda unit: unit.notifications.put(made), label="notified")
    return made.notification_id


async def test_notifications_are_listed_newest_first_and_marked_as_read(both: Served) -> None:
    first, second = await notify(both, "one"), await notify(both, "two")
    listed = (await both.rest.get("/notifications")).json()["items"]
    assert [each["id"] for each in listed] == [second, first]
    assert listed[0]["about"] == {"count": 3}
    assert (await both.rest.put(f"/notifications/{first}/read")).status_code == 204
    unread = (await both.rest.get("/notifications", params={"unread_only": True})).json()["items"]
    assert [each["id"] for each in unread] == [second]


async def test_new_notifications_come_as_events_and_missed_ones_after_a_reconnect(tmp_path: Path) -> None:
    async with served(settings_for(tmp_path), pace=Pace(poll=0.01)) as server:
        before = await notify(server, "before")
        async with server.rest.stream("GET", "/notifications/stream") as stream:
            lines = stream.aiter_lines()
            now = await notify(server, "now")
            event = [await anext(lines) for _ in range(3)]
        assert (event[0], event[2]) == ("event: notification", f"id: {now}")
        assert json.loads(event[1].removeprefix("data: "))["kind"] == "now"
        missed = await notify(server, "missed")
        async with server.rest.stream("GET", "/notifications/stream", headers={"Last-Event-ID": before}) as stream:
            lines = stream.aiter_lines()
            heard = [await anext(lines) for _ in range(7)]
        assert [line for line in heard if line.startswith("id:")] == [f"id: {now}", f"id: {missed}"]
