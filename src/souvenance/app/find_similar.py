"""Find what already says a text that a person is about to add (V4); nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from souvenance.app.browse import MemoryView, views_of
from souvenance.app.drafts import is_notebook
from souvenance.app.kit import Kit
from souvenance.app.remember import check_scope, checked
from souvenance.domain.ids import BotId, MemoryId, OwnerId
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory, Scope
from souvenance.domain.policy import writes_to
from souvenance.domain.recall import Ranked, rank
from souvenance.domain.terms import terms
from souvenance.domain.text import clean
from souvenance.ports.store import Unit

_LIKE_ENOUGH = 0.5
"""The share of a text's index terms that a memory must have to be shown as like it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """A live memory, archived or not, that says the same (`equal`, M10) or has `matched` of the `asked` terms."""

    view: MemoryView
    equal: bool
    matched: int
    asked: int


async def find_similar(
    kit: Kit,
    owner_id: OwnerId,
    text: str,
    *,
    target: BotId | Scope = ACCOUNT_SCOPE,
    key: str | None = None,
    subject: str = "",
) -> tuple[Similar, ...]:
    """What the scopes hold that a bot of this scope reads: equal ones first, then the most alike, `query_hits` at most.

    `target` is a scope, or a bot whose usual scope is meant (E1). NotFound; InputError for what could not be stored.
    """
    key, text = checked(kit.limits, key, text)
    subject = clean("subject", subject, limit=kit.limits.subject_characters) if subject else ""
    words = terms(f"{key or ''} {text}", query=True)[: kit.limits.query_terms]

    def work(unit: Unit) -> tuple[Similar, ...]:
        scopes = _scopes(unit, target)
        equals = [unit.memories.equal_to(scope, text=text, key=key, subject=subject) for scope in scopes]
        equal = [found for found in equals if found is not None]
        ranked = {MemoryId(one.item): one for one in _alike(unit, kit, words, scopes)}
        there = {memory.memory_id: memory for memory in unit.memories.many(list(ranked))}
        alike = [there[memory_id] for memory_id in ranked if memory_id in there and there[memory_id] not in equal]
        listed = [*equal, *alike][: kit.limits.query_hits]
        return tuple(
            _similar(view, ranked.get(view.memory.memory_id), equal, len(words)) for view in views_of(unit, kit, listed)
        )

    return await kit.store.read(owner_id, work, label="memories.compared")


def _scopes(unit: Unit, target: BotId | Scope) -> tuple[Scope, ...]:
    """The scope itself, and the account's, which every bot but a notebook reads beside its own."""
    scope = target if isinstance(target, Scope) else writes_to(unit.bots.get(target))
    check_scope(unit, scope, keyed=True)
    return tuple(dict.fromkeys((scope, *(() if is_notebook(unit, scope) else (ACCOUNT_SCOPE,)))))


def _alike(unit: Unit, kit: Kit, words: Sequence[str], scopes: Sequence[Scope]) -> list[Ranked]:
    found = unit.index.find_memories(words, scopes=scopes)
    ranked = rank(
        found.postings,
        terms=found.terms,
        frequencies=found.frequencies,
        items=found.items,
        mean_length=found.mean_length,
        limit=kit.limits.query_most,
    )
    return [one for one in ranked if one.matched >= _LIKE_ENOUGH * one.asked]


def _similar(view: MemoryView, ranked: Ranked | None, equal: Sequence[Memory], asked: int) -> Similar:
    return Similar(
        view=view,
        equal=view.memory in equal,
        matched=0 if ranked is None else ranked.matched,
        asked=asked if ranked is None else ranked.asked,
    )
