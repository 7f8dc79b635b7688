"""Scopes and memories on both databases: identity, versions, order, room and pages (M2, M10, M11)."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from souvenance.domain.ids import MemoryId
from souvenance.domain.memory import ACCOUNT_SCOPE, Evidence, Memory, MemoryState, Origin, Scope
from souvenance.errors import Conflict, KeyTaken, NotFound
from souvenance.ports.memories import Counts, Mark, Order, ScopeState, Shelf, mark_of
from souvenance.ports.store import Store, Unit
from tests.conformance.facts import BOT_SCOPE, keep, memory, read, write
from tests.conformance.rows import BOB, CHAT, NOW, later

ROOM = 5


def ids(memories: list[Memory]) -> list[str]:
    return [one.memory_id for one in memories]


async def test_each_lock_of_a_scope_counts_one_write(store: Store) -> None:
    first = await write(store, lambda unit: unit.scopes.lock(BOT_SCOPE))
    second = await write(store, lambda unit: unit.scopes.lock(BOT_SCOPE))
    assert (first, second) == (ScopeState(version=1), ScopeState(version=2))


async def test_all_scopes_are_those_that_were_ever_written_in(store: Store) -> None:
    await write(store, lambda unit: keep(unit, memory(1, scope=BOT_SCOPE)))
    await write(store, lambda unit: unit.scopes.lock(ACCOUNT_SCOPE))
    assert await read(store, lambda unit: unit.scopes.all()) == [ACCOUNT_SCOPE, BOT_SCOPE]
    assert await read(store, lambda unit: unit.scopes.all(), BOB) == []


async def test_a_new_epoch_of_a_scope_is_no_write_in_it(store: Store) -> None:
    await write(store, lambda unit: unit.scopes.start_epoch(BOT_SCOPE))
    await write(store, lambda unit: unit.scopes.start_epoch(BOT_SCOPE))
    found = await read(store, lambda unit: unit.scopes.read([BOT_SCOPE, ACCOUNT_SCOPE]))
    assert found == {BOT_SCOPE: ScopeState(epoch=2), ACCOUNT_SCOPE: ScopeState()}


async def test_scopes_of_equal_names_are_apart_for_two_owners(store: Store) -> None:
    await write(store, lambda unit: unit.scopes.lock(BOT_SCOPE))
    assert await read(store, lambda unit: unit.scopes.read([BOT_SCOPE]), BOB) == {BOT_SCOPE: ScopeState()}


async def test_a_memory_comes_back_as_it_was_saved(store: Store) -> None:
    whole = memory(
        1,
        "Naïve 茶 \U0001f375 'quoted'\nsecond line",
        scope=BOT_SCOPE,
        key="Drink — preferred",
        subject="Ilse",
        pinned=True,
        archived=True,
        confidence=0.93,
        origin=Origin.IMPLICIT,
        evidence=(Evidence(at=NOW, conversation_id=CHAT), Evidence(at=later(0.000_001))),
        language="fr",
        sensitive=True,
    )
    saved = await write(store, lambda unit: keep(unit, whole))
    assert saved == replace(whole, changed=1, place=1, version=1)
    assert await read(store, lambda unit: unit.memories.get(whole.memory_id)) == saved
    assert await read(store, lambda unit: unit.memories.many([whole.memory_id, MemoryId("mem_no")])) == [saved]


async def test_another_owner_has_no_such_memory(store: Store) -> None:
    saved = await write(store, lambda unit: keep(unit, memory()))
    with pytest.raises(NotFound):
        await read(store, lambda unit: unit.memories.get(saved.memory_id), BOB)
    assert await read(store, lambda unit: unit.memories.many([saved.memory_id]), BOB) == []
    assert await read(store, lambda unit: unit.memories.by_place(ACCOUNT_SCOPE), BOB) == []


async def test_each_save_counts_up_the_version_and_notes_the_place(store: Store) -> None:
    def twice(unit: Unit) -> tuple[Memory, Memory]:
        first = keep(unit, memory())
        unit.owners.next_place()
        unit.owners.next_place()
        return first, unit.memories.save(replace(first, text="Likes coffee", version=7))

    first, second = await write(store, twice)
    assert (first.version, first.changed) == (1, 1)
    assert (second.version, second.changed) == (2, 3)
    assert await read(store, lambda unit: unit.memories.get(first.memory_id)) == second


@pytest.mark.parametrize("text", ["likes  TEA.", "Likes tea!", "Líkes tea"])
async def test_an_equal_text_after_folding_is_the_same_memory(store: Store, text: str) -> None:
    saved = await write(store, lambda unit: keep(unit, memory(1, "Likes tea")))
    assert await read(store, lambda unit: unit.memories.equal_to(ACCOUNT_SCOPE, text=text, key=None)) == saved
    assert await read(store, lambda unit: unit.memories.equal_to(BOT_SCOPE, text=text, key=None)) is None
    assert await read(store, lambda unit: unit.memories.equal_to(ACCOUNT_SCOPE, text=text, key=None), BOB) is None


async def test_a_key_is_found_by_its_exact_letters_whatever_the_text(store: Store) -> None:
    saved = await write(store, lambda unit: keep(unit, memory(1, "Alice", key="Name", scope=BOT_SCOPE)))

    def find(unit: Unit) -> list[Memory | None]:
        return [unit.memories.equal_to(BOT_SCOPE, text="?", key=key) for key in ("Name", "name", None)]

    assert await read(store, find) == [saved, None, None]


async def test_a_second_live_memory_of_one_key_is_refused(store: Store) -> None:
    await write(store, lambda unit: keep(unit, memory(1, "Alice", key="name", scope=BOT_SCOPE)))
    other = await write(store, lambda unit: keep(unit, memory(2, "tea", key="drink", scope=BOT_SCOPE)))
    with pytest.raises(KeyTaken, match="'name'"):
        await write(store, lambda unit: unit.memories.save(replace(other, key="name")))
    assert await read(store, lambda unit: unit.memories.get(other.memory_id)) == other
    await write(store, lambda unit: keep(unit, memory(3, "Bob", key="Name", scope=BOT_SCOPE)))


async def test_a_second_live_memory_of_one_text_is_refused(store: Store) -> None:
    await write(store, lambda unit: keep(unit, memory(1, "Likes tea")))
    with pytest.raises(Conflict, match="mem_00002"):
        await write(store, lambda unit: keep(unit, memory(2, "likes tea")))
    await write(store, lambda unit: keep(unit, memory(2, "likes tea", state=MemoryState.SHADOWED)))
    await write(store, lambda unit: keep(unit, memory(3, "likes tea", scope=BOT_SCOPE)))


async def test_a_deleted_memory_leaves_its_key_to_another(store: Store) -> None:
    first = await write(store, lambda unit: keep(unit, memory(1, "Alice", key="name", scope=BOT_SCOPE)))
    await write(store, lambda unit: unit.memories.save(replace(first, state=MemoryState.DELETED)))
    second = await write(store, lambda unit: keep(unit, memory(2, "Bob", key="name", scope=BOT_SCOPE)))
    assert await read(store, lambda unit: unit.memories.equal_to(BOT_SCOPE, text="", key="name")) == second


async def test_many_writers_of_one_text_at_once_make_one_memory(store: Store) -> None:
    def add(unit: Unit, number: int) -> MemoryId:
        unit.scopes.lock(ACCOUNT_SCOPE)
        there = unit.memories.equal_to(ACCOUNT_SCOPE, text="Likes tea", key=None)
        return (there or keep(unit, memory(number, "Likes tea"))).memory_id

    found = await asyncio.gather(*(write(store, partial(add, number=n)) for n in range(12)))
    assert len(set(found)) == 1
    assert await read(store, lambda unit: unit.memories.counts(ACCOUNT_SCOPE)) == Counts(
        pinned=0, unpinned=1, archived=0
    )


async def test_keys_stand_in_the_order_in_which_they_were_first_stored(store: Store) -> None:
    def rename(unit: Unit) -> list[Memory]:
        first, *_ = [keep(unit, memory(n, f"v{n}", key=f"k{9 - n}", scope=BOT_SCOPE)) for n in (1, 2, 3)]
        unit.owners.next_place()
        unit.memories.save(replace(first, key="renamed", updated_at=later(99)))
        return unit.memories.by_place(BOT_SCOPE)

    assert [one.key for one in await write(store, rename)] == ["renamed", "k7", "k6"]


async def test_pinned_ones_and_the_newest_unpinned_are_told_apart(store: Store) -> None:
    def fill(unit: Unit) -> None:
        for number in range(1, 9):
            keep(unit, memory(number, pinned=number in {2, 5}, archived=number == 8))
        keep(unit, memory(20, scope=BOT_SCOPE))
        keep(unit, memory(21, "Alice", key="name", updated_at=later(3.5)))
        keep(unit, memory(22, state=MemoryState.DELETED))

    await write(store, fill)
    assert ids(await read(store, lambda unit: unit.memories.pinned(ACCOUNT_SCOPE))) == ["mem_00002", "mem_00005"]
    newest = await read(store, lambda unit: unit.memories.newest_unpinned(ACCOUNT_SCOPE, limit=4))
    assert ids(newest) == ["mem_00007", "mem_00006", "mem_00004", "mem_00021"]
    counts = await read(store, lambda unit: unit.memories.counts(ACCOUNT_SCOPE))
    assert counts == Counts(pinned=2, unpinned=6, archived=1)


async def test_of_equal_moments_the_higher_id_is_the_newer(store: Store) -> None:
    def fill(unit: Unit) -> None:
        for number in (2, 1, 3):
            keep(unit, memory(number, updated_at=NOW))

    await write(store, fill)
    newest = await read(store, lambda unit: unit.memories.newest_unpinned(ACCOUNT_SCOPE, limit=2))
    assert ids(newest) == ["mem_00003", "mem_00002"]


async def test_changes_since_a_place_come_in_the_order_of_their_change(store: Store) -> None:
    def change(unit: Unit) -> int:
        first, second, _ = [keep(unit, memory(n)) for n in (1, 2, 3)]
        keep(unit, memory(4, scope=BOT_SCOPE))
        seen = unit.owners.get().place
        keep(unit, memory(5, scope=BOT_SCOPE))
        for one, state in ((second, MemoryState.DELETED), (first, MemoryState.LIVE)):
            unit.owners.next_place()
            unit.memories.save(replace(one, state=state))
        return seen

    seen = await write(store, change)
    both = await read(store, lambda unit: unit.memories.changed_since([ACCOUNT_SCOPE, BOT_SCOPE], seen, limit=9))
    assert ids(both) == ["mem_00005", "mem_00002", "mem_00001"]
    fewer = await read(store, lambda unit: unit.memories.changed_since([ACCOUNT_SCOPE, BOT_SCOPE], seen, limit=2))
    assert fewer == both[:2]
    assert ids(await read(store, lambda unit: unit.memories.changed_since([BOT_SCOPE], seen, limit=9))) == ["mem_00005"]
    assert await read(store, lambda unit: unit.memories.changed_since([], seen, limit=9)) == []


async def test_the_edge_of_room_is_the_last_one_in_while_others_are_out(store: Store) -> None:
    def fill(unit: Unit) -> None:
        for number in range(1, 8):
            keep(unit, memory(number, pinned=number == 7, archived=number == 6))

    await write(store, fill)

    def edges(unit: Unit) -> list[object]:
        return [unit.memories.room_edge(ACCOUNT_SCOPE, room) for room in (1, 4, 5, 6)]

    assert await read(store, edges) == [(later(5), "mem_00005"), (later(2), "mem_00002"), None, None]


def stock(unit: Unit) -> list[Memory]:
    """Two scopes with pinned ones, ones archived by hand and by room, equal moments; and two that are not live."""
    moments = [13, 13, 2, 8, 1, 20, 13, 5, 4, 9, 11, 6]
    kept = []
    for number, (moment, scope) in enumerate(itertools.product(moments, (ACCOUNT_SCOPE, BOT_SCOPE)), start=1):
        wanted = memory(
            number,
            scope=scope,
            updated_at=later(moment),
            created_at=NOW - timedelta(seconds=number % 7),
            pinned=number % 5 == 0,
            archived=number % 4 == 0,
        )
        kept.append(keep(unit, wanted))
    kept += [keep(unit, memory(90 + n, f"v{n}", key=f"k{n}", scope=BOT_SCOPE, updated_at=later(n - 5))) for n in (1, 2)]
    keep(unit, memory(98, state=MemoryState.ERASING))
    keep(unit, memory(99, state=MemoryState.DELETED, scope=BOT_SCOPE))
    return kept


def newest_first(memories: list[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda one: (one.updated_at, one.memory_id), reverse=True)


def in_room(one: Memory, everything: list[Memory]) -> bool:
    rivals = [m for m in everything if m.scope == one.scope and not m.pinned and not m.archived and m.key is None]
    return one.pinned or (not one.archived and (one.key is not None or one in newest_first(rivals)[:ROOM]))


def expected(everything: list[Memory], shelf: Shelf, order: Order) -> list[Memory]:
    chosen = [one for one in everything if shelf is Shelf.ALL or in_room(one, everything) is (shelf is Shelf.ACTIVE)]
    if order is Order.PLACE:
        return sorted(chosen, key=lambda one: one.place)
    if order is Order.UPDATED:
        return newest_first(chosen)
    return sorted(chosen, key=lambda one: (one.created_at, one.memory_id), reverse=True)


def page_of(
    unit: Unit, *, scopes: list[Scope], shelf: Shelf, order: Order, after: Mark | None, limit: int
) -> list[Memory]:
    return unit.memories.page(scopes=scopes, shelf=shelf, room=ROOM, order=order, after=after, limit=limit)


async def walk(store: Store, scopes: list[Scope], shelf: Shelf, order: Order, limit: int) -> list[Memory]:
    found: list[Memory] = []
    while True:
        after = mark_of(order, found[-1]) if found else None
        page = await read(store, partial(page_of, scopes=scopes, shelf=shelf, order=order, after=after, limit=limit))
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
    for limit in (4, 50):
        assert await walk(store, [BOT_SCOPE, ACCOUNT_SCOPE], shelf, order, limit) == expected(everything, shelf, order)
    only = [one for one in everything if one.scope == BOT_SCOPE]
    assert await walk(store, [BOT_SCOPE, BOT_SCOPE], shelf, order, 3) == expected(only, shelf, order)


async def test_pages_of_very_many_scopes_stay_in_one_order(store: Store) -> None:
    scopes = [Scope.parse(f"bot:bot_{number}") for number in range(60)]

    def fill(unit: Unit) -> list[Memory]:
        return [keep(unit, memory(n, scope=scopes[n % 60], updated_at=later(n * 37 % 101))) for n in range(120)]

    everything = await write(store, fill)
    assert await walk(store, scopes, Shelf.ALL, Order.UPDATED, 50) == newest_first(everything)


async def test_a_page_of_no_scope_is_empty(store: Store) -> None:
    assert await walk(store, [], Shelf.ALL, Order.UPDATED, 5) == []


async def test_what_a_person_is_erasing_stays_hidden_when_it_is_folded_again(store: Store) -> None:
    hidden = await write(store, lambda unit: keep(unit, memory(1, "Likes tea", state=MemoryState.ERASING)))
    twin = await write(store, lambda unit: keep(unit, memory(2, "Likes tea")))
    saved = await write(store, lambda unit: unit.memories.save(replace(hidden, state=MemoryState.LIVE)))
    assert saved.state is MemoryState.ERASING
    assert await read(store, lambda unit: unit.memories.by_place(ACCOUNT_SCOPE)) == [twin]
