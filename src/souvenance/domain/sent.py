"""What was sent for a reply, kept so that it can be read back byte for byte (C1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from souvenance.domain.ids import ConversationId, MemoryId, MessageId, NodeId, PromptId, TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A run of a request's bytes. One that holds a memory, a message or a summary node names it, so that an erasure can
    blank it.
    """

    data: bytes
    memory_id: MemoryId | None = None
    message_id: MessageId | None = None
    node_id: NodeId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """An item that gave way to fit the context (W7)."""

    layer: str
    item: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPrompt:
    """One request: the concatenation of `parts` is its body. `layers` are estimated tokens in, by layer; the reported
    figures are the model's own, None until it reports them. `error` is empty when a reply came.
    """

    prompt_id: PromptId
    conversation_id: ConversationId
    turn_id: TurnId
    message_id: MessageId | None
    model: str
    at: datetime
    parts: tuple[Part, ...]
    layers: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()
    estimated_in: int = 0
    estimated_out: int = 0
    reported_in: int | None = None
    reported_out: int | None = None
    round: int = 0
    epoch: int = 0


ERASED = b"[erased]"
"""What stands in a read-back prompt where erased text was."""
