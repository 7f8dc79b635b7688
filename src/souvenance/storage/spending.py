"""What an owner's background work spent, by the hour (C4)."""

from __future__ import annotations

from sqlalchemy import BigInteger, bindparam, func, select
from sqlalchemy.dialects.postgresql import insert as upsert

from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import spending

_C = spending.c
_NEW = upsert(spending)
_ADD = _NEW.on_conflict_do_update(
    index_elements=["owner_id", "hour", "purpose"],
    set_={name: _C[name] + _NEW.excluded[name] for name in ("calls", "tokens_in", "tokens_out")},
)
_IN_HOUR = select(func.coalesce(func.sum(_C.tokens_in + _C.tokens_out), 0)).where(
    owned(spending), _C.hour == bindparam("at_hour", type_=BigInteger)
)
_IN_ALL = select(func.coalesce(func.sum(_C.tokens_in + _C.tokens_out), 0)).where(
    owned(spending), _C.purpose != bindparam("other_than")
)


class SqlSpending(Repository):
    """`ports.summaries.Spending`."""

    __slots__ = ()

    def add(self, hour: int, purpose: str, *, calls: int, tokens_in: int, tokens_out: int) -> None:
        self._write(_ADD, hour=hour, purpose=purpose, calls=calls, tokens_in=tokens_in, tokens_out=tokens_out)

    def in_hour(self, hour: int) -> int:
        return int(self._run(_IN_HOUR, at_hour=hour).scalar_one())

    def in_all(self, *, but: str) -> int:
        return int(self._run(_IN_ALL, other_than=but).scalar_one())
