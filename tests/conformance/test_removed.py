"""What a clear takes, and what was removed by whom, on both databases (M9, M11)."""

from __future__ import annotations

from dataclasses import replace

from souvenance.domain.ids import MemoryId
from souvenance.domain.journal import Actor, Delete
from souvenance.domain.memory import ACCOUNT_SCOPE, MemoryState, Scope
from souvenance.ports.store import Store, Unit
from tests.conformance.facts import BOT_SCOPE, do, erasure, folded, keep, memory, read, say, write
from tests.conformance.rows import ALICE, BOB

ONE, TWO, THREE, FOUR = (MemoryId(f"mem_0000{number}") for number in (1, 2, 3, 4))


def delete(unit: Unit, memory_id: MemoryId, *, scope: Scope = ACCOUNT_SCOPE, actor: Actor = Actor.MODEL) -> int:
    """As `change_memories` does; returns the place of the deletion."""
    place = do(unit, memory_id, Delete(), scope=scope, actor=actor)
    after = folded(unit, memory_id)
    assert after is not None
    unit.memories.save(after)
    return place


async def test_m9_a_clear_takes_all_of_a_scope_that_is_not_being_erased_pinned_ones_apart(store: Store) -> None:
    def fill(unit: Unit) -> None:
        for one in (memory(1), memory(2, archived=True), memory(3, pinned=True), memory(4)):
            keep(unit, one)
        keep(unit, memory(5, scope=BOT_SCOPE))
        keep(unit, memory(6))
        delete(unit, ONE)
        unit.memories.save(replace(unit.memories.get(FOUR), state=MemoryState.SHADOWED))
        unit.erasures.begin(erasure("mem_00006"))

    for owner in (ALICE, BOB):
        await write(store, fill, owner)
    assert await read(store, lambda unit: unit.memories.ids_in(ACCOUNT_SCOPE, pinned=False)) == [ONE, TWO, FOUR]
    assert await read(store, lambda unit: unit.memories.ids_in(ACCOUNT_SCOPE, pinned=True)) == [THREE]


async def test_m11_removed_ones_tell_who_removed_them_last_first(store: Store) -> None:
    def fill(unit: Unit) -> list[int]:
        for number in (1, 2, 4):
            keep(unit, memory(number))
        keep(unit, memory(3, scope=BOT_SCOPE))
        places = [delete(unit, ONE), delete(unit, THREE, scope=BOT_SCOPE, actor=Actor.TEXT_CALL), delete(unit, TWO)]
        unit.erasures.begin(erasure(TWO))
        return places

    await write(store, fill, BOB)
    first, second, _ = await write(store, fill)
    both = [ACCOUNT_SCOPE, BOT_SCOPE]
    found = await read(store, lambda unit: unit.memories.removed(both, before=None, limit=9))
    assert [(one.memory.memory_id, one.place, one.actor) for one in found] == [
        (THREE, second, Actor.TEXT_CALL),
        (ONE, first, Actor.MODEL),
    ]
    assert await read(store, lambda unit: unit.memories.removed(both, before=None, limit=1)) == found[:1]
    assert await read(store, lambda unit: unit.memories.removed(both, before=second, limit=9)) == found[1:]
    assert await read(store, lambda unit: unit.memories.removed([BOT_SCOPE], before=None, limit=9)) == found[:1]


async def test_m11_what_is_gone_only_because_its_turn_was_taken_back_was_removed_by_nobody(store: Store) -> None:
    def taken_back(unit: Unit) -> int:
        cause = say(unit, 0, chosen=False)
        kept = keep(unit, memory(1), causes=[cause])
        unit.journal.settle([cause])
        unit.memories.save(replace(kept, state=MemoryState.DELETED))
        return len(unit.memories.removed([ACCOUNT_SCOPE], before=None, limit=9))

    assert await write(store, taken_back) == 0
