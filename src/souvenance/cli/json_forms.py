"""Domain values as JSON objects, with the names that `/api/v1` gives them too."""

from __future__ import annotations

from collections.abc import Sequence

from souvenance.app.browse import MemoryView
from souvenance.app.drafts import Drafted
from souvenance.app.find_similar import Similar
from souvenance.app.query_memories import MemoryHit, MessageHit
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.draft import Draft
from souvenance.domain.due import Due
from souvenance.domain.erasure import Erasure
from souvenance.domain.journal import Add, Operation, Pin, Update
from souvenance.domain.memory import Evidence, Memory
from souvenance.domain.notification import Notification
from souvenance.ports.memories import Removed

JsonForm = dict[str, object]


def memory_form(memory: Memory, evidence: Sequence[Evidence], *, archived: bool) -> JsonForm:
    """`archived`: by hand or for want of room (M2)."""
    return {
        "id": memory.memory_id,
        "scope": memory.scope.key,
        "text": memory.text,
        "key": memory.key,
        "subject": memory.subject,
        "pinned": memory.pinned,
        "archived": archived,
        "confidence": memory.confidence,
        "origin": memory.origin.value,
        "evidence": [
            {"at": source.at.isoformat(), "conversation_id": source.conversation_id, "message_id": source.message_id}
            for source in evidence
        ],
        "language": memory.language,
        "sensitive": memory.sensitive,
        "created_at": memory.created_at.isoformat(),
        "updated_at": memory.updated_at.isoformat(),
        "version": memory.version,
    }


def view_form(view: MemoryView) -> JsonForm:
    return {**memory_form(view.memory, view.evidence, archived=view.archived), "recent": view.recent}


def hit_form(hit: MemoryHit | MessageHit) -> JsonForm:
    """A hit with its reasons; the key says whether a memory or a message was found."""
    found: JsonForm = (
        {"memory": memory_form(hit.memory, hit.evidence, archived=hit.archived)}
        if isinstance(hit, MemoryHit)
        else {"message": message_form(hit.message)}
    )
    return {**found, "score": hit.score, "why": list(hit.why)}


def message_form(message: Message) -> JsonForm:
    return {
        "id": message.message_id,
        "conversation_id": message.conversation_id,
        "turn_id": message.turn_id,
        "role": message.role.value,
        "state": message.state.value,
        "text": message.text,
        "created_at": message.created_at.isoformat(),
    }


def variant_form(message: Message) -> JsonForm:
    """A message as one of the variants of its part of a turn."""
    return {**message_form(message), "part": message.part, "variant": message.variant, "chosen": message.chosen}


def conversation_form(conversation: Conversation) -> JsonForm:
    return {
        "id": conversation.conversation_id,
        "bot_id": conversation.bot_id,
        "model": conversation.model,
        "channel": conversation.channel.value,
        "title": conversation.title,
        "parent_id": conversation.parent_id,
        "messages": conversation.messages,
        "waiting": conversation.waiting,
        "created_at": conversation.created_at.isoformat(),
        "updated_at": conversation.updated_at.isoformat(),
        "version": conversation.version,
    }


def operation_form(operation: Operation) -> JsonForm:
    content = operation.intent.content if isinstance(operation.intent, Add | Update | Pin) else None
    return {
        "place": operation.place,
        "intent": type(operation.intent).__name__.lower(),
        "actor": operation.actor.value,
        "at": operation.at.isoformat(),
        "scope": operation.scope.key,
        "text": None if content is None else content.text,
        "key": None if content is None else content.key,
        "causes": [anchor.message for anchor in operation.causes],
        "revoked": operation.revoked,
    }


def draft_form(draft: Draft) -> JsonForm:
    return {
        "id": draft.draft_id,
        "batch": draft.batch,
        "scope": draft.scope.key,
        "origin": draft.origin.value,
        "text": draft.text,
        "key": draft.key,
        "pinned": draft.pinned,
        "sources": list(draft.sources),
        "created_at": draft.created_at.isoformat(),
        "until": draft.until.isoformat(),
    }


def drafted_form(drafted: Drafted) -> JsonForm:
    """What to review, with the room of its scope and what it cost."""
    room, charge = drafted.room, drafted.charge
    return {
        "drafts": [draft_form(draft) for draft in drafted.drafts],
        "room": {
            "scope": room.scope.key,
            "pinned": room.pinned,
            "pinned_limit": room.pinned_limit,
            "unpinned": room.unpinned,
            "unpinned_limit": room.unpinned_limit,
            "archived": room.archived,
            "tokens": room.tokens,
        },
        "charge": None
        if charge is None
        else {
            "model": charge.model,
            "tokens_in": charge.tokens_in,
            "tokens_out": charge.tokens_out,
            "reported": charge.reported,
        },
        "note": drafted.note,
    }


def similar_form(similar: Similar) -> JsonForm:
    return {
        "memory": view_form(similar.view),
        "equal": similar.equal,
        "matched": similar.matched,
        "asked": similar.asked,
    }


def removed_form(removed: Removed) -> JsonForm:
    """A memory that is gone by a model's or a pass's decision; `place` is what brings it back (M11)."""
    return {
        "id": removed.memory.memory_id,
        "scope": removed.memory.scope.key,
        "text": removed.memory.text,
        "key": removed.memory.key,
        "subject": removed.memory.subject,
        "removed_by": removed.actor.value,
        "removed_at": removed.at.isoformat(),
        "place": removed.place,
    }


def erasure_form(erasure: Erasure) -> JsonForm:
    return {
        "id": erasure.erasure_id,
        "memory_ids": list(erasure.memory_ids),
        "at": erasure.at.isoformat(),
        "until": erasure.until.isoformat(),
    }


def bot_form(bot: Bot) -> JsonForm:
    return {
        "id": bot.bot_id,
        "name": bot.name,
        "preset": bot.preset.value,
        "settings": {
            "text_calls": bot.settings.text_calls,
            "extraction": bot.settings.extraction.value,
            "deeper": bot.settings.deeper,
            "learn": bot.settings.learn,
            "tools": bot.settings.tools,
            "browser_only": bot.settings.browser_only,
        },
        "system_prompt": bot.system_prompt,
        "model": bot.model,
        "created_at": bot.created_at.isoformat(),
        "updated_at": bot.updated_at.isoformat(),
        "version": bot.version,
    }


def work_form(due: Due) -> JsonForm:
    return {
        "kind": due.kind,
        "conversation_id": due.subject,
        "state": due.state.value,
        "due_at": due.due_at.isoformat(),
        "lease_until": None if due.lease_until is None else due.lease_until.isoformat(),
        "failures": due.attempts,
        "reason": due.reason,
    }


def notification_form(told: Notification) -> JsonForm:
    return {
        "id": told.notification_id,
        "kind": told.kind,
        "about": told.about,
        "created_at": told.created_at.isoformat(),
        "read_at": None if told.read_at is None else told.read_at.isoformat(),
    }
