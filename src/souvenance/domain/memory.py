"""A memory: one lasting fact, in one scope, with every source it was drawn from (M1–M6)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from souvenance.domain.ids import BotId, ConversationId, MemoryId, MessageId
from souvenance.domain.limits import Limits


class ScopeKind(StrEnum):
    ACCOUNT = "account"
    BOT = "bot"
    ORGANISATION = "organisation"
    CONVERSATION = "conversation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where a memory holds; `ref` is the bot or conversation, empty for the owner's own two scopes."""

    kind: ScopeKind
    ref: str = ""

    @property
    def key(self) -> str:
        """The scope as one word, unique within its owner: `account`, `bot:bot_…`."""
        return f"{self.kind}:{self.ref}" if self.ref else str(self.kind)

    @classmethod
    def parse(cls, key: str) -> Scope:
        kind, _, ref = key.partition(":")
        return cls(kind=ScopeKind(kind), ref=ref)

    @classmethod
    def of_bot(cls, bot_id: BotId) -> Scope:
        return cls(kind=ScopeKind.BOT, ref=bot_id)


ACCOUNT_SCOPE = Scope(kind=ScopeKind.ACCOUNT)
ORGANISATION_SCOPE = Scope(kind=ScopeKind.ORGANISATION)


class Origin(StrEnum):
    """How a memory came in (M4)."""

    MANUAL = "manual"
    MODEL = "model"
    EXPLICIT = "explicit"
    IMPLICIT = "implicit"
    GENERATED = "generated"
    CONVERSATION = "conversation"
    DEEPER = "deeper"
    IMPORT = "import"


class MemoryState(StrEnum):
    """LIVE can be read; SHADOWED is equal to a live one since an undo; DELETED can come back by an undo of its turn;
    ERASING was deleted by a person and is purged when the offer to undo ends (M14).
    """

    LIVE = "live"
    SHADOWED = "shadowed"
    DELETED = "deleted"
    ERASING = "erasing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One source of a memory: what was said where and when; ids only, no text."""

    at: datetime
    conversation_id: ConversationId | None = None
    message_id: MessageId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory as it is now. Of a notebook: `key` names it and `text` is its value; else `key` is None.

    `place` orders a scope by first storing (K2); `changed` is the owner's place at the last change; `version` counts
    changes of this memory and is what an edit must have seen.
    """

    memory_id: MemoryId
    scope: Scope
    text: str
    key: str | None = None
    subject: str = ""
    pinned: bool = False
    archived: bool = False
    confidence: float = 1.0
    origin: Origin = Origin.MANUAL
    evidence: tuple[Evidence, ...] = ()
    language: str = ""
    sensitive: bool = False
    created_at: datetime
    updated_at: datetime
    place: int
    changed: int = 0
    version: int = 1
    state: MemoryState = MemoryState.LIVE


def confidence_of(origin: Origin, limits: Limits, given: float | None = None) -> float:
    """M4: what a source of this kind is worth; a model's own rating never exceeds its cap."""
    match origin:
        case Origin.MANUAL | Origin.GENERATED | Origin.CONVERSATION:
            return 1.0
        case Origin.EXPLICIT:
            return limits.confidence_explicit
        case Origin.IMPLICIT:
            return limits.confidence_implicit
        case Origin.MODEL | Origin.DEEPER:
            return min(limits.confidence_model, limits.confidence_model if given is None else max(0.0, given))
        case Origin.IMPORT:
            return limits.confidence_import if given is None else min(1.0, max(0.0, given))
