"""Which memories of a scope have room (M2): the others are archived for want of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from souvenance.domain.ids import BotId
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory, Scope, ScopeKind

if TYPE_CHECKING:
    from souvenance.app.kit import Kit
    from souvenance.ports.store import Unit


def known_scopes(unit: Unit, kit: Kit) -> tuple[Scope, ...]:
    """Every scope of the owner's own in which something was ever written, but those of single conversations.

    What was kept for one conversation only is asked for by its scope, so that a list of everything does not grow with
    the number of conversations.
    """
    return tuple(known_rooms(unit, kit))


def known_rooms(unit: Unit, kit: Kit) -> dict[Scope, int | None]:
    """`rooms_of` all of these."""
    lasting = unit.scopes.lasting() or {ACCOUNT_SCOPE: False}
    return {scope: None if is_notebook else kit.limits.room_unpinned for scope, is_notebook in lasting.items()}


def in_room(unit: Unit, kit: Kit, scopes: Collection[Scope]) -> Callable[[Memory], bool]:
    """A test of whether a memory of these scopes is not archived, by hand or for room (M2)."""
    return in_these(unit, rooms_of(unit, kit, scopes))


def in_these(unit: Unit, rooms: Mapping[Scope, int | None]) -> Callable[[Memory], bool]:
    """The same, by the rooms that `rooms_of` told."""
    edges = {scope: None if room is None else unit.memories.room_edge(scope, room) for scope, room in rooms.items()}

    def test(memory: Memory) -> bool:
        edge = edges[memory.scope]
        if memory.pinned:
            return True
        if memory.archived:
            return False
        return edge is None or memory.updated_place >= edge

    return test


def rooms_of(unit: Unit, kit: Kit, scopes: Collection[Scope]) -> dict[Scope, int | None]:
    """How many unpinned memories each scope has room for; None for all of them."""
    free = uncapped(unit, scopes)
    return {scope: None if scope in free else kit.limits.room_unpinned for scope in scopes}


def uncapped(unit: Unit, scopes: Collection[Scope]) -> set[Scope]:
    """Those of these scopes that are notebooks'."""
    bots = [BotId(scope.ref) for scope in scopes if scope.kind is ScopeKind.BOT]
    return {Scope.of_bot(bot_id) for bot_id in unit.bots.notebooks(bots)} if bots else set()
