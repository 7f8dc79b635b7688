"""Pages of memories on both databases: every shelf and order, each memory once (M2, M6)."""

from __future__ import annotations

import itertools
from datetime import timedelta
from functools import partial

import pytest

from souvenance.domain.deal import archived_for_room, newest_first
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory, MemoryState, Scope
from souvenance.ports.memories import Mark, Order, Shelf, mark_of
from souvenance.ports.store import Store, Unit
from tests.conformance.facts import BOT_SCOPE, keep, memory, read, write
from tests.conformance.rows import BOB, NOW

Rooms = dict[Scope, int | None]

ROOM = 5


def stock(unit: Unit) -> list[Memory]:
    """Two scopes with pinned ones, ones archived by hand and by room, keyed ones; and two that are not live."""
    places = [13, 14, 2, 8, 1, 20, 15, 5, 4, 9, 11, 6]
    kept = []
    for number, (place, scope) in enumerate(itertools.product(places, (ACCOUNT_SCOPE, BOT_SCOPE)), start=1):
        wanted = memory(
            number,
            scope=scope,
            updated_place=2 * place + (scope == BOT_SCOPE),
            created_at=NOW - timedelta(seconds=number % 7),
            pinned=number % 5 == 0,
            archived=number % 4 == 0,
        )
        kept.append(keep(unit, wanted))
    kept += [
        keep(unit, memory(90 + n, f"v{n}", key=f"k{n}", scope=BOT_SCOPE, updated_place=18 * n - 3)) for n in (1, 2)
    ]
    keep(unit, memory(98, state=MemoryState.ERASING))
    keep(unit, memory(99, state=MemoryState.DELETED, scope=BOT_SCOPE))
    return kept


def is_archived(one: Memory, everything: list[Memory], room: int | None) -> bool:
    rivals = [other for other in everything if other.scope == one.scope]
    return not one.pinned and (one.archived or (room is not None and one in archived_for_room(rivals, room=room)))


def expected(everything: list[Memory], rooms: Rooms, shelf: Shelf, order: Order) -> list[Memory]:
    shown = [one for one in everything if one.scope in rooms]
    wanted = {Shelf.ALL: {True, False}, Shelf.ACTIVE: {False}, Shelf.ARCHIVED: {True}}[shelf]
    chosen = [one for one in shown if is_archived(one, everything, rooms[one.scope]) in wanted]
    if order is Order.PLACE:
        return sorted(chosen, key=lambda one: one.place)
    if order is Order.UPDATED:
        return newest_first(chosen)
    return sorted(chosen, key=lambda one: (one.created_at, one.memory_id), reverse=True)


def page_of(unit: Unit, *, rooms: Rooms, shelf: Shelf, order: Order, after: Mark | None, limit: int) -> list[Memory]:
    return unit.memories.page(rooms=rooms, shelf=shelf, order=order, after=after, limit=limit)


async def walk(store: Store, rooms: Rooms, shelf: Shelf, order: Order, limit: int) -> list[Memory]:
    found: list[Memory] = []
    while True:
        after = mark_of(order, found[-1]) if found else None
        page = await read(store, partial(page_of, rooms=rooms, shelf=shelf, order=order, after=after, limit=limit))
        found += page
        if len(page) < limit:
            return found


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("shelf", list(Shelf))
async def test_pages_of_two_scopes_give_each_memory_of_the_shelf_once_in_order(
    store: Store, shelf: Shelf, order: Order
) -> None:
    everything = await write(store, stock)
    await write(store, stock, BOB)
    with_room: Rooms = {BOT_SCOPE: ROOM, ACCOUNT_SCOPE: ROOM}
    one_without: Rooms = {BOT_SCOPE: None, ACCOUNT_SCOPE: ROOM + 1}
    for both in (with_room, one_without):
        for limit in (4, 50):
            assert await walk(store, both, shelf, order, limit) == expected(everything, both, shelf, order)
    only: Rooms = {BOT_SCOPE: ROOM}
    assert await walk(store, only, shelf, order, 3) == expected(everything, only, shelf, order)


async def test_pages_of_very_many_scopes_stay_in_one_order(store: Store) -> None:
    scopes = [Scope.parse(f"bot:bot_{number}") for number in range(60)]

    def fill(unit: Unit) -> list[Memory]:
        return [keep(unit, memory(n, scope=scopes[n % 60], updated_place=n * 37 % 121)) for n in range(120)]

    everything = await write(store, fill)
    assert await walk(store, dict.fromkeys(scopes, ROOM), Shelf.ALL, Order.UPDATED, 50) == newest_first(everything)


async def test_a_page_of_no_scope_is_empty(store: Store) -> None:
    assert await walk(store, {}, Shelf.ALL, Order.UPDATED, 5) == []
