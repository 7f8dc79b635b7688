"""Make one node of several below it, or a shorter one of the long-term node (S2, S5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from souvenance.app.choose_summariser import summariser_of
from souvenance.app.due_work import Stepped, Work, end_step
from souvenance.app.kit import Kit
from souvenance.app.look_at_summary import Looked
from souvenance.app.pen import Pen, Written, spend
from souvenance.app.write_node import write_condensed, write_merged
from souvenance.domain.due import Due
from souvenance.domain.ids import NodeId
from souvenance.domain.limits import Level, Limits
from souvenance.domain.node_text import text_of, without
from souvenance.domain.summary import Item, Node, Tier
from souvenance.domain.tiers import Condense, Fold, Merge
from souvenance.ports.store import Unit

Upward = Merge | Fold | Condense


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rolled:
    due: Due
    under: tuple[Node, ...]
    node: Node
    written: Written
    now: datetime


async def roll_up(kit: Kit, due: Due, looked: Looked, step: Upward) -> Stepped:
    """Store the node above; when one below changed meanwhile, nothing of it but what it cost."""
    under = nodes_under(step)
    model = await summariser_of(kit, due, conversation=looked.conversation, bot=looked.speaker, said=looked.messages)
    pen = Pen(kit=kit, owner_id=due.owner_id, model=model, level=level_above(step, looked.level))
    written = await write_above(pen, step)
    node = node_above(kit, step, pen.level, written)
    rolled = _Rolled(due=due, under=under, node=node, written=written, now=kit.clock.now())
    return await kit.store.write(due.owner_id, lambda unit: _store(unit, rolled), label="summary.rolled_up")


def nodes_under(step: Upward) -> tuple[Node, ...]:
    return (step.node,) if isinstance(step, Condense) else step.nodes


def level_above(step: Upward, level: Level) -> Level:
    """Summaries keep their level until they are merged (W3)."""
    return step.node.level if isinstance(step, Condense) else level


async def write_above(pen: Pen, step: Upward) -> Written:
    items = [item for node in nodes_under(step) for item in without(node.items, node.stale)]
    limits = pen.kit.limits
    if isinstance(step, Condense):
        return await write_condensed(pen, items, limits.long_term_tokens(pen.level))
    return await write_merged(pen, items, _room(step, items, pen.level, limits))


def _room(step: Merge | Fold, items: Sequence[Item], level: Level, limits: Limits) -> int:
    """A fold only adds to what is there: shortening it is for the condensation (S5)."""
    if isinstance(step, Merge):
        return limits.merged_tokens(level)
    return int(limits.long_term_tokens(level) * limits.condense_share)


def node_above(kit: Kit, step: Upward, level: Level, written: Written) -> Node:
    under = nodes_under(step)
    return Node(
        node_id=NodeId(kit.ids.new("nod")),
        conversation_id=under[0].conversation_id,
        tier=Tier.MERGED if isinstance(step, Merge) else Tier.LONG_TERM,
        first=under[0].first,
        last=under[-1].last,
        level=level,
        model=written.model,
        prompt_version=written.prompt_version,
        made_at=kit.clock.now(),
        tokens=kit.tokenizer.count(text_of(written.items)),
        children=tuple(node.node_id for node in under),
        items=written.items,
    )


def _store(unit: Unit, rolled: _Rolled) -> Stepped:
    node, here = rolled.node, rolled.node.conversation_id
    unit.conversations.lock(here)
    spend(unit, Work.SUMMARY, rolled.written, rolled.now)
    end_step(unit, rolled.due, more=True, at=rolled.now)
    live = unit.summaries.live(here)
    if any(one not in live for one in rolled.under):
        return Stepped(more=True, reason="what it was made of changed meanwhile")
    unit.summaries.put(node)
    unit.summaries.set_live(here, [one.node_id for one in live if one not in rolled.under] + [node.node_id])
    return Stepped(more=True)
