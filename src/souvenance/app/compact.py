"""One step of a conversation's summary: decided from what is stored, done outside a transaction, committed with its
own end (S1–S5, S9; HOUSE, journey 2).
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from souvenance.app.due_work import Stepped, Work, end_step
from souvenance.app.kit import Kit
from souvenance.app.look_at_summary import Looked, look_at_summary
from souvenance.app.refresh_node import refresh_node
from souvenance.app.roll_up import roll_up
from souvenance.app.summarise_batch import summarise_batch
from souvenance.domain.due import Due
from souvenance.domain.tiers import Condense, Fold, Merge, Refresh, Rest, Summarise, next_step
from souvenance.ports.store import Unit


async def compact(kit: Kit, due: Due) -> Stepped:
    """Do what the conversation's summary needs next; what fails leaves the tier below as it is and the work due.

    Raises LeaseLost when another worker has taken it over, SummaryMoved when what was summarised has changed meanwhile
    (nothing is kept, and it is due again), UnusableSummary, and what models raise.
    """
    looked = await look_at_summary(kit, due)
    if looked is None:
        return await rest(kit, due, "the conversation is gone")
    return await _step(kit, due, looked)


async def _step(kit: Kit, due: Due, looked: Looked) -> Stepped:
    # A compaction that has begun goes on to its end; mending begins none (W6).
    standing = replace(looked.standing, going_on=due.kind == Work.SUMMARY, retried=due.attempts > 0)
    match next_step(standing, kit.limits):
        case Summarise() as batch:
            return await summarise_batch(kit, due, looked, batch)
        case Merge() | Fold() | Condense() as upward:
            return await roll_up(kit, due, looked, upward)
        case Refresh(node=node):
            return await refresh_node(kit, due, looked, node)
        case Rest(reason=reason):
            return await rest(kit, due, reason)
        case never:
            assert_never(never)


async def rest(kit: Kit, due: Due, reason: str) -> Stepped:
    """End a piece of which nothing is left to do."""
    now = kit.clock.now()

    def work(unit: Unit) -> None:
        end_step(unit, due, more=False, at=now)

    await kit.store.write(due.owner_id, work, label="work.rested")
    return Stepped(reason=reason)
