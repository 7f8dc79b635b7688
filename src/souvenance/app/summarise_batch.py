"""Write a recent node for the next batch of turns (S1, S3, W6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from souvenance.app.choose_summariser import summariser_of
from souvenance.app.cut_summary import may_be_summed_up
from souvenance.app.due_work import Stepped, Work, end_step, make_due
from souvenance.app.keep_rules import Said, keep_rules, said_of_rules
from souvenance.app.kit import Kit
from souvenance.app.look_at_summary import Looked
from souvenance.app.pen import Pen, Written, spend
from souvenance.app.write_node import write_recent
from souvenance.domain.conversation import Message
from souvenance.domain.due import Due
from souvenance.domain.ids import ConversationId, NodeId
from souvenance.domain.limits import Level
from souvenance.domain.node_text import text_of
from souvenance.domain.summary import Node, Tier
from souvenance.domain.tiers import Summarise
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """All that the write needs. `said` is what was summarised, as it stood when it was read."""

    due: Due
    said: Sequence[Message]
    node: Node
    written: Written
    rules: Said
    after: int
    now: datetime


async def summarise_batch(kit: Kit, due: Due, looked: Looked, step: Summarise) -> Stepped:
    """Store what stands for these turns; when one of them changed meanwhile, nothing of it but what it cost."""
    said = [message for message in looked.messages if step.first <= message.position <= step.last]
    model = await summariser_of(kit, due, conversation=looked.conversation, bot=looked.speaker, said=said)
    pen = Pen(kit=kit, owner_id=due.owner_id, model=model, level=looked.level)
    names = {bot.bot_id: bot.name for bot in looked.members}
    written = await write_recent(pen, said, names, looked.rules)
    batch = _Batch(
        due=due,
        said=said,
        node=recent_node(kit, looked.conversation.conversation_id, step, looked.level, written),
        written=written,
        rules=said_of_rules(kit, looked.rules, found=written.rules, closings=written.closings),
        after=looked.conversation.summarised_to,
        now=kit.clock.now(),
    )
    return await kit.store.write(due.owner_id, lambda unit: _store(unit, kit, batch), label="summary.batch_kept")


def recent_node(kit: Kit, conversation_id: ConversationId, step: Summarise, level: Level, written: Written) -> Node:
    return Node(
        node_id=NodeId(kit.ids.new("nod")),
        conversation_id=conversation_id,
        tier=Tier.RECENT,
        first=step.first,
        last=step.last,
        level=level,
        model=written.model,
        prompt_version=written.prompt_version,
        made_at=kit.clock.now(),
        tokens=kit.tokenizer.count(text_of(written.items)),
        items=written.items,
    )


def same_still(unit: Unit, conversation_id: ConversationId, node: Node, said: Sequence[Message]) -> bool:
    """Whether these turns say what they said: an edited message has another origin, another variant another id."""
    now = unit.messages.span(conversation_id, node.first, node.last)
    return [(m.message_id, m.origin_id) for m in now] == [(m.message_id, m.origin_id) for m in said]


def _store(unit: Unit, kit: Kit, batch: _Batch) -> Stepped:
    node, here = batch.node, batch.node.conversation_id
    conversation = unit.conversations.lock(here)
    spend(unit, Work.SUMMARY, batch.written, batch.now)
    end_step(unit, batch.due, more=True, at=batch.now)
    same = conversation.summarised_to == batch.after and same_still(unit, here, node, batch.said)
    if not same or node.last > may_be_summed_up(unit, here):
        return Stepped(more=True, reason="what was said changed meanwhile")
    unit.summaries.put(node)
    keep_rules(unit, kit, here, batch.rules, batch.now)
    waited = sum(message.position < conversation.window_start for message in batch.said)
    unit.conversations.save(
        replace(conversation, summarised_to=node.last, waiting=max(0, conversation.waiting - waited))
    )
    make_due(unit, Work.DEEPER, here, batch.due.owner_id, batch.now)
    return Stepped(more=True)
