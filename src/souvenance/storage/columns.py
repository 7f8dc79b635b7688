"""Column types: content, moments and ids, the same on both databases."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, LargeBinary
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

_PLAIN = b"\x00"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Content(TypeDecorator[str]):
    """Text of people and models: bytes behind one byte that names their form (0: UTF-8 as it is).

    The one door for content: encryption at rest is a matter of this type alone. Never compared or sorted in SQL.
    """

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        return None if value is None else _PLAIN + value.encode("utf-8")

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        # The decorator's own way costs three calls a value, of which a turn reads hundreds.
        return _text_of


class ContentBytes(TypeDecorator[bytes]):
    """Content that is bytes already (a part of a request), behind the same byte."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        return None if value is None else _PLAIN + value

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        return _bytes_of


class Moment(TypeDecorator[datetime]):
    """An aware moment, kept as whole microseconds since 1970 in UTC: ordered and exact on both databases."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else moment_to(value)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        return _moment_or_none


def _text_of(stored: bytes | None) -> str | None:
    return None if stored is None else stored[1:].decode()


def _bytes_of(stored: bytes | None) -> bytes | None:
    return None if stored is None else stored[1:]


@lru_cache(maxsize=4_096)
def _moment_or_none(micros: int | None) -> datetime | None:
    # Kept: the same memories and messages are read in every turn, and many carry one moment twice.
    return None if micros is None else _EPOCH + timedelta(microseconds=micros)


def moment_to(at: datetime) -> int:
    """Whole microseconds since 1970."""
    passed = at - _EPOCH
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds
