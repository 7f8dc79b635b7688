"""A memory: one lasting fact, in one scope, with every source it was drawn from (M1–M6)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from souvenance.domain.ids import BotId, ConversationId, MemoryId, MessageId
from souvenance.errors import BadValue


class ScopeKind(StrEnum):
    ACCOUNT = "account"
    BOT = "bot"
    ORGANISATION = "organisation"
    CONVERSATION = "conversation"


_WITH_REF = frozenset({ScopeKind.BOT, ScopeKind.CONVERSATION})
_WITHOUT_REF = frozenset({ScopeKind.ACCOUNT, ScopeKind.ORGANISATION})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where a memory holds; `ref` is the bot or conversation, empty for account and organisation."""

    kind: ScopeKind
    ref: str = ""

    @property
    def key(self) -> str:
        """The scope as one word, unique within its owner: `account`, `bot:bot_…`."""
        return f"{self.kind}:{self.ref}" if self.ref else str(self.kind)

    @classmethod
    def parse(cls, key: str) -> Scope:
        """The scope that this word names; BadValue when there is no such kind, its ref is missing or it takes none."""
        kind, colon, ref = key.partition(":")
        if (kind in _WITH_REF and ref) or (kind in _WITHOUT_REF and not colon):
            return cls(kind=ScopeKind(kind), ref=ref)
        raise BadValue("scope", value=key, expected="account, organisation, bot:<id> or conversation:<id>")

    @classmethod
    def of_bot(cls, bot_id: BotId) -> Scope:
        return cls(kind=ScopeKind.BOT, ref=bot_id)

    @classmethod
    def of_conversation(cls, conversation_id: ConversationId) -> Scope:
        return cls(kind=ScopeKind.CONVERSATION, ref=conversation_id)


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

    Places are of the owner's one order, which no clock can turn back: `place` orders a scope by first storing (K2),
    `updated_place` by the last update (M2, M6), `changed` by the last change of any kind. `version` counts changes of
    this memory and is what an edit must have seen. The sources are read apart: there may be very many of them.
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
    language: str = ""
    sensitive: bool = False
    created_at: datetime
    updated_at: datetime
    place: int
    updated_place: int = 0
    changed: int = 0
    version: int = 1
    state: MemoryState = MemoryState.LIVE
