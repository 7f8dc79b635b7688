"""Of the messages that a query found, each once: a conversation and its forks hold the same words (T4, Q1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from souvenance.domain.ids import ConversationId, MessageId

if TYPE_CHECKING:
    from souvenance.domain.conversation import Message
    from souvenance.domain.recall import Ranked
    from souvenance.ports.branches import Held
    from souvenance.ports.store import Unit


def each_once(
    unit: Unit, ranked: Sequence[Ranked], *, limit: int, asks: ConversationId | None, window_from: int
) -> list[tuple[Ranked, Message]]:
    """The best `limit`, best first: each as the conversation that asks holds it, else as the newest branch does. What
    stands in its live window, from position `window_from` on, is not brought up again from another branch.
    """
    best: dict[MessageId, tuple[Ranked, Message]] = {}
    owned: dict[MessageId, MessageId] = {}
    for start in range(0, len(ranked), 2 * limit):
        some = ranked[start : start + 2 * limit]
        if len(best) >= limit and some[0].score < _at(best, limit).score:
            break
        messages = {m.message_id: m for m in unit.messages.many([MessageId(one.item) for one in some])}
        origins = [message.origin_id for message in messages.values()]
        held = {} if asks is None else unit.branches.copies(asks, origins)
        for one in some:
            message = messages.get(MessageId(one.item))
            if message is None or _in_window(held.get(message.origin_id), window_from):
                continue
            known = best.setdefault(message.origin_id, (one, message))
            if message.message_id > known[1].message_id:
                best[message.origin_id] = (known[0], message)
        owned |= {origin: one.message_id for origin, one in held.items()}
    return _as_held(unit, list(best.values())[:limit], owned)


def _at(best: dict[MessageId, tuple[Ranked, Message]], limit: int) -> Ranked:
    return list(best.values())[limit - 1][0]


def _in_window(held: Held | None, window_from: int) -> bool:
    return held is not None and held.position >= window_from


def _as_held(
    unit: Unit, found: Sequence[tuple[Ranked, Message]], owned: dict[MessageId, MessageId]
) -> list[tuple[Ranked, Message]]:
    """The same, those that the conversation that asks has a copy of as that copy."""
    others = [own for _, m in found if (own := owned.get(m.origin_id, m.message_id)) != m.message_id]
    copies = {message.origin_id: message for message in unit.messages.many(others)} if others else {}
    return [(ranked, copies.get(message.origin_id, message)) for ranked, message in found]
