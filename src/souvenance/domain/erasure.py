"""Erasure by a person: out of sight at once, purged after the offer to undo, a text-free tombstone stays (M14)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from souvenance.domain.equals import identity, words_of
from souvenance.domain.ids import ErasureId, MemoryId, MessageId
from souvenance.domain.journal import Anchor, Content, Operation, content_of, fold, text_when_moved
from souvenance.domain.memory import Memory, MemoryState, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """One click of a person: the memories it took, and until when it can be taken back."""

    erasure_id: ErasureId
    memory_ids: tuple[MemoryId, ...]
    at: datetime
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """What must not come back by itself: keyed hashes of one text a memory had, and the sources it came from."""

    scope: Scope
    text_hash: bytes
    subject_hash: bytes
    sources: tuple[MessageId, ...]
    erased_at: datetime


Stones = Callable[[Memory], Sequence[Tombstone]]
"""The tombstones of what a memory says, in whatever scope."""


def stands_against(stone: Tombstone, scope: Scope, content: Content, anchors: Iterable[Anchor]) -> bool:
    """Whether what a tombstone buried would come back by this content, which says the same.

    It would when one of its sources is among those of the tombstone, in whatever scope, or when all that it was drawn
    from in the tombstone's scope was said before the erasure. What has no source is old.
    """
    sources = {one.message_id for one in content.evidence}
    sources.update(one for anchor in anchors for one in (anchor.message, anchor.said))
    if not sources.isdisjoint(stone.sources):
        return True
    return scope == stone.scope and all(one.at <= stone.erased_at for one in content.evidence)


def without_erased(before: Memory, operations: Sequence[Operation], stones: Stones) -> list[Operation]:
    """The operations of a memory, those revoked that would let it say again what a person erased since then."""
    left = list(operations)
    while (memory := fold(left)) is not None and comes_back(before, memory):
        buried = stones(memory)
        fallen = {one.place for one in left if _says(one, memory) and _is_buried(one, memory.scope, buried)}
        if not fallen:
            return left
        left = [replace(one, revoked=True) if one.place in fallen else one for one in left]
    return left


def comes_back(before: Memory, after: Memory) -> bool:
    """Whether a memory that is folded anew says something that it did not say before.

    A pinned one stays (M5), and so does one that says it already: nothing comes back by these. One that is being erased
    waits for what becomes of its own offer.
    """
    if before.state is MemoryState.ERASING or after.pinned or after.state is not MemoryState.LIVE:
        return False
    return not _says_already(before, after)


def _says_already(before: Memory, memory: Memory) -> bool:
    return before.state in {MemoryState.LIVE, MemoryState.SHADOWED} and _words(before) == _words(memory)


def _words(memory: Memory) -> tuple[Scope, str, str]:
    return *identity(memory), _said(memory)


def _says(operation: Operation, memory: Memory) -> bool:
    """Whether it says what the memory says, as it is or since it was moved (M8)."""
    content = content_of(operation.intent)
    if operation.revoked or content is None:
        return False
    moved = replace(content, text=text_when_moved(content.key, content.text), key=None)
    return any(one.key == memory.key and _said(one) == _said(memory) for one in (content, moved))


def _said(one: Content | Memory) -> str:
    """A key's value whomever it is about, a free text about its subject (M10)."""
    return words_of(text=one.text, key=None, subject=one.subject if one.key is None else "")


def _is_buried(operation: Operation, scope: Scope, stones: Sequence[Tombstone]) -> bool:
    return any(stone.scope in {scope, operation.scope} and operation.at <= stone.erased_at for stone in stones)
