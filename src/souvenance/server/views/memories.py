"""Memories, their history, erasures and hits as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from souvenance.app.browse import MemoryView, Room
from souvenance.app.clear_scope import Cleared
from souvenance.app.query_memories import Hits, MemoryHit, MessageHit
from souvenance.domain.erasure import Erasure
from souvenance.domain.journal import Actor, Add, Content, Move, Operation, Pin, Update
from souvenance.domain.memory import Evidence, Memory, Origin
from souvenance.ports.memories import Removed
from souvenance.server.views.conversations import MessageJson
from souvenance.server.views.view import View


class EvidenceJson(View):
    at: datetime
    conversation_id: str | None
    message_id: str | None

    @classmethod
    def of(cls, evidence: Evidence) -> Self:
        return cls(at=evidence.at, conversation_id=evidence.conversation_id, message_id=evidence.message_id)


class MemoryJson(View):
    """One memory. Of a notebook `key` names it and `value` repeats `text`; else both are null.

    `archived`: by hand or for want of room (M2). `version` is what an edit must have seen.
    """

    id: str
    scope: str
    text: str
    key: str | None
    value: str | None
    subject: str
    pinned: bool
    archived: bool
    confidence: float
    origin: Origin
    evidence: list[EvidenceJson]
    language: str
    sensitive: bool
    created_at: datetime
    updated_at: datetime
    version: int

    @classmethod
    def of(cls, memory: Memory, evidence: Sequence[Evidence], *, archived: bool) -> Self:
        return cls(
            id=memory.memory_id,
            scope=memory.scope.key,
            text=memory.text,
            key=memory.key,
            value=None if memory.key is None else memory.text,
            subject=memory.subject,
            pinned=memory.pinned,
            archived=archived,
            confidence=memory.confidence,
            origin=memory.origin,
            evidence=[EvidenceJson.of(each) for each in evidence],
            language=memory.language,
            sensitive=memory.sensitive,
            created_at=memory.created_at,
            updated_at=memory.updated_at,
            version=memory.version,
        )


class ListedMemoryJson(MemoryJson):
    """A memory with its marks: `recent` when it was updated within a week (M6), `oversized` when it must be shortened
    with its next edit (M8).
    """

    recent: bool
    oversized: bool

    @classmethod
    def shown(cls, view: MemoryView) -> Self:
        memory = MemoryJson.of(view.memory, view.evidence, archived=view.archived)
        return cls(**memory.model_dump(), recent=view.recent, oversized=view.oversized)


class RememberedJson(View):
    """`created` is false when the memory was there already (M10)."""

    memory: ListedMemoryJson
    created: bool


class ErasureJson(View):
    """Out of sight at once; until `until` it can be undone, then it is gone (M14)."""

    id: str
    memory_ids: list[str]
    at: datetime
    until: datetime

    @classmethod
    def of(cls, erasure: Erasure) -> Self:
        return cls(id=erasure.erasure_id, memory_ids=list(erasure.memory_ids), at=erasure.at, until=erasure.until)


class ClearedJson(View):
    """`erasure` is null when nothing was there to erase; `pinned` were kept, DELETE /memories/pinned needs it (M9)."""

    erasure: ErasureJson | None
    pinned: int

    @classmethod
    def of(cls, cleared: Cleared) -> Self:
        erasure = None if cleared.erasure is None else ErasureJson.of(cleared.erasure)
        return cls(erasure=erasure, pinned=cleared.pinned)


class RemovedJson(View):
    """A memory that a model or pass removed; `place` is the one that brings it back (M11)."""

    id: str
    scope: str
    text: str
    key: str | None
    subject: str
    removed_by: Actor
    removed_at: datetime
    place: int

    @classmethod
    def of(cls, removed: Removed) -> Self:
        memory = removed.memory
        return cls(
            id=memory.memory_id,
            scope=memory.scope.key,
            text=memory.text,
            key=memory.key,
            subject=memory.subject,
            removed_by=removed.actor,
            removed_at=removed.at,
            place=removed.place,
        )


class RoomJson(View):
    """How full a scope is (M2); a limit of null means that there is none."""

    scope: str
    pinned: int
    pinned_limit: int | None
    unpinned: int
    unpinned_limit: int | None
    archived: int
    tokens: int


class OperationJson(View):
    """One change, in the owner's order; the texts are null where the change set none."""

    place: int
    intent: str
    actor: Actor
    at: datetime
    scope: str
    text: str | None
    key: str | None
    subject: str | None
    causes: list[str]
    revoked: bool

    @classmethod
    def of(cls, operation: Operation) -> Self:
        intent = operation.intent
        content: Content | None = intent.content if isinstance(intent, Add | Update | Pin) else None
        return cls(
            place=operation.place,
            intent=type(intent).__name__.lower(),
            actor=operation.actor,
            at=operation.at,
            scope=(intent.scope if isinstance(intent, Move) else operation.scope).key,
            text=None if content is None else content.text,
            key=None if content is None else content.key,
            subject=None if content is None else content.subject,
            causes=[anchor.message for anchor in operation.causes],
            revoked=operation.revoked,
        )


class HistoryJson(View):
    items: list[OperationJson]


class MemoryHitJson(View):
    memory: MemoryJson
    score: float
    why: list[str]

    @classmethod
    def of(cls, hit: MemoryHit) -> Self:
        return cls(
            memory=MemoryJson.of(hit.memory, hit.evidence, archived=hit.archived), score=hit.score, why=list(hit.why)
        )


class MessageHitJson(View):
    message: MessageJson
    score: float
    why: list[str]

    @classmethod
    def of(cls, hit: MessageHit) -> Self:
        return cls(message=MessageJson.of(hit.message), score=hit.score, why=list(hit.why))


class HitsJson(View):
    """Hits with their reasons, best first; `legs` says of each way of searching whether it answered (Q5)."""

    memories: list[MemoryHitJson]
    messages: list[MessageHitJson]
    legs: dict[str, str]

    @classmethod
    def of(cls, hits: Hits) -> Self:
        return cls(
            memories=[MemoryHitJson.of(hit) for hit in hits.memories],
            messages=[MessageHitJson.of(hit) for hit in hits.messages],
            legs=dict(hits.legs),
        )


def room_json(scope: str, room: Room) -> RoomJson:
    return RoomJson(
        scope=scope,
        pinned=room.pinned,
        pinned_limit=room.pinned_limit,
        unpinned=room.unpinned,
        unpinned_limit=room.unpinned_limit,
        archived=room.archived,
        tokens=room.tokens,
    )
