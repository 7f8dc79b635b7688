"""The unit's own owner row, and the owner's one order of changes (M11)."""

from __future__ import annotations

from sqlalchemy import bindparam, insert, select, update

from souvenance.domain.ids import OwnerId
from souvenance.domain.owner import Owner, OwnerKind
from souvenance.errors import NotFound
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import owners

_GET = select(owners).where(owned(owners))
_HOLD = select(owners.c.place).where(owned(owners)).with_for_update()
_NEXT = update(owners).where(owned(owners)).values(place=owners.c.place + bindparam("count")).returning(owners.c.place)


class SqlOwners(Repository):
    """`ports.store.Owners`."""

    __slots__ = ()

    def get(self) -> Owner:
        row = self._row(_GET)
        if row is None:
            raise NotFound("owner", self._owner_id)
        return Owner(
            owner_id=OwnerId(row.owner_id),
            kind=OwnerKind(row.kind),
            name=row.name,
            secret=row.secret,
            place=row.place,
            created_at=row.created_at,
        )

    def create(self, owner: Owner) -> None:
        # Two processes may start on an empty store at once: the one that comes second keeps what the first wrote,
        # because on PostgreSQL the collision makes the executor run the work again.
        if self._row(_GET) is None:
            row = {
                "kind": owner.kind,
                "name": owner.name,
                "secret": owner.secret,
                "place": owner.place,
                "created_at": owner.created_at,
            }
            self._insert(insert(owners), [row])

    def hold(self) -> None:
        # SQLite's writers come one at a time.
        if self._connection.dialect.name != "sqlite":
            self._run(_HOLD)

    def next_place(self, count: int = 1) -> int:
        place: int | None = self._run(_NEXT, count=count).scalar_one_or_none()
        if place is None:
            raise NotFound("owner", self._owner_id)
        return place
