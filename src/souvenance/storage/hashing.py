"""Keyed hashes of one owner: what stands in columns where content must be found by equality (HOUSE 10)."""

from __future__ import annotations

from hashlib import blake2b

from sqlalchemy import Connection, bindparam, select

from souvenance.domain.ids import OwnerId
from souvenance.errors import NotFound
from souvenance.storage.schema import owners

_SECRET = select(owners.c.secret).where(owners.c.owner_id == bindparam("owner"))


class Hasher:
    """Hashes under the owner's secret, which is read at first use.

    `purpose` (at most 16 ASCII characters) keeps hashes of equal text in different columns apart.
    """

    __slots__ = ("_connection", "_owner_id", "_secret")

    def __init__(self, connection: Connection, owner_id: OwnerId) -> None:
        self._connection = connection
        self._owner_id = owner_id
        self._secret: bytes | None = None

    def __call__(self, text: str, purpose: str = "") -> bytes:
        """32 bytes. Raises NotFound when the owner does not exist."""
        return self.of_bytes(_encoded(text), purpose, size=32)

    def number(self, text: str, purpose: str = "") -> int:
        """A signed 64-bit number, for columns that are searched a great deal."""
        return int.from_bytes(self.of_bytes(_encoded(text), purpose, size=8), "big", signed=True)

    def of_bytes(self, data: bytes, purpose: str, *, size: int) -> bytes:
        """`size` bytes, for content that is bytes already."""
        return blake2b(data, digest_size=size, key=self._key(), person=purpose.encode("ascii")).digest()

    def _key(self) -> bytes:
        if self._secret is None:
            secret = self._connection.execute(_SECRET, {"owner": self._owner_id}).scalar_one_or_none()
            if secret is None:
                raise NotFound("owner", self._owner_id)
            self._secret = blake2b(secret, digest_size=64).digest()
        return self._secret


def _encoded(text: str) -> bytes:
    # A lone surrogate cannot be stored, but may be asked for: it then finds nothing.
    return text.encode("utf-8", "surrogatepass")
