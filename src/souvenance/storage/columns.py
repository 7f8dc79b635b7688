"""Column types: content, moments and ids, the same on both databases."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, LargeBinary
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

_PLAIN = b"\x00"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Content(TypeDecorator[str]):
    """Text of people and models: bytes behind one byte that names their form (0: UTF-8 as it is).

    The one door for content, so that encryption at rest is a matter of this type alone. Never compared or sorted in SQL.
    """

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        return None if value is None else _PLAIN + value.encode("utf-8")

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else bytes(value)[1:].decode("utf-8")


class ContentBytes(TypeDecorator[bytes]):
    """Content that is bytes already (a part of a request), behind the same byte."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        return None if value is None else _PLAIN + value

    def process_result_value(self, value: Any, dialect: Dialect) -> bytes | None:
        return None if value is None else bytes(value)[1:]


class Moment(TypeDecorator[datetime]):
    """An aware moment, kept as whole microseconds since 1970 in UTC: ordered and exact on both databases."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        if value is None:
            return None
        passed = value - _EPOCH
        return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        seconds, micros = divmod(int(value), 1_000_000)
        return datetime.fromtimestamp(seconds, UTC).replace(microsecond=micros)


