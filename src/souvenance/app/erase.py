"""A person deletes memories: out of every prompt, list and hit at once, purged after a short offer to undo (M14)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from souvenance.app.change_memories import has_room_cap, hold
from souvenance.app.edit_memory import held
from souvenance.app.kit import Kit
from souvenance.domain.erasure import Erasure
from souvenance.domain.ids import ErasureId, MemoryId, OwnerId
from souvenance.domain.memory import Scope
from souvenance.errors import BadValue, NotFound, OfferExpired, PinRoomFull
from souvenance.ports.store import Unit


async def erase_memories(kit: Kit, owner_id: OwnerId, memory_ids: Sequence[MemoryId]) -> Erasure:
    """Hide these memories now, all or none; they are gone for good once `until` has passed. NotFound names the first
    that is not there.

    What stands behind them goes with them: shadowed and deleted memories of the same words (M14), which an undo would
    bring back.
    """
    if not memory_ids:
        raise BadValue("ids", value=[], expected="at least one memory id")
    ids = tuple(dict.fromkeys(memory_ids))
    erasure = new_erasure(kit)

    def work(unit: Unit) -> Erasure:
        named = [held(unit, memory_id) for memory_id in ids]
        behind = [memory.memory_id for memory in unit.memories.hidden_equals(named)]
        return begin_erasure(unit, erasure, (*ids, *behind), {memory.scope for memory in named})

    return await kit.store.write(owner_id, work, label="memories.erased")


def new_erasure(kit: Kit) -> Erasure:
    """A click now, which takes nothing yet."""
    now = kit.clock.now()
    until = now + timedelta(seconds=kit.limits.undo_seconds)
    return Erasure(erasure_id=ErasureId(kit.ids.new("era")), memory_ids=(), at=now, until=until)


def begin_erasure(unit: Unit, erasure: Erasure, memory_ids: Sequence[MemoryId], scopes: Collection[Scope]) -> Erasure:
    """Let the click take these memories of these scopes, which are held."""
    whole = replace(erasure, memory_ids=tuple(memory_ids))
    unit.owners.next_place()
    unit.erasures.begin(whole)
    for scope in sorted(scopes, key=lambda scope: scope.key):
        unit.scopes.start_epoch(scope)
    return whole


async def undo_erasure(kit: Kit, owner_id: OwnerId, erasure_id: ErasureId) -> Erasure:
    """Bring back what this erasure took; OfferExpired when its time is up, NotFound when it is gone or never was,
    PinRoomFull when other memories were pinned meanwhile and leave no room (M2).
    """
    now = kit.clock.now()

    def work(unit: Unit) -> Erasure:
        erasure = unit.erasures.get(erasure_id)
        if erasure is None:
            raise NotFound("erasure", erasure_id)
        if now >= erasure.until:
            raise OfferExpired(erasure_id)
        scopes = {memory.scope for memory in unit.memories.many(erasure.memory_ids)}
        for scope in sorted(scopes, key=lambda scope: scope.key):
            hold(unit, scope)
            unit.scopes.start_epoch(scope)
        unit.owners.next_place()
        pinned = {scope: unit.memories.counts(scope).pinned for scope in scopes}
        unit.erasures.undo(erasure_id)
        _check_pins(unit, kit, pinned)
        return erasure

    return await kit.store.write(owner_id, work, label="erasure.undone")


def _check_pins(unit: Unit, kit: Kit, before: Mapping[Scope, int]) -> None:
    """Refuse what brought a scope past its cap (M2)."""
    most = kit.limits.room_pinned
    for scope, pinned in before.items():
        if pinned < unit.memories.counts(scope).pinned > most and has_room_cap(unit, scope):
            raise PinRoomFull(scope.key, pinned=pinned, limit=most)
