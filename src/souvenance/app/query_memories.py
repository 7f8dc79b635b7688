"""Find memories, and past messages where asked and allowed (Q1, Q5): journey 3."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from souvenance.app.each_once import each_once
from souvenance.app.rooms import in_room, known_scopes
from souvenance.domain.ids import ConversationId, MemoryId, OwnerId
from souvenance.domain.recall import Ranked, rank
from souvenance.domain.terms import terms
from souvenance.domain.text import clean
from souvenance.errors import BadValue
from souvenance.ports.store import Unit

if TYPE_CHECKING:
    from souvenance.app.kit import Kit
    from souvenance.domain.conversation import Message
    from souvenance.domain.memory import Evidence, Memory, Scope
    from souvenance.ports.memories import ChatsWith, Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What to look for. `scopes` None means all but single conversations', an empty tuple is an error; messages from
    position `leave_out_from` of conversation `leave_out` on are left out, since its live window holds them. `chats`
    None means messages of all conversations that may be found, which only a person may ask for (K1).
    """

    text: str
    scopes: tuple[Scope, ...] | None = None
    messages: bool = False
    chats: ChatsWith | None = None
    limit: int | None = None
    leave_out: ConversationId | None = None
    leave_out_from: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHit:
    """`why` names what led to it, such as `terms 2/3`: two of the query's three index terms."""

    memory: Memory
    evidence: tuple[Evidence, ...]
    score: float
    why: tuple[str, ...]
    archived: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageHit:
    message: Message
    score: float
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """Best first. `legs` says of each way of looking whether it came through."""

    memories: tuple[MemoryHit, ...] = ()
    messages: tuple[MessageHit, ...] = ()
    legs: Mapping[str, str] = field(default_factory=dict)


Read = Callable[[Callable[[Unit], Hits]], Awaitable[Hits]]


async def query_memories(kit: Kit, owner_id: OwnerId, query: Query, *, read: Read | None = None) -> Hits:
    """The memories and messages that fit the words of `query`; the same store gives the same hits in the same order.

    `read` runs the one read, where it is not to be done on the store as it stands.
    """
    text = clean("text", query.text, limit=kit.limits.message_characters)
    if query.scopes is not None and not query.scopes:
        raise BadValue("scopes", value=[], expected="at least one scope, or none given for all")
    limit = _limit(kit, query.limit)
    words = terms(text, query=True)[: kit.limits.query_terms]
    if read is not None:
        return await read(lambda unit: _find(unit, kit, query, words, limit))
    return await kit.store.read(owner_id, lambda unit: _find(unit, kit, query, words, limit), label="memories.queried")


def _limit(kit: Kit, asked: int | None) -> int:
    most = kit.limits.query_most
    limit = kit.limits.query_hits if asked is None else asked
    if not 1 <= limit <= most:
        raise BadValue("limit", value=limit, expected=f"a number from 1 to {most}")
    return limit


def _find(unit: Unit, kit: Kit, query: Query, words: Sequence[str], limit: int) -> Hits:
    scopes = known_scopes(unit, kit) if query.scopes is None else query.scopes
    ranked = _ranked(unit.index.find_memories(words, scopes=scopes), limit)
    memories = {m.memory_id: m for m in unit.memories.many([MemoryId(r.item) for r in ranked])}
    evidence = unit.memories.evidence(list(memories))
    room = in_room(unit, kit, {m.scope for m in memories.values()})
    return Hits(
        memories=tuple(
            MemoryHit(
                memory=memories[MemoryId(r.item)],
                evidence=evidence[MemoryId(r.item)],
                score=r.score,
                why=(_why(r),),
                archived=not room(memories[MemoryId(r.item)]),
            )
            for r in ranked
            if r.item in memories
        ),
        messages=_messages(unit, query, words, limit) if query.messages else (),
        legs={"words": "ok"},
    )


def _messages(unit: Unit, query: Query, words: Sequence[str], limit: int) -> tuple[MessageHit, ...]:
    found = unit.index.find_messages(
        words,
        conversation_id=None,
        leave_out=query.leave_out,
        leave_out_from=query.leave_out_from,
        chats=query.chats,
    )
    ranked = _ranked(found, len(found.postings))
    best = each_once(unit, ranked, limit=limit, asks=query.leave_out, window_from=query.leave_out_from)
    return tuple(MessageHit(message=message, score=r.score, why=(_why(r),)) for r, message in best)


def _ranked(found: Found, limit: int) -> list[Ranked]:
    return rank(
        found.postings,
        terms=found.terms,
        frequencies=found.frequencies,
        items=found.items,
        mean_length=found.mean_length,
        limit=limit,
    )


def _why(ranked: Ranked) -> str:
    return f"terms {ranked.matched}/{ranked.asked}"
