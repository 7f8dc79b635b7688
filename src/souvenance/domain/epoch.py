"""An epoch: the memory block of a conversation, held still between compactions (C6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from souvenance.domain.ids import BotId, ConversationId, MemoryId, OwnerId


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochLine:
    """One memory as it stands in the block: `text` is the whole rendered line, `short` its number there."""

    memory_id: MemoryId
    version: int
    pinned: bool
    text: str
    short: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """What one speaker's memory block says in one conversation until the next epoch.

    `basis` is everything that must not have changed, as words: window start, level, policy, settings, and each scope's
    own epoch counter. `place` is the owner's place when it was made: later changes stand in the "since then" list.
    `others` has the same of other owners whose memories stand in the block (an organisation's), by owner id.
    """

    conversation_id: ConversationId
    bot_id: BotId | None
    number: int
    place: int
    others: Mapping[OwnerId, int] = field(default_factory=dict)
    basis: Mapping[str, str] = field(default_factory=dict)
    lines: tuple[EpochLine, ...] = ()
