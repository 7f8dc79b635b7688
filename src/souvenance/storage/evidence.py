"""Evidence: a row for each source of each operation, so that a memory said often stays as cheap to read (M4, Z3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy import bindparam, insert, not_, select

from souvenance.domain.ids import ConversationId, MemoryId
from souvenance.domain.journal import Operation, content_of
from souvenance.domain.memory import Evidence
from souvenance.storage.batches import batches
from souvenance.storage.blanks import blank_of
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import evidence, operations

_OF_THESE = evidence.c.memory_id.in_(bindparam("ids", expanding=True))
_PUT = insert(evidence)
_SAID = (
    select(evidence.c.place, evidence.c.conversation_id, evidence.c.message_id, evidence.c.at)
    .where(owned(evidence), _OF_THESE)
    .order_by(evidence.c.memory_id, evidence.c.place, evidence.c.number)
)
_BY_WHAT_STANDS = (operations.c.place == evidence.c.place, owned(operations), not_(operations.c.revoked))
_STANDING = (
    select(evidence.c.memory_id, evidence.c.conversation_id, evidence.c.message_id, evidence.c.at)
    .where(owned(evidence), _OF_THESE, *_BY_WHAT_STANDS)
    .order_by(evidence.c.memory_id, evidence.c.place, evidence.c.number)
)
_DRAWN_FROM = (
    select(evidence.c.memory_id)
    .where(owned(evidence), evidence.c.conversation_id == bindparam("conversation"), _OF_THESE, *_BY_WHAT_STANDS)
    .distinct()
)
_EVER_DRAWN_FROM = (
    select(evidence.c.memory_id)
    .where(owned(evidence), evidence.c.conversation_id == bindparam("conversation"))
    .distinct()
)

_Blank = blank_of(Evidence)


class SqlEvidence(Repository):
    """The sources that the journal's operations brought."""

    __slots__ = ()

    def put_all(self, operations: Sequence[Operation]) -> None:
        rows = [
            {
                "memory_id": operation.memory_id,
                "place": operation.place,
                "number": number,
                "conversation_id": one.conversation_id,
                "message_id": one.message_id,
                "at": one.at,
            }
            for operation in operations
            if (content := content_of(operation.intent)) is not None
            for number, one in enumerate(content.evidence)
        ]
        self._insert(_PUT, rows)

    def by_place(self, memory_ids: Sequence[MemoryId]) -> dict[int, tuple[Evidence, ...]]:
        """What each operation of these memories brought, revoked or not; an operation without sources is left out."""
        found: defaultdict[int, list[Evidence]] = defaultdict(list)
        for row in self._tuples(_SAID, ids=memory_ids):
            place, one = _of(row)
            found[place].append(one)
        return {place: tuple(sources) for place, sources in found.items()}

    def standing(self, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, tuple[Evidence, ...]]:
        """`domain.journal.standing_evidence` of each of these memories."""
        found: dict[MemoryId, list[Evidence]] = {memory_id: [] for memory_id in memory_ids}
        for some in batches(list(found)):
            for row in self._tuples(_STANDING, ids=some):
                memory_id, one = _of(row)
                found[memory_id].append(one)
        return {
            memory_id: tuple(sources if len(sources) < 2 else dict.fromkeys(sources))
            for memory_id, sources in found.items()
        }

    def drawn_in(self, conversation_id: ConversationId) -> list[MemoryId]:
        return sorted(row.memory_id for row in self._rows(_EVER_DRAWN_FROM, conversation=conversation_id))

    def drawn_from(self, conversation_id: ConversationId, memory_ids: Sequence[MemoryId]) -> set[MemoryId]:
        return {
            row.memory_id
            for some in batches(memory_ids)
            for row in self._rows(_DRAWN_FROM, conversation=conversation_id, ids=some)
        }


def _of(row: Sequence[Any]) -> tuple[Any, Evidence]:
    """Whose source it is, and the source."""
    e = _Blank()
    whose, e.conversation_id, e.message_id, e.at = row
    e.__class__ = Evidence
    return whose, cast(Evidence, e)
