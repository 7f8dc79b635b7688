"""A person clears a scope: the unpinned memories first, the ones they marked by a second, separate call (M9)."""

from __future__ import annotations

from dataclasses import dataclass

from souvenance.app.change_memories import hold
from souvenance.app.erase import begin_erasure, new_erasure
from souvenance.app.kit import Kit
from souvenance.app.remember import check_scope
from souvenance.domain.erasure import Erasure
from souvenance.domain.ids import OwnerId
from souvenance.domain.memory import Scope
from souvenance.errors import BadValue, Conflict
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """`erasure` is None when nothing was there to erase; `pinned` is how many were kept: `clear_pinned` needs it."""

    erasure: Erasure | None
    pinned: int


async def clear_scope(kit: Kit, owner_id: OwnerId, scope: Scope) -> Cleared:
    """Erase all unpinned memories of the scope, archived, shadowed and deleted ones too; pinned ones stay (M5).

    NotFound for a bot or conversation that is not there.
    """
    erasure = new_erasure(kit)

    def work(unit: Unit) -> Cleared:
        _hold(unit, scope)
        begun = _erase(unit, erasure, scope, pinned=False)
        return Cleared(erasure=begun, pinned=unit.memories.counts(scope).pinned)

    return await kit.store.write(owner_id, work, label="scope.cleared")


async def clear_pinned(kit: Kit, owner_id: OwnerId, scope: Scope, *, expected: int | None) -> Erasure:
    """Erase the scope's pinned memories too. `expected` is the number that `clear_scope` told, which the person saw:
    Conflict when it is another one by now, or missing; then nothing is changed.
    """
    erasure = new_erasure(kit)

    def work(unit: Unit) -> Erasure:
        _hold(unit, scope)
        there = unit.memories.counts(scope).pinned
        if expected != there:
            said = "no count was given" if expected is None else f"the count was {expected}"
            raise Conflict(
                f"There are {there} pinned memories in {scope.key}, but {said}. Nothing was changed.",
                field="count",
                count=expected,
                pinned=there,
            )
        begun = _erase(unit, erasure, scope, pinned=True)
        if begun is None:
            raise BadValue("count", value=expected, expected="the number of pinned memories, at least 1")
        return begun

    return await kit.store.write(owner_id, work, label="scope.cleared_of_pinned")


def _hold(unit: Unit, scope: Scope) -> None:
    check_scope(unit, scope, keyed=True)
    hold(unit, scope)


def _erase(unit: Unit, erasure: Erasure, scope: Scope, *, pinned: bool) -> Erasure | None:
    memory_ids = unit.memories.ids_in(scope, pinned=pinned)
    return begin_erasure(unit, erasure, memory_ids, [scope]) if memory_ids else None
