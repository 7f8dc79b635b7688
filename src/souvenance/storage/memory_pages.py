"""Pages of memories: ranges of one index, one for each scope and standing, merged by the database.

Each range is read in the order of the page, so that a page costs what it shows, whatever else is stored. Of the free
memories of a scope with a room so many of the newest are in, the others are archived (M2); without one all are in.
Statements are made once for each shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, assert_never

from sqlalchemy import ColumnElement, FromClause, Select, bindparam, select, tuple_, union_all

from souvenance.domain.memory import Scope
from souvenance.ports.memories import Mark, Order, Shelf
from souvenance.storage.memory_rows import COLUMNS, LIVE, Standing
from souvenance.storage.repository import owned
from souvenance.storage.schema import memories

_SORTED_BY = {Order.UPDATED: "updated_place", Order.CREATED: "created_at", Order.PLACE: "place"}


def page_of(rooms: Mapping[Scope, int | None], shelf: Shelf, order: Order, *, following: bool) -> Select[Any]:
    """The memories of these scopes on a shelf; `page_values` are its values. `following`: after another memory."""
    with_room = sum(room is not None for room in rooms.values())
    return _page_of(with_room, len(rooms) - with_room, shelf, order, following)


def page_values(rooms: Mapping[Scope, int | None], *, after: Mark | None, limit: int) -> dict[str, Any]:
    # Those with a room come first, so that there are few shapes.
    ordered = sorted(rooms.items(), key=lambda item: item[1] is None)
    values: dict[str, Any] = {"limit": limit}
    for number, (scope, room) in enumerate(ordered):
        values[f"scope_{number}"] = scope.key
        if room is not None:
            values |= {f"room_{number}": room, f"last_in_room_{number}": room - 1}
    if after is not None:
        values["after"], values["after_id"] = after
    return values


def descending(order: Order) -> bool:
    return order is not Order.PLACE


def newest(*standings: Standing) -> Select[Any]:
    """The `limit` memories of `scope_0` with these standings that were updated last."""
    return _merged([_range(0, standing, Order.UPDATED, following=False) for standing in standings], Order.UPDATED)


def room_edge() -> Select[Any]:
    """`updated_place` of the last one in room of `scope_0`, then of the one after it."""
    return _edge(0).limit(2)


@lru_cache(maxsize=512)
def _page_of(with_room: int, without: int, shelf: Shelf, order: Order, following: bool) -> Select[Any]:
    arms = [arm for number in range(with_room) for arm in _arms(number, shelf, order, following=following)]
    for number in range(with_room, with_room + without):
        arms += [_range(number, standing, order, following=following) for standing in _STANDINGS[shelf]]
    return _merged(arms, order)


def _merged(arms: list[Select[Any]], order: Order) -> Select[Any]:
    both = union_all(*arms)
    chosen = both.order_by(*_ordered(both.selected_columns, order)).limit(bindparam("limit")).subquery("chosen")
    return (
        select(*COLUMNS)
        .join_from(chosen, memories, memories.c.memory_id == chosen.c.memory_id)
        .where(owned(memories))
        .order_by(*_ordered(memories.c, order))
    )


_STANDINGS = {
    Shelf.ALL: tuple(Standing),
    Shelf.ACTIVE: (Standing.PINNED, Standing.FREE),
    Shelf.ARCHIVED: (Standing.ARCHIVED,),
}
"""What stands on a shelf of a scope that has no cap."""


def _arms(number: int, shelf: Shelf, order: Order, *, following: bool) -> list[Select[Any]]:
    match shelf:
        case Shelf.ALL:
            return [_range(number, standing, order, following=following) for standing in Standing]
        case Shelf.ACTIVE:
            pinned = _range(number, Standing.PINNED, order, following=following)
            return [pinned, _in_room(number, order, following=following)]
        case Shelf.ARCHIVED:
            by_hand = _range(number, Standing.ARCHIVED, order, following=following)
            return [by_hand, _beyond_room(number, order, following=following)]
        case _:
            assert_never(shelf)


def _range(number: int, standing: Standing, order: Order, *, following: bool) -> Select[Any]:
    return _sorted_rows(memories, order, following=following).where(*_standing_in(number, standing))


def _in_room(number: int, order: Order, *, following: bool) -> Select[Any]:
    columns = [memories.c[name] for name in dict.fromkeys(["memory_id", "updated_place", _SORTED_BY[order]])]
    free = select(*columns).where(*_standing_in(number, Standing.FREE))
    in_room = free.order_by(memories.c.updated_place.desc()).limit(bindparam(f"room_{number}"))
    return _sorted_rows(in_room.subquery(f"in_room_{number}"), order, following=following)


def _beyond_room(number: int, order: Order, *, following: bool) -> Select[Any]:
    """Older than the last one in room; where there is none, nothing is older."""
    last = _edge(number).limit(1).correlate(None).scalar_subquery()
    return _range(number, Standing.FREE, order, following=following).where(memories.c.updated_place < last)


def _edge(number: int) -> Select[Any]:
    free = select(memories.c.updated_place).where(*_standing_in(number, Standing.FREE))
    return free.order_by(memories.c.updated_place.desc()).offset(bindparam(f"last_in_room_{number}"))


def _standing_in(number: int, standing: Standing) -> tuple[ColumnElement[bool], ...]:
    """One range of each index that begins with these columns."""
    in_scope = memories.c.scope == bindparam(f"scope_{number}")
    return (owned(memories), in_scope, LIVE, memories.c.standing == standing)


def _sorted_rows(source: FromClause, order: Order, *, following: bool) -> Select[Any]:
    first, second = source.c[_SORTED_BY[order]], source.c.memory_id
    rows = select(first, second)
    if not following:
        return rows
    mark = tuple_(bindparam("after", type_=first.type), bindparam("after_id", type_=second.type))
    return rows.where(tuple_(first, second) < mark if descending(order) else tuple_(first, second) > mark)


def _ordered(columns: Any, order: Order) -> list[ColumnElement[Any]]:
    sorted_by = [columns[_SORTED_BY[order]], columns.memory_id]
    return [column.desc() for column in sorted_by] if descending(order) else sorted_by
