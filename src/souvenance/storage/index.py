"""The text index: postings of one owner's memories and messages, whose terms are keyed hashes (HOUSE 11).

An item is known by a small number within its owner and kind; a posting is a term and that number. What else ranking
needs, how often a term stands in an item and how long that is, comes from the item's own list of hashes.

To find is three statements: the owner's totals, how many items hold each term, and the candidates with their lists.
Terms that stand in very many items would cost as much as the owner has items, so the rarer ones choose the candidates:
from the rarest on, as many terms as stand in `CANDIDATES` items together. When the rarest alone stands in more, the
newest items by number are taken. The same rows and the same choice on both databases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from struct import pack, unpack
from typing import Any, NamedTuple

from sqlalchemy import CompoundSelect, Select, SmallInteger, bindparam, delete, func, insert, not_, or_, select, union
from sqlalchemy.dialects.postgresql import insert as upsert

from souvenance.domain.ids import ConversationId
from souvenance.domain.memory import Scope
from souvenance.domain.recall import Posting
from souvenance.ports.memories import ChatsWith, Found, Kind
from souvenance.storage.batches import batches
from souvenance.storage.memory_rows import LIVE
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import conversations, index_items, index_totals, memories, messages, postings

CANDIDATES = 1_000
"""Items that are scored for one query, at most."""

CHOOSING = 32
"""Terms that choose them, at most (SQLite merges no more than 500 ranges)."""

_NUMBERS = {Kind.MEMORY: 1, Kind.MESSAGE: 2}
"""As kinds stand in these tables."""

_PUT, _PUT_POSTINGS = insert(index_items), insert(postings)
_OF = bindparam("of", type_=SmallInteger)
_REMOVE = (
    delete(index_items)
    .where(owned(index_items), index_items.c.kind == _OF, index_items.c.item.in_(bindparam("items", expanding=True)))
    .returning(index_items.c.item, index_items.c.number, index_items.c.terms)
)
_TERMS = select(index_items.c.item, index_items.c.terms).where(
    owned(index_items), index_items.c.kind == _OF, index_items.c.item.in_(bindparam("items", expanding=True))
)
_REMOVE_POSTING = delete(postings).where(
    owned(postings),
    postings.c.kind == _OF,
    postings.c.term == bindparam("gone"),
    postings.c.number == bindparam("at"),
)
_MORE = upsert(index_totals)
_COUNT = _MORE.on_conflict_do_update(
    index_elements=["owner_id", "kind"],
    set_={name: index_totals.c[name] + _MORE.excluded[name] for name in ("last", "items", "length")},
).returning(index_totals.c["last"])
_TOTALS = select(index_totals.c["items"].label("number"), index_totals.c.length).where(
    owned(index_totals), index_totals.c.kind == _OF
)
_FREQUENCIES = (
    select(postings.c.term, func.count().label("found"))
    .where(owned(postings), postings.c.kind == _OF, postings.c.term.in_(bindparam("terms", expanding=True)))
    .group_by(postings.c.term)
)
# Looked up for each posting in turn, as values: of joins and EXISTS a planner makes joins in an order of its own, which
# while PostgreSQL has no statistics of an owner may compare all of their items with all of their messages.
_ITEM = (
    select(index_items.c.item)
    .where(owned(index_items), index_items.c.kind == _OF, index_items.c.number == postings.c.number)
    .correlate(postings)
    .scalar_subquery()
)
_OF_MEMORIES = select(memories.c.memory_id).where(
    owned(memories), memories.c.memory_id == _ITEM, LIVE, memories.c.scope.in_(bindparam("scopes", expanding=True))
)
_OF_MESSAGES = select(messages.c.message_id).where(owned(messages), messages.c.message_id == _ITEM, messages.c.chosen)
_THEIR_CHAT = select(conversations.c.conversation_id).where(
    owned(conversations), conversations.c.conversation_id == messages.c.conversation_id
)
# Of conversations that are not found from elsewhere (section 6), only the one that was asked for by its id.
_FINDABLE = not_(
    or_(conversations.c.challenge, conversations.c.gateway, conversations.c.anonymous, conversations.c.temporary)
)
# In these (K1); a None of Python would be compared as a value, and NULL equals nothing.
_OF_CHATS = {True: conversations.c.bot_id == bindparam("bot"), False: conversations.c.bot_id.is_(None)}
_WITHIN = messages.c.conversation_id == bindparam("within")
_LEFT_OUT = (messages.c.conversation_id == bindparam("left_out")) & (messages.c.position >= bindparam("left_out_from"))


class _Entry(NamedTuple):
    """What is held of one item: its number, and the hashes of its terms, repeats too."""

    number: int
    terms: tuple[int, ...]


class SqlIndex(Repository):
    """`ports.memories.Index`."""

    __slots__ = ()

    def put(self, kind: Kind, item: str, terms: Sequence[str]) -> None:
        self._put(kind, {item: terms}, old=self._removed(kind, [item]))

    def put_new(self, kind: Kind, items: Mapping[str, Sequence[str]]) -> None:
        for some in batches(list(items.items())):
            self._put(kind, dict(some), old={})

    def copy(self, kind: Kind, copies: Mapping[str, str]) -> None:
        for some in batches(list(copies)):
            rows = self._rows(_TERMS, of=_NUMBERS[kind], items=some)
            self._put_hashes(kind, {copies[row.item]: _unpacked(row.terms) for row in rows}, old={})

    def missing(self, kind: Kind, items: Sequence[str]) -> set[str]:
        of = _NUMBERS[kind]
        there = {row.item for some in batches(items) for row in self._rows(_TERMS, of=of, items=some)}
        return set(items) - there

    def remove(self, kind: Kind, item: str) -> None:
        self.remove_all(kind, [item])

    def remove_all(self, kind: Kind, items: Sequence[str]) -> None:
        """As `remove`, for many at once."""
        self._count(kind, {}, old=self._removed(kind, items))

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
        of = _NUMBERS[kind]
        totals = self._row(_TOTALS, of=of)
        found = {row.term: row.found for row in self._rows(_FREQUENCIES, of=of, terms=hashes)} if hashes else {}
        rare = {f"rare_{number}": term for number, term in enumerate(rarest(found))}
        rows = self._rows(statement(len(rare)), of=of, **rare, **values) if rare else []
        return Found(
            postings=tuple(_postings(rows, found)),
            terms=hashes,
            frequencies=tuple(found.get(term, 0) for term in hashes),
            items=totals.number if totals else 0,
            mean_length=totals.length / totals.number if totals and totals.number else 0.0,
        )

    def _put(self, kind: Kind, new: Mapping[str, Sequence[str]], *, old: Mapping[str, _Entry]) -> None:
        """Write items that have no rows; one that takes the place of an `old` one keeps its number."""
        hashed = cache(self._term)
        self._put_hashes(kind, {item: sorted(map(hashed, terms)) for item, terms in new.items() if terms}, old=old)

    def _put_hashes(self, kind: Kind, hashes: Mapping[str, Sequence[int]], *, old: Mapping[str, _Entry]) -> None:
        last = self._count(kind, hashes, old=old)
        unused = iter(range(last - len(hashes.keys() - old.keys()) + 1, last + 1))
        numbers = {item: old[item].number if item in old else next(unused) for item in hashes}
        of = _NUMBERS[kind]
        rows = [{"kind": of, "item": item, "number": numbers[item], "terms": _packed(hashes[item])} for item in hashes]
        self._insert(_PUT, rows)
        # In the order of the key, so that many new rows fill each page at once.
        keys = sorted((term, numbers[item]) for item in hashes for term in set(hashes[item]))
        self._insert(_PUT_POSTINGS, [{"kind": of, "term": term, "number": number} for term, number in keys])

    def _removed(self, kind: Kind, items: Sequence[str]) -> dict[str, _Entry]:
        """Those that were there."""
        of = _NUMBERS[kind]
        gone = {
            row.item: _Entry(number=row.number, terms=_unpacked(row.terms))
            for some in batches(items)
            for row in self._rows(_REMOVE, of=of, items=some)
        }
        keys = [
            {"of": of, "gone": term, "at": entry.number, "owner": self._owner_id}
            for entry in gone.values()
            for term in set(entry.terms)
        ]
        if keys:
            self._connection.execute(_REMOVE_POSTING, keys)
        return gone

    def _count(self, kind: Kind, new: Mapping[str, Sequence[int]], *, old: Mapping[str, _Entry]) -> int:
        """Count the `new` instead of the `old`; returns the number that the last item was given, if any is needed."""
        change = {
            "last": len(new.keys() - old.keys()),
            "items": len(new) - len(old),
            "length": sum(map(len, new.values())) - sum(len(entry.terms) for entry in old.values()),
        }
        if not any(change.values()):
            return 0
        last: int = self._write(_COUNT, kind=_NUMBERS[kind], **change).scalar_one()
        return last

    def _term(self, term: str) -> int:
        return self._hash.number(term, "term")


def _packed(terms: Sequence[int]) -> bytes:
    return pack(f">{len(terms)}q", *terms)


def _unpacked(terms: bytes) -> tuple[int, ...]:
    return unpack(f">{len(terms) // 8}q", terms)


def _postings(rows: Iterable[Sequence[Any]], asked: Mapping[int, int]) -> Iterator[Posting]:
    """Of the `asked` terms in the items of these rows."""
    for item, packed in rows:
        terms = _unpacked(packed)
        for term, times in Counter(filter(asked.__contains__, terms)).items():
            yield Posting(term, item, times, len(terms))


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
    return _found(_OF_MEMORIES, terms)


@lru_cache(maxsize=256)
def _in_messages(terms: int, *, within: bool, leaving_out: bool, of_a_bot: bool | None) -> Select[Any]:
    """`of_a_bot` None: of all; False: of bare models."""
    chat = _THEIR_CHAT if within else _THEIR_CHAT.where(_FINDABLE)
    if of_a_bot is not None:
        chat = chat.where(_OF_CHATS[of_a_bot])
    readable = _OF_MESSAGES.where(chat.correlate(messages).scalar_subquery().is_not(None))
    if within:
        readable = readable.where(_WITHIN)
    return _found(readable.where(not_(_LEFT_OUT)) if leaving_out else readable, terms)


def _found(readable: Select[Any], terms: int) -> Select[Any]:
    """The candidates, which `terms` rare terms choose, each with all of its terms."""
    candidates = _candidates(readable, terms).subquery("candidates")
    theirs = (owned(index_items), index_items.c.kind == _OF, index_items.c.number == candidates.c.number)
    return select(
        *(select(index_items.c[name]).where(*theirs).scalar_subquery().label(name) for name in ("item", "terms"))
    ).select_from(candidates)


def _candidates(readable: Select[Any], terms: int) -> CompoundSelect[Any]:
    """The newest items, merged from the ranges of the terms, each of which is in the order of its items already."""
    readable_one = readable.correlate(postings).scalar_subquery().is_not(None)
    ranges = [
        select(postings.c.number).where(
            owned(postings), postings.c.kind == _OF, postings.c.term == bindparam(f"rare_{number}"), readable_one
        )
        for number in range(terms)
    ]
    merged = union(*ranges)
    return merged.order_by(merged.selected_columns.number.desc()).limit(CANDIDATES)
