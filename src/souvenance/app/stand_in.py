"""One answer standing in for another: what a new one replaces, and what goes and comes with either (T1, T3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from souvenance.app.kit import Kit
from souvenance.app.mark_stale import mark_stale
from souvenance.app.open_turn import OpenedTurn
from souvenance.app.undo_writes import undo_writes
from souvenance.domain.conversation import Message, MessageState, Role
from souvenance.domain.ids import OwnerId
from souvenance.ports.store import Unit

T = TypeVar("T")


def left_by(opened: OpenedTurn, earlier: Sequence[Message]) -> list[Message]:
    """The answers of this turn that the new one stands in for: those that a person asked for again, else one that was
    cut off, and one that waited for results of the client's own tools when the client asks from the start again. What
    this speaker heard stays, and so does what it only goes on with.
    """
    said = [m for m in earlier if m.chosen and m.role is Role.BOT]
    if opened.continues is not None:
        return []
    if opened.replaces:
        return [m for m in said if m.message_id in opened.replaces]
    heard = {m.message_id for m in opened.heard}
    return [m for m in said if m.message_id not in heard and (m.state is MessageState.CUT_OFF or not opened.goes_on)]


def exchange(unit: Unit, *, leaves: Sequence[Message], comes: Sequence[Message], now: datetime) -> None:
    """Choose these messages instead of those: the writes of those that leave are revoked, those of the ones that come
    stand again, every memory that either touched is folded anew, and summary nodes over either are stale (T3, S9).
    """
    for message in leaves:
        unit.messages.save(replace(message, chosen=False))
    for message in comes:
        unit.messages.save(replace(message, chosen=True))
    if leaves or comes:
        mark_stale(unit, [*leaves, *comes], now)
        undo_writes(unit, [m.origin_id for m in (*leaves, *comes)], now)


async def see(kit: Kit, owner_id: OwnerId, opened: OpenedTurn, work: Callable[[Unit], T], *, label: str) -> T:
    """What `work` reads, as this attempt is to see the world: as if what the answer stands in for had never been chosen
    and had written nothing (T1). Nothing is changed.
    """
    if opened.turn.attempt == 1 or opened.continues is not None:
        return await kit.store.read(owner_id, work, label=label)
    now = kit.clock.now()

    def as_if_taken_back(unit: Unit) -> T:
        unit.owners.hold()
        unit.conversations.lock(opened.conversation.conversation_id)
        left = left_by(opened, unit.messages.of_turn(opened.turn.turn_id))
        exchange(unit, leaves=left, comes=(), now=now)
        return work(unit)

    return await kit.store.rehearse(owner_id, as_if_taken_back, label=label)
