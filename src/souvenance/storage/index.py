"""The text index: postings of one owner's memories and messages, whose terms are keyed hashes (HOUSE 11).

To find is three statements: the owner's totals, how many items hold each term, and the postings. Terms that stand in
very many items would cost as much as the owner has items, so the rarer ones choose the candidates: from the rarest on,
as many terms as stand in `CANDIDATES` items together; of the others only the candidates' postings are read. When the
rarest alone stands in more, the newest items by id are taken. The same rows and the same choice on both databases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from sqlalchemy import CompoundSelect, Select, bindparam, delete, func, insert, not_, or_, select, union
from sqlalchemy.dialects.postgresql import insert as upsert

from souvenance.domain.ids import ConversationId
from souvenance.domain.memory import Scope
from souvenance.domain.recall import Posting
from souvenance.ports.memories import ChatsWith, Found, Kind
from souvenance.storage.batches import batches
from souvenance.storage.memory_rows import LIVE
from souvenance.storage.repository import OWNER, Repository, owned
from souvenance.storage.schema import conversations, index_totals, memories, messages, postings

CANDIDATES = 1_000
"""Items that are scored for one query, at most."""

CHOOSING = 32
"""Terms that choose them, at most (SQLite merges no more than 500 ranges)."""

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
# Asked of each posting in turn: as joins, planners may begin with all messages to spare themselves the sorting.
_OF_MEMORIES = select(memories.c.memory_id).where(
    owned(memories),
    memories.c.memory_id == postings.c.item,
    LIVE,
    memories.c.scope.in_(bindparam("scopes", expanding=True)),
)
_OF_MESSAGES = (
    select(messages.c.message_id)
    .join_from(messages, conversations, conversations.c.conversation_id == messages.c.conversation_id)
    .where(owned(messages), messages.c.message_id == postings.c.item, messages.c.chosen, owned(conversations))
)
# Of conversations that are not found from elsewhere (section 6), only the one that was asked for by its id.
_FINDABLE = not_(
    or_(conversations.c.challenge, conversations.c.gateway, conversations.c.anonymous, conversations.c.temporary)
)
# In these (K1); a None of Python would be compared as a value, and NULL equals nothing.
_OF_CHATS = {True: conversations.c.bot_id == bindparam("bot"), False: conversations.c.bot_id.is_(None)}
_WITHIN = messages.c.conversation_id == bindparam("within")
_LEFT_OUT = (messages.c.conversation_id == bindparam("left_out")) & (messages.c.position >= bindparam("left_out_from"))


class SqlIndex(Repository):
    """`ports.memories.Index`."""

    __slots__ = ()

    def put(self, kind: Kind, item: str, terms: Sequence[str]) -> None:
        gone = self._removed(kind, [item])
        self._put({item: terms}, kind, items=-len(gone), length=-sum(gone.values()))

    def put_new(self, kind: Kind, items: Mapping[str, Sequence[str]]) -> None:
        self._put(items, kind, items=0, length=0)

    def _put(self, new: Mapping[str, Sequence[str]], kind: Kind, *, items: int, length: int) -> None:
        """Write the postings of items that have none; `items` and `length` are what the totals change by besides."""
        rows = [
            {"kind": kind, "term": self._term(term), "item": item, "frequency": times, "length": len(terms)}
            for item, terms in new.items()
            for term, times in Counter(terms).items()
        ]
        self._insert(insert(postings), rows)
        self._count(kind, items=items + sum(map(bool, new.values())), length=length + sum(map(len, new.values())))

    def remove(self, kind: Kind, item: str) -> None:
        self.remove_all(kind, [item])

    def remove_all(self, kind: Kind, items: Sequence[str]) -> None:
        """As `remove`, for many at once."""
        gone = self._removed(kind, items)
        self._count(kind, items=-len(gone), length=-sum(gone.values()))

    def find_memories(self, terms: Sequence[str], *, scopes: Sequence[Scope]) -> Found:
        return self._find(Kind.MEMORY, terms, _in_memories, {"scopes": [scope.key for scope in scopes]})

    def find_messages(
        self,
        terms: Sequence[str],
        *,
        conversation_id: ConversationId | None,
        leave_out: ConversationId | None,
        leave_out_from: int,
        chats: ChatsWith | None = None,
    ) -> Found:
        statement = partial(
            _in_messages,
            within=conversation_id is not None,
            leaving_out=leave_out is not None,
            of_a_bot=None if chats is None else chats.bot_id is not None,
        )
        bot_id = None if chats is None else chats.bot_id
        values = {"within": conversation_id, "left_out": leave_out, "left_out_from": leave_out_from, "bot": bot_id}
        return self._find(Kind.MESSAGE, terms, statement, values)

    def _find(
        self, kind: Kind, terms: Sequence[str], statement: Callable[[int], Select[Any]], values: dict[str, Any]
    ) -> Found:
        hashes = tuple(dict.fromkeys(map(self._term, terms)))
        totals = self._row(_TOTALS, of=kind)
        found = {row.term: row.found for row in self._rows(_FREQUENCIES, of=kind, terms=hashes)} if hashes else {}
        rare = {f"rare_{number}": term for number, term in enumerate(rarest(found))}
        rows = self._rows(statement(len(rare)), of=kind, terms=list(found), **rare, **values) if rare else []
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
    """The terms that choose the candidates: from the rarest on, while they stand in CANDIDATES items; at least one,
    at most CHOOSING.
    """
    chosen: list[int] = []
    room = CANDIDATES
    for term in sorted(found, key=lambda term: (found[term], term))[:CHOOSING]:
        room -= found[term]
        if chosen and room < 0:
            break
        chosen.append(term)
    return chosen


@lru_cache(maxsize=64)
def _in_memories(terms: int) -> Select[Any]:
    return _postings_of(_OF_MEMORIES, terms)


@lru_cache(maxsize=256)
def _in_messages(terms: int, *, within: bool, leaving_out: bool, of_a_bot: bool | None) -> Select[Any]:
    """`of_a_bot` None: of all; False: of bare models."""
    readable = _OF_MESSAGES.where(_WITHIN if within else _FINDABLE)
    if of_a_bot is not None:
        readable = readable.where(_OF_CHATS[of_a_bot])
    return _postings_of(readable.where(not_(_LEFT_OUT)) if leaving_out else readable, terms)


def _postings_of(readable: Select[Any], terms: int) -> Select[Any]:
    """The postings of all the query's terms in the candidates, which `terms` rare terms choose."""
    candidates = _candidates(readable, terms).subquery("candidates")
    theirs = postings.alias("theirs")
    return (
        select(theirs.c.term, theirs.c.item, theirs.c.frequency, theirs.c.length)
        .join_from(candidates, theirs, theirs.c.item == candidates.c.item)
        .where(
            theirs.c.owner_id == OWNER,
            theirs.c.kind == bindparam("of"),
            theirs.c.term.in_(bindparam("terms", expanding=True)),
        )
    )


def _candidates(readable: Select[Any], terms: int) -> CompoundSelect[Any]:
    """The newest items, merged from the ranges of the terms, each of which is in the order of its items already."""
    ranges = [
        select(postings.c.item).where(
            owned(postings),
            postings.c.kind == bindparam("of"),
            postings.c.term == bindparam(f"rare_{number}"),
            readable.exists(),
        )
        for number in range(terms)
    ]
    merged = union(*ranges)
    return merged.order_by(merged.selected_columns.item.desc()).limit(CANDIDATES)
