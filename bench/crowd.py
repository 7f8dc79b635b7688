"""Other owners: one is made through the store, the rest are copies of its rows."""

from __future__ import annotations

from sqlalchemy import Table

from bench.world import Speech
from souvenance.app.kit import Kit
from souvenance.app.remember import NewMemory, remember_many
from souvenance.domain.ids import OwnerId
from souvenance.domain.memory import ACCOUNT_SCOPE
from souvenance.domain.owner import Owner, OwnerKind
from souvenance.storage import schema

_NAME = "own_crowd"
_FIRST = OwnerId(f"{_NAME}0")
_EACH = 100
_FILLED = (
    schema.owners,
    schema.scopes,
    schema.memories,
    schema.operations,
    schema.evidence,
    schema.index_items,
    schema.postings,
    schema.index_totals,
)


async def add_owner(kit: Kit, owner_id: OwnerId) -> None:
    owner = Owner(
        owner_id=owner_id,
        kind=OwnerKind.ACCOUNT,
        name="Bench",
        secret=b"a secret of forty-eight bytes for the bench only",
        place=0,
        created_at=kit.clock.now(),
    )
    await kit.store.write(owner_id, lambda unit: unit.owners.create(owner), label="bench.owner")


async def crowd(kit: Kit, memories: int) -> list[str]:
    """Statements that make this many memories of other owners, 100 each, with their journals and postings."""
    speech = Speech(seed=13)
    await add_owner(kit, _FIRST)
    new = [NewMemory(text=speech.fact(number), scope=ACCOUNT_SCOPE) for number in range(_EACH)]
    await remember_many(kit, _FIRST, new)
    return [_copies(table, memories // _EACH - 1) for table in _FILLED]


def _copies(table: Table, times: int) -> str:
    columns = ", ".join(f'"{column.name}"' for column in table.columns if column.name != "owner_id")
    return (
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {times}) "
        f"INSERT INTO {table.name} (owner_id, {columns}) SELECT '{_NAME}' || i, {columns} FROM {table.name}, n "
        f"WHERE owner_id = '{_FIRST}' ORDER BY i"
    )
