"""Pages of memories: ranges of one index, one for each scope and standing, merged by the database.

Each range is read in the order of the page, so that a page costs what it shows, whatever else is stored. Of the free
memories of a scope the `room` newest are in room, the others are archived (M2); keyed ones always are in. Statements
are made once for each shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, assert_never

from sqlalchemy import BindParameter, ColumnElement, FromClause, Select, bindparam, select, tuple_, union_all

from souvenance.domain.memory import Scope
from souvenance.ports.memories import Mark, Order, Shelf
from souvenance.storage.memory_rows import COLUMNS, LIVE, Standing
from souvenance.storage.repository import owned
from souvenance.storage.schema import memories

_SORTED_BY = {Order.UPDATED: "updated_at", Order.CREATED: "created_at", Order.PLACE: "place"}
_NEWEST = (memories.c.updated_at.desc(), memories.c.memory_id.desc())
_ROOM: BindParameter[int] = bindparam("room")


def page_of(scopes: int, shelf: Shelf, order: Order, *, following: bool) -> Select[Any]:
    """The memories of `scopes` scopes on a shelf; `page_values` are its values. `following`: after another memory."""
    return _page_of(scopes, shelf, order, following)


def page_values(scopes: Sequence[Scope], *, room: int, after: Mark | None, order: Order, limit: int) -> dict[str, Any]:
    values: dict[str, Any] = {f"scope_{number}": scope.key for number, scope in enumerate(scopes)}
    values |= {"room": room, "last_in_room": room - 1, "limit": limit}
    if after is not None:
        values["after"], values["after_id"] = after
    return values


def descending(order: Order) -> bool:
    return order is not Order.PLACE


def newest(*standings: Standing) -> Select[Any]:
    """The `limit` memories of `scope_0` with these standings that were updated last."""
    return _merged([_range(0, standing, Order.UPDATED, following=False) for standing in standings], Order.UPDATED)


def room_edge() -> Select[Any]:
    """(updated, id) of the last one in room of `scope_0`, then of the one after it."""
    return _edge(0).limit(2)


@lru_cache(maxsize=512)
def _page_of(scopes: int, shelf: Shelf, order: Order, following: bool) -> Select[Any]:
    arms = [arm for number in range(scopes) for arm in _arms(number, shelf, order, following=following)]
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


def _arms(number: int, shelf: Shelf, order: Order, *, following: bool) -> list[Select[Any]]:
    match shelf:
        case Shelf.ALL:
            return [_range(number, standing, order, following=following) for standing in Standing]
        case Shelf.ACTIVE:
            kept = (Standing.PINNED, Standing.KEYED)
            always = [_range(number, standing, order, following=following) for standing in kept]
            return [*always, _in_room(number, order, following=following)]
        case Shelf.ARCHIVED:
            by_hand = _range(number, Standing.ARCHIVED, order, following=following)
            return [by_hand, _beyond_room(number, order, following=following)]
        case _:
            assert_never(shelf)


def _range(number: int, standing: Standing, order: Order, *, following: bool) -> Select[Any]:
    return _sorted_rows(memories, order, following=following).where(*_standing_in(number, standing))


def _in_room(number: int, order: Order, *, following: bool) -> Select[Any]:
    in_room = select(memories).where(*_standing_in(number, Standing.FREE)).order_by(*_NEWEST).limit(_ROOM)
    return _sorted_rows(in_room.subquery(f"in_room_{number}"), order, following=following)


def _beyond_room(number: int, order: Order, *, following: bool) -> Select[Any]:
    """Older than the last one in room; where there is none, nothing is older."""
    last = _edge(number).limit(1).correlate(None).scalar_subquery()
    older = tuple_(memories.c.updated_at, memories.c.memory_id) < last
    return _range(number, Standing.FREE, order, following=following).where(older)


def _edge(number: int) -> Select[Any]:
    free = select(memories.c.updated_at, memories.c.memory_id).where(*_standing_in(number, Standing.FREE))
    return free.order_by(*_NEWEST).offset(bindparam("last_in_room"))


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
