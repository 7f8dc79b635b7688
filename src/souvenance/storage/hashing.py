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

    __slots__ = ("_begun", "_connection", "_key", "_owner_id")

    def __init__(self, connection: Connection, owner_id: OwnerId) -> None:
        self._connection = connection
        self._owner_id = owner_id
        self._key: bytes | None = None
        self._begun: dict[tuple[str, int], blake2b] = {}

    def __call__(self, text: str, purpose: str = "") -> bytes:
        """32 bytes. Raises NotFound when the owner does not exist."""
        return self.of_bytes(_encoded(text), purpose, size=32)

    def number(self, text: str, purpose: str = "") -> int:
        """A signed 64-bit number, for columns that are searched a great deal."""
        return int.from_bytes(self.of_bytes(_encoded(text), purpose, size=8), "big", signed=True)

    def of_bytes(self, data: bytes, purpose: str, *, size: int) -> bytes:
        """`size` bytes, for content that is bytes already."""
        # A turn takes hundreds of hashes: each goes on from one that has taken in key and purpose.
        begun = self._begun.get((purpose, size)) or self._begin(purpose, size)
        hashing = begun.copy()
        hashing.update(data)
        return hashing.digest()

    @property
    def key(self) -> bytes:
        """What the owner's hashes are made under; NotFound when the owner does not exist."""
        if self._key is None:
            secret = self._connection.execute(_SECRET, {"owner": self._owner_id}).scalar_one_or_none()
            if secret is None:
                raise NotFound("owner", self._owner_id)
            self._key = blake2b(secret, digest_size=64).digest()
        return self._key

    def _begin(self, purpose: str, size: int) -> blake2b:
        begun = self._begun[purpose, size] = keyed(self.key, purpose, size)
        return begun


def keyed(key: bytes, purpose: str, size: int) -> blake2b:
    """A hash under an owner's key that has taken in nothing yet."""
    return blake2b(digest_size=size, key=key, person=purpose.encode("ascii"))


def _encoded(text: str) -> bytes:
    # A lone surrogate cannot be stored, but may be asked for: it then finds nothing.
    return text.encode("utf-8", "surrogatepass")
