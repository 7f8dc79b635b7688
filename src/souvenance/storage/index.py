"""The text index: postings of one owner's memories and messages, whose terms are keyed hashes (HOUSE 11).

To find is three statements: the owner's totals, how many items hold each term, and the postings. Terms that stand in
very many items would cost as much as the owner has items, so the rarer ones choose the candidates: from the rarest on,
as many terms as stand in `CANDIDATES` items together; of the others only the candidates' postings are read. When the
rarest alone stands in more, the newest items by id are taken. The same rows and the same choice on both databases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, delete, func, insert, not_, or_, select
from sqlalchemy.dialects.postgresql import insert as upsert

from souvenance.domain.ids import ConversationId
from souvenance.domain.memory import Scope
from souvenance.domain.recall import Posting
from souvenance.ports.memories import Found, Kind
from souvenance.storage.batches import batches
from souvenance.storage.memory_rows import LIVE
from souvenance.storage.repository import OWNER, Repository, owned
from souvenance.storage.schema import conversations, index_totals, memories, messages, postings

CANDIDATES = 1_000
"""Items that are scored for one query, at most."""

_REMOVE = (
    delete(postings)
    .where(owned(postings), postings.c.kind == bindparam("of"), postings.c.item.in_(bindparam("items", expanding=True)))
    .returning(postings.c.item, postings.c.length)
)
_MORE = upsert(index_totals)
_COUNT = _MORE.on_conflict_do_update(
    index_elements=["owner_id", "kind"],
    set_={name: index_totals.c[name] + _MORE.excluded[name] for name in ("items", "length")},
)
_TOTALS = select(index_totals.c["items"].label("number"), index_totals.c.length).where(
    owned(index_totals), index_totals.c.kind == bindparam("of")
)
_FREQUENCIES = (
    select(postings.c.term, func.count().label("found"))
    .where(owned(postings), postings.c.kind == bindparam("of"), postings.c.term.in_(bindparam("terms", expanding=True)))
    .group_by(postings.c.term)
)
_CHOOSING = (
    select(postings.c.item)
    .distinct()
    .where(owned(postings), postings.c.kind == bindparam("of"), postings.c.term.in_(bindparam("rare", expanding=True)))
    .order_by(postings.c.item.desc())
    .limit(CANDIDATES)
)
_OF_MEMORIES = _CHOOSING.join(memories, memories.c.memory_id == postings.c.item).where(
    owned(memories), LIVE, memories.c.scope.in_(bindparam("scopes", expanding=True))
)
_OF_MESSAGES = (
    _CHOOSING.join(messages, messages.c.message_id == postings.c.item)
    .join(conversations, conversations.c.conversation_id == messages.c.conversation_id)
    .where(owned(messages), owned(conversations), messages.c.chosen)
)
_FINDABLE = not_(
    or_(conversations.c.challenge, conversations.c.gateway, conversations.c.anonymous, conversations.c.temporary)
)


class SqlIndex(Repository):
    """`ports.memories.Index`."""

    __slots__ = ()

    def put(self, kind: Kind, item: str, terms: Sequence[str]) -> None:
        gone = self._removed(kind, [item])
        length = len(terms)
        counted = Counter(map(self._term, terms))
        rows = [
            {"kind": kind, "term": term, "item": item, "frequency": times, "length": length}
            for term, times in counted.items()
        ]
        self._insert(insert(postings), rows)
        self._count(kind, items=bool(terms) - len(gone), length=length - sum(gone.values()))

    def remove(self, kind: Kind, item: str) -> None:
        self.remove_all(kind, [item])

    def remove_all(self, kind: Kind, items: Sequence[str]) -> None:
        """As `remove`, for many at once."""
        gone = self._removed(kind, items)
        self._count(kind, items=-len(gone), length=-sum(gone.values()))

    def find_memories(self, terms: Sequence[str], *, scopes: Sequence[Scope]) -> Found:
        return self._find(Kind.MEMORY, terms, _OF_MEMORIES, scopes=[scope.key for scope in scopes])

    def find_messages(
        self,
        terms: Sequence[str],
        *,
        conversation_id: ConversationId | None,
        leave_out: ConversationId | None,
        leave_out_from: int,
    ) -> Found:
        # Of conversations that are not found from elsewhere (section 6), only the one that was asked for by its id.
        asked = messages.c.conversation_id == conversation_id
        readable = _OF_MESSAGES.where(_FINDABLE if conversation_id is None else asked)
        if leave_out is not None:
            readable = readable.where(not_(_from(leave_out, leave_out_from)))
        return self._find(Kind.MESSAGE, terms, readable)

    def _find(self, kind: Kind, terms: Sequence[str], choosing: Select[Any], **values: object) -> Found:
        hashes = tuple(dict.fromkeys(map(self._term, terms)))
        totals = self._row(_TOTALS, of=kind)
        found = {row.term: row.found for row in self._rows(_FREQUENCIES, of=kind, terms=hashes)} if hashes else {}
        rare = rarest(found)
        rows = self._rows(_postings_of(choosing), of=kind, rare=rare, terms=list(found), **values) if rare else []
        return Found(
            postings=tuple(map(Posting._make, rows)),
            terms=hashes,
            frequencies=tuple(found.get(term, 0) for term in hashes),
            items=totals.number if totals else 0,
            mean_length=totals.length / totals.number if totals and totals.number else 0.0,
        )

    def _term(self, term: str) -> int:
        return self._hash.number(term, "term")

    def _removed(self, kind: Kind, items: Sequence[str]) -> dict[str, int]:
        """The lengths of those that were there."""
        gone = (row for some in batches(items) for row in self._rows(_REMOVE, of=kind, items=some))
        return {row.item: row.length for row in gone}

    def _count(self, kind: Kind, *, items: int, length: int) -> None:
        if items or length:
            self._write(_COUNT, kind=kind, items=items, length=length)


def rarest(found: Mapping[int, int]) -> list[int]:
    """The terms that choose the candidates: from the rarest on, while they stand in CANDIDATES items; at least one."""
    chosen: list[int] = []
    room = CANDIDATES
    for term in sorted(found, key=lambda term: (found[term], term)):
        room -= found[term]
        if chosen and room < 0:
            break
        chosen.append(term)
    return chosen


def _postings_of(choosing: Select[Any]) -> Select[Any]:
    """The postings of all the query's terms in the candidates."""
    candidates = choosing.subquery("candidates")
    theirs = postings.alias("theirs")
    return (
        select(theirs.c.term, theirs.c.item, theirs.c.frequency, theirs.c.length)
        .join_from(candidates, theirs, theirs.c.item == candidates.c.item)
        .where(
            theirs.c.owner_id == OWNER,
            theirs.c.kind == bindparam("of"),
            theirs.c.term.in_(bindparam("terms", expanding=True)),
        )
        .order_by(theirs.c.item.desc(), theirs.c.term)
    )


def _from(conversation_id: ConversationId, position: int) -> ColumnElement[bool]:
    return (messages.c.conversation_id == conversation_id) & (messages.c.position >= position)
