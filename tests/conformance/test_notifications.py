"""Notifications on both databases."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from souvenance.domain.ids import NotificationId
from souvenance.errors import NotFound
from souvenance.ports.store import Store
from tests.conformance import rows
from tests.conformance.rows import ALICE, BOB, NOW, each, later


async def test_notifications_come_in_pages_newest_first_and_unread_ones_by_themselves(store: Store) -> None:
    sent = [rows.notification(n, about={"nodes": n, "share": 0.5, "chat": "con_é"}) for n in range(5)]
    for owner_id in (ALICE, BOB):
        await store.write(owner_id, each(lambda unit: unit.notifications.put, sent), label="notification.sent")
    read_id = sent[3].notification_id
    await store.write(ALICE, lambda unit: unit.notifications.mark_read(read_id, NOW), label="notification.read")

    async def page(before: NotificationId | None, *, unread_only: bool) -> list[object]:
        return list(
            await store.read(
                ALICE,
                lambda unit: unit.notifications.page(before=before, limit=3, unread_only=unread_only),
                label="notification.listed",
            )
        )

    read = replace(sent[3], read_at=NOW)
    assert await page(None, unread_only=False) == [sent[4], read, sent[2]]
    assert await page(sent[2].notification_id, unread_only=False) == [sent[1], sent[0]]
    assert await page(None, unread_only=True) == [sent[4], sent[2], sent[1]]
    assert await page(sent[4].notification_id, unread_only=True) == [sent[2], sent[1], sent[0]]


async def test_a_notification_keeps_the_moment_it_was_first_read(store: Store) -> None:
    one = rows.notification()
    await store.write(ALICE, lambda unit: unit.notifications.put(one), label="notification.sent")
    for at in (NOW, later(60)):
        read = each(lambda unit: partial(unit.notifications.mark_read, one.notification_id), [at])
        await store.write(ALICE, read, label="notification.read")
    listed = await store.read(
        ALICE,
        lambda unit: unit.notifications.page(before=None, limit=9, unread_only=False),
        label="notification.listed",
    )
    assert listed == [replace(one, read_at=NOW)]
    with pytest.raises(NotFound):
        await store.write(
            BOB, lambda unit: unit.notifications.mark_read(one.notification_id, NOW), label="notification.read"
        )
