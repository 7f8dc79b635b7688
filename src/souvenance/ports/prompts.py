"""Repositories of epochs, short ids, sent prompts and what was learnt about token counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from souvenance.domain.cost import Calibration
from souvenance.domain.epoch import Epoch
from souvenance.domain.ids import BotId, ConversationId, MemoryId, MessageId, NodeId, PromptId, TurnId
from souvenance.domain.sent import SentPrompt


class Epochs(Protocol):
    def get(self, conversation_id: ConversationId, bot_id: BotId | None) -> Epoch | None: ...

    def save(self, epoch: Epoch) -> None:
        """Write it over the one before."""
        ...


class ShortIds(Protocol):
    """Numbers given once per conversation and memory, never reused there."""

    def of(self, conversation_id: ConversationId, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, int]: ...

    def last(self, conversation_id: ConversationId) -> int:
        """The highest number given so far, 0 for none."""
        ...

    def put(self, conversation_id: ConversationId, numbers: Mapping[MemoryId, int]) -> None: ...


class Prompts(Protocol):
    def put(self, prompt: SentPrompt) -> None:
        """Keep it; parts that are there already are not written again. The caller holds the conversation."""
        ...

    def get(self, prompt_id: PromptId) -> SentPrompt:
        """With its parts; erased ones hold `sent.ERASED`. NotFound when the owner has no such prompt."""
        ...

    def of_message(self, message_id: MessageId) -> list[SentPrompt]:
        """The requests that led to this reply (one a tool round), first to last, without their parts."""
        ...

    def of_conversation(self, conversation_id: ConversationId, *, limit: int) -> list[SentPrompt]:
        """The newest ones, newest first, without their parts."""
        ...

    def forget_turns(self, conversation_id: ConversationId, turn_ids: Sequence[TurnId]) -> None:
        """Drop what was sent for these turns, and the parts that nothing refers to any more. The caller holds the
        conversation, here and below.
        """
        ...

    def forget_replies(self, conversation_id: ConversationId, message_ids: Sequence[MessageId]) -> None:
        """The same of what led to these replies."""
        ...

    def forget_conversation(self, conversation_id: ConversationId) -> None: ...

    def blank(self, message_ids: Sequence[MessageId]) -> None:
        """Let the words of these messages stand in no prompt of the owner any more: they read back as erased."""
        ...

    def blank_nodes(self, node_ids: Collection[NodeId]) -> None:
        """The same of the texts of these summary nodes."""
        ...

    def nodes_sent(self, conversation_id: ConversationId) -> set[NodeId]:
        """The nodes whose texts stand, or stood, in what was sent in this conversation."""
        ...

    def forget_before(self, at: datetime, *, limit: int) -> int:
        """Drop at most `limit` prompts older than `at` and the parts that nothing refers to; returns how many."""
        ...


class Calibrations(Protocol):
    """How a model's own token counts relate to the estimate (C5)."""

    def get(self, model: str) -> Calibration: ...

    def save(self, model: str, calibration: Calibration) -> None: ...
