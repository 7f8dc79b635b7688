"""Scopes and memories on both databases: identity, versions, order and room (M2, M10, M11)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

import pytest

from souvenance.domain.bot import Preset
from souvenance.domain.equals import identity, words_of
from souvenance.domain.ids import ConversationId, MemoryId, MessageId
from souvenance.domain.journal import Add, Archive, Content, standing_evidence
from souvenance.domain.memory import ACCOUNT_SCOPE, ORGANISATION_SCOPE, Evidence, Memory, MemoryState, Origin, Scope
from souvenance.errors import Conflict, KeyTaken, NotFound
from souvenance.ports.memories import Counts, ScopeState
from souvenance.ports.store import Store, Unit
from tests.conformance.facts import BOT_SCOPE, do, keep, memory, read, say, write
from tests.conformance.rows import BOB, CHAT, NOW, bot, later


def ids(memories: list[Memory]) -> list[str]:
    return [one.memory_id for one in memories]


async def test_each_lock_of_a_scope_counts_one_write(store: Store) -> None:
    first = await write(store, lambda unit: unit.scopes.lock(BOT_SCOPE))
    second = await write(store, lambda unit: unit.scopes.lock(BOT_SCOPE))
    assert (first, second) == (ScopeState(version=1), ScopeState(version=2))


async def test_lasting_scopes_are_those_ever_written_in_but_single_conversations(store: Store) -> None:
    await write(store, lambda unit: keep(unit, memory(1, scope=BOT_SCOPE)))
    for scope in (ORGANISATION_SCOPE, Scope.parse("conversation:con_1"), ACCOUNT_SCOPE):
        await write(store, partial(lock, scope=scope))
    assert await read(store, lambda unit: unit.scopes.lasting()) == {
        ACCOUNT_SCOPE: False,
        BOT_SCOPE: False,
        ORGANISATION_SCOPE: False,
    }
    assert await read(store, lambda unit: unit.scopes.lasting(), BOB) == {}


async def test_of_a_lasting_scope_is_told_whether_it_is_a_notebooks(store: Store) -> None:
    def make(unit: Unit) -> None:
        for number, preset in enumerate(Preset):
            unit.bots.put(bot(f"bot_{number}", name=f"Bot {number}", preset=preset))
            unit.scopes.lock(Scope.parse(f"bot:bot_{number}"))

    await write(store, make)
    await write(store, lambda unit: unit.scopes.lock(Scope.parse("bot:bot_0")), BOB)
    lasting = await read(store, lambda unit: unit.scopes.lasting())
    assert list(lasting.values()) == [preset is Preset.NOTEBOOK for preset in Preset]
    assert await read(store, lambda unit: unit.scopes.lasting(), BOB) == {Scope.parse("bot:bot_0"): False}


def lock(unit: Unit, scope: Scope) -> None:
    unit.scopes.lock(scope)


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


async def test_many_saved_at_once_are_as_they_were_given(store: Store) -> None:
    there = await write(store, lambda unit: keep(unit, memory(1, "Likes tea")))
    given = [
        replace(there, confidence=0.5, version=4, changed=9),
        memory(2, "Alice", key="name", scope=BOT_SCOPE, version=1, changed=10),
    ]
    await write(store, lambda unit: unit.memories.save_all(given))
    assert await read(store, lambda unit: unit.memories.many([one.memory_id for one in given])) == given


async def test_many_saved_at_once_of_which_one_is_there_are_refused(store: Store) -> None:
    there = await write(store, lambda unit: keep(unit, memory(1, "Likes tea")))
    with pytest.raises(Conflict):
        await write(store, lambda unit: unit.memories.save_all([memory(2, "Likes coffee"), memory(3, "likes tea")]))
    assert await read(store, lambda unit: unit.memories.every(ACCOUNT_SCOPE)) == [there]


async def test_the_live_ones_of_many_identities_are_found_at_once(store: Store) -> None:
    tea = await write(store, lambda unit: keep(unit, memory(1, "Likes tea")))
    name = await write(store, lambda unit: keep(unit, memory(2, "Alice", key="name", scope=BOT_SCOPE)))
    await write(store, lambda unit: keep(unit, memory(3, "Likes rain", state=MemoryState.DELETED)))
    said = {(ACCOUNT_SCOPE, "likes tea"), (BOT_SCOPE, "likes tea"), (ACCOUNT_SCOPE, "Likes rain")}
    wanted = {(scope, words_of(text=text, key=None)) for scope, text in said} | {identity(name)}
    assert await read(store, lambda unit: unit.memories.live_equals(wanted)) == {
        identity(tea): tea,
        identity(name): name,
    }
    assert await read(store, lambda unit: unit.memories.live_equals(wanted), BOB) == {}


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
        keep(unit, memory(21, "Alice", key="name", updated_place=5))
        keep(unit, memory(22, state=MemoryState.DELETED))

    await write(store, fill)
    assert ids(await read(store, lambda unit: unit.memories.pinned(ACCOUNT_SCOPE))) == ["mem_00002", "mem_00005"]
    newest = await read(store, lambda unit: unit.memories.newest_unpinned(ACCOUNT_SCOPE, limit=4))
    assert ids(newest) == ["mem_00007", "mem_00006", "mem_00021", "mem_00004"]
    counts = await read(store, lambda unit: unit.memories.counts(ACCOUNT_SCOPE))
    assert counts == Counts(pinned=2, unpinned=6, archived=1)


async def test_a_clock_turned_back_makes_nothing_older(store: Store) -> None:
    def fill(unit: Unit) -> None:
        for number in (1, 2, 3):
            keep(unit, memory(number, updated_at=later(-number)))

    await write(store, fill)
    newest = await read(store, lambda unit: unit.memories.newest_unpinned(ACCOUNT_SCOPE, limit=2))
    assert ids(newest) == ["mem_00003", "mem_00002"]
    assert await read(store, lambda unit: unit.memories.room_edge(ACCOUNT_SCOPE, 2)) == 2


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

    assert await read(store, edges) == [5, 2, None, None]


async def test_what_a_person_is_erasing_stays_hidden_when_it_is_folded_again(store: Store) -> None:
    hidden = await write(store, lambda unit: keep(unit, memory(1, "Likes tea", state=MemoryState.ERASING)))
    twin = await write(store, lambda unit: keep(unit, memory(2, "Likes tea")))
    saved = await write(store, lambda unit: unit.memories.save(replace(hidden, state=MemoryState.LIVE)))
    assert saved.state is MemoryState.ERASING
    assert await read(store, lambda unit: unit.memories.by_place(ACCOUNT_SCOPE)) == [twin]


async def sources(store: Store, *memory_ids: str) -> list[tuple[Evidence, ...]]:
    asked = [MemoryId(one) for one in memory_ids]
    found = await read(store, lambda unit: unit.memories.evidence(asked))
    return [found[one] for one in asked]


async def test_the_sources_of_a_memory_are_those_of_what_stands_each_once(store: Store) -> None:
    here, there = Evidence(at=NOW, conversation_id=CHAT, message_id=MessageId("msg_1")), Evidence(at=later(0.000_001))

    def say_twice(unit: Unit) -> None:
        keep(unit, memory(1), evidence=[here, there])
        undone = say(unit, 0, chosen=False)
        do(unit, "mem_00001", Add(content=Content(text="x", evidence=(Evidence(at=later(9)),))), causes=[undone])
        do(unit, "mem_00001", Add(content=Content(text="x", evidence=(there, replace(here, at=later(5))))))
        do(unit, "mem_00001", Archive())
        unit.journal.settle([undone])
        keep(unit, memory(2))

    await write(store, say_twice)
    await write(store, lambda unit: keep(unit, memory(1), evidence=[Evidence(at=later(7))]), BOB)
    of_the_first, *others = await sources(store, "mem_00001", "mem_00002", "mem_no")
    assert of_the_first == (here, there, replace(here, at=later(5)))
    assert others == [(), ()]
    told = await read(store, lambda unit: unit.journal.of_memory(MemoryId("mem_00001")))
    assert standing_evidence(told) == of_the_first


async def test_memories_drawn_from_a_conversation_are_told_by_what_stands(store: Store) -> None:
    source = Evidence(at=NOW, conversation_id=CHAT)

    def fill(unit: Unit) -> None:
        undone = say(unit, 0, chosen=False)
        keep(unit, memory(1), evidence=[source])
        keep(unit, memory(2), evidence=[source], causes=[undone])
        keep(unit, memory(3), evidence=[Evidence(at=NOW)])
        keep(unit, memory(4), evidence=[source])
        unit.journal.settle([undone])

    await write(store, fill)
    asked = [MemoryId(f"mem_{number:05}") for number in (1, 2, 3)]
    assert await read(store, lambda unit: unit.memories.drawn_from(CHAT, asked)) == {"mem_00001"}
    assert await read(store, lambda unit: unit.memories.drawn_from(ConversationId("con_2"), asked)) == set()
    assert await read(store, lambda unit: unit.memories.drawn_from(CHAT, asked), BOB) == set()


async def test_of_equal_ones_the_pinned_else_the_first_stored_is_live(store: Store) -> None:
    def fill(unit: Unit) -> list[Memory]:
        kept = [
            keep(unit, memory(1, "Likes tea")),
            keep(unit, memory(2, "likes tea.", state=MemoryState.SHADOWED)),
            keep(unit, memory(3, "Likes TEA", state=MemoryState.SHADOWED, pinned=True)),
            keep(unit, memory(4, "Likes tea", scope=BOT_SCOPE)),
            keep(unit, memory(5, "Likes tea", state=MemoryState.DELETED)),
        ]
        unit.owners.next_place()
        return kept

    kept = await write(store, fill)
    await write(store, lambda unit: unit.memories.settle_equals(kept[:1]))
    found = await read(store, lambda unit: unit.memories.many([one.memory_id for one in kept]))
    assert [one.state for one in found] == ["shadowed", "shadowed", "live", "live", "deleted"]
    assert [(one.version, one.changed) for one in found] == [(2, 6), (1, 2), (2, 6), (1, 4), (1, 5)]
    hidden = await read(store, lambda unit: unit.memories.hidden_equals(kept[:1]))
    assert sorted(ids(hidden)) == ["mem_00001", "mem_00002", "mem_00005"]
    await write(store, lambda unit: unit.memories.settle_equals(kept))
    assert await read(store, lambda unit: unit.memories.many([one.memory_id for one in kept])) == found


async def test_what_moved_into_another_scope_waits_behind_its_equals_until_they_are_settled(store: Store) -> None:
    first, twin, other = memory(1), memory(2, scope=BOT_SCOPE), memory(3, scope=BOT_SCOPE, text="something else")
    for one in (first, replace(twin, text=first.text), other):
        await write(store, partial(keep, wanted=one))

    def move(unit: Unit) -> None:
        found = [replace(one, scope=ACCOUNT_SCOPE) for one in unit.memories.every(BOT_SCOPE)]
        unit.memories.save_moved(found)
        unit.memories.settle_equals(found)

    await write(store, move)
    states = {one.memory_id: one.state for one in await read(store, lambda unit: unit.memories.every(ACCOUNT_SCOPE))}
    assert list(states.values()) == [MemoryState.LIVE, MemoryState.SHADOWED, MemoryState.LIVE]
    assert await read(store, lambda unit: unit.memories.every(BOT_SCOPE)) == []
