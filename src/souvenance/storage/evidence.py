"""Evidence as JSON, in rows of memories and in the journal: `[[microseconds since 1970, conversation, message], …]`."""

from __future__ import annotations

import json
from typing import TypeAlias

from souvenance.domain.ids import ConversationId, MessageId
from souvenance.domain.memory import Evidence
from souvenance.errors import StoreError
from souvenance.storage.columns import moment_of, moment_to

Source: TypeAlias = list[int | str | None]


def sources_of(evidence: tuple[Evidence, ...]) -> list[Source]:
    """The evidence as plain values for JSON."""
    return [[moment_to(one.at), one.conversation_id, one.message_id] for one in evidence]


def evidence_of(sources: object) -> tuple[Evidence, ...]:
    """The evidence that plain values from JSON stand for. Raises StoreError for anything else."""
    if not isinstance(sources, list):
        raise StoreError(f"Evidence is stored as {type(sources).__name__}, not as a list.")
    return tuple(_one(source) for source in sources)


def written(evidence: tuple[Evidence, ...]) -> str:
    return json.dumps(sources_of(evidence), separators=(",", ":")) if evidence else "[]"


def read(stored: str) -> tuple[Evidence, ...]:
    return () if stored == "[]" else evidence_of(json.loads(stored))


def _one(source: object) -> Evidence:
    match source:
        case [int(micros), (str() | None) as conversation, (str() | None) as message]:
            return Evidence(
                at=moment_of(micros),
                conversation_id=None if conversation is None else ConversationId(conversation),
                message_id=None if message is None else MessageId(message),
            )
    raise StoreError(f"A source of a memory is stored with {len(source) if isinstance(source, list) else 'no'} fields.")
