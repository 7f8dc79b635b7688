"""The audit finds what it is there to find; otherwise the suite would prove nothing about owners."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import (
    ClauseElement,
    CompoundSelect,
    Select,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from souvenance.ports.store import Store, Unit
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import bots, conversations, messages, turns
from tests.conformance.rows import ALICE, BOB

_joined = select(turns).join(messages, turns.c.turn_id == messages.c.turn_id).where(owned(turns))
_any_message = exists().where(messages.c.turn_id == turns.c.turn_id)
_counted = select(func.count()).select_from(select(messages).subquery())

LEAKS: dict[str, ClauseElement] = {
    "no condition": select(bots),
    "another owner by value": select(bots).where(bots.c.owner_id == BOB),
    "owner in an OR": select(bots).where(or_(owned(bots), bots.c.enterprise)),
    "owner negated": select(bots).where(~owned(bots)),
    "joined table": _joined,
    "outer join": select(turns).outerjoin(messages, owned(messages)).where(messages.c.chosen),
    "condition of an outer join on its left side": select(turns).outerjoin(messages, owned(turns) & owned(messages)),
    "EXISTS": select(turns).where(owned(turns), _any_message),
    "NOT EXISTS": select(turns).where(owned(turns), ~_any_message),
    "subquery": _counted,
    "scalar subquery": select(turns, _counted.scalar_subquery()).where(owned(turns)),
    "IN": select(turns).where(owned(turns), turns.c.turn_id.in_(select(messages.c.turn_id))),
    "common table": select(select(messages).cte()),
    "union": select(turns.c.turn_id).where(owned(turns)).union(select(messages.c.turn_id)),
    "update": update(conversations).values(waiting=0),
    "delete": delete(conversations).where(conversations.c.conversation_id == "con_1"),
    "update from an unbound select": update(conversations)
    .where(owned(conversations))
    .values(messages=select(func.count()).select_from(messages).scalar_subquery()),
}

BOUND: dict[str, ClauseElement] = {
    "by parameter": select(bots).where(owned(bots), bots.c.enterprise),
    "by value": select(bots).where(bots.c.owner_id == ALICE),
    "joined by owner": _joined.where(messages.c.owner_id == turns.c.owner_id),
    "EXISTS by owner": select(turns).where(owned(turns), _any_message.where(messages.c.owner_id == turns.c.owner_id)),
    "subquery": select(select(messages).where(owned(messages)).subquery()),
    "delete": delete(conversations).where(owned(conversations), conversations.c.conversation_id == bindparam("of")),
}


def run(statement: ClauseElement) -> Callable[[Unit], object]:
    """Run any statement as a repository of the unit would."""

    def work(unit: Unit) -> object:
        repository = unit.bots
        assert isinstance(repository, Repository)
        return repository._run(statement, of="con_1")  # type: ignore[arg-type]

    return work


@pytest.mark.parametrize("statement", LEAKS.values(), ids=LEAKS.keys())
async def test_the_audit_stops_a_statement_that_could_touch_another_owner(
    store: Store, statement: ClauseElement
) -> None:
    with pytest.raises(AssertionError, match="not bound to own_alice"):
        await store.write(ALICE, run(statement), label="leak")


@pytest.mark.parametrize("name", ["no condition", "joined table", "subquery", "union"])
async def test_the_audit_stops_a_leak_in_what_goes_straight_to_the_driver(store: Store, name: str) -> None:
    def work(unit: Unit) -> object:
        repository = unit.bots
        assert isinstance(repository, Repository)
        statement = LEAKS[name]
        assert isinstance(statement, Select | CompoundSelect)
        return repository._tuples(statement)

    with pytest.raises(AssertionError, match="not bound to own_alice"):
        await store.read(ALICE, work, label="leak")


@pytest.mark.parametrize("statement", BOUND.values(), ids=BOUND.keys())
async def test_the_audit_lets_a_bound_statement_pass(store: Store, statement: ClauseElement) -> None:
    await store.write(ALICE, run(statement), label="bound")


async def test_the_audit_stops_a_row_written_for_another_owner(store: Store) -> None:
    row = {"bot_id": "bot_1", "level": "balanced"}
    levels = insert(bots.metadata.tables["levels"])

    def write(unit: Unit) -> None:
        repository = unit.bots
        assert isinstance(repository, Repository)
        repository._connection.execute(levels, [{**row, "owner_id": ALICE}, {**row, "owner_id": BOB}])

    with pytest.raises(AssertionError, match="not bound to own_alice: levels"):
        await store.write(ALICE, write, label="leak")
