"""Read back what was sent for a reply, byte for byte (C1)."""

from __future__ import annotations

from souvenance.app.kit import Kit
from souvenance.domain.ids import ConversationId, MessageId, OwnerId, PromptId
from souvenance.domain.sent import SentPrompt
from souvenance.ports.store import Unit


async def read_prompt(kit: Kit, owner_id: OwnerId, prompt_id: PromptId) -> SentPrompt:
    """One request with its parts; text that was erased since shows as erased."""
    return await kit.store.read(owner_id, lambda unit: unit.prompts.get(prompt_id), label="prompt.read")


async def prompts_of_message(kit: Kit, owner_id: OwnerId, message_id: MessageId) -> tuple[SentPrompt, ...]:
    """The requests that led to a reply, first to last, without their parts; NotFound for no such message."""

    def work(unit: Unit) -> tuple[SentPrompt, ...]:
        unit.messages.get(message_id)
        return tuple(unit.prompts.of_message(message_id))

    return await kit.store.read(owner_id, work, label="prompts.read")


async def prompts_of_conversation(
    kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, *, limit: int = 50
) -> tuple[SentPrompt, ...]:
    """The newest requests of a conversation, newest first, without their parts."""

    def work(unit: Unit) -> tuple[SentPrompt, ...]:
        unit.conversations.get(conversation_id)
        return tuple(unit.prompts.of_conversation(conversation_id, limit=limit))

    return await kit.store.read(owner_id, work, label="prompts.read")
