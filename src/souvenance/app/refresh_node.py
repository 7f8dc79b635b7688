"""Mend a stale summary: only the items that were drawn from what changed are written anew, tier by tier (S9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from souvenance.app.choose_summariser import summariser_of
from souvenance.app.due_work import Stepped, Work, end_step
from souvenance.app.hear_rules import hear_rules
from souvenance.app.keep_rules import Said, keep_rules, said_of_rules
from souvenance.app.kit import Kit
from souvenance.app.look_at_summary import Looked
from souvenance.app.off_loop import off_loop
from souvenance.app.pen import Pen, Written, spend
from souvenance.app.summarise_batch import same_still
from souvenance.app.who_said import Names
from souvenance.app.write_node import rewrite_from_items, rewrite_from_messages
from souvenance.domain.conversation import Message
from souvenance.domain.due import Due
from souvenance.domain.node_text import holds_any, text_of, without
from souvenance.domain.summary import Item, Node, Rule, Spot, Tier
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class _Damage:
    """A stale node with what its new items are drawn from: its messages, or the nodes below."""

    node: Node
    said: tuple[Message, ...]
    below: tuple[Node, ...]

    @property
    def gone(self) -> list[Item]:
        return [item for item in self.node.items if holds_any(item, self.node.stale)]

    @property
    def first(self) -> Spot:
        return min((*self.node.stale, *(item.first for item in self.gone)))

    @property
    def last(self) -> Spot:
        return max((*self.node.stale, *(item.last for item in self.gone)))

    def touches(self, first: Spot, last: Spot) -> bool:
        return first <= self.last and last >= self.first


async def refresh_node(kit: Kit, due: Due, looked: Looked, node: Node) -> Stepped:
    """Mend the lowest stale node under this one, or itself; what changes meanwhile leaves it stale."""
    damage = await kit.store.read(due.owner_id, lambda unit: _damage(unit, node), label="summary.damage_read")
    model = await summariser_of(kit, due, conversation=looked.conversation, bot=looked.speaker, said=looked.messages)
    pen = Pen(kit=kit, owner_id=due.owner_id, model=model, level=damage.node.level)
    written = await _rewritten(pen, damage, {bot.bot_id: bot.name for bot in looked.members})
    items = _in_order((*without(damage.node.items, damage.node.stale), *written.items))
    mended = replace(
        damage.node,
        items=items,
        tokens=kit.tokenizer.count(text_of(items)),
        stale=frozenset(),
        version=damage.node.version + 1,
    )
    rules, now = await _heard_anew(kit, damage, looked.rules), kit.clock.now()

    def work(unit: Unit) -> Stepped:
        unit.conversations.lock(mended.conversation_id)
        spend(unit, Work.REFRESH, written, now)
        end_step(unit, due, more=True, at=now)
        stepped = _store(unit, damage, mended)
        if not stepped.reason:
            keep_rules(unit, kit, mended.conversation_id, rules, now)
        return stepped

    return await kit.store.write(due.owner_id, work, label="summary.refreshed")


def _damage(unit: Unit, live: Node) -> _Damage:
    here = live.conversation_id
    over = unit.summaries.covering(here, {spot.position for spot in live.stale})
    own = [one for one in over if one.rebuild_id is None and one.stale and not one.edited]
    lower = [one for one in own if one.tier is not Tier.LONG_TERM and live.first <= one.first <= one.last <= live.last]
    node = min((*lower, live), key=lambda one: (list(Tier).index(one.tier), one.first))
    if node.tier is Tier.RECENT:
        return _Damage(node=node, said=tuple(unit.messages.span(here, node.first, node.last)), below=())
    tier = Tier.RECENT if node.tier is Tier.MERGED else Tier.MERGED
    damage = _Damage(node=node, said=(), below=())
    positions = range(damage.first.position, damage.last.position + 1)
    below = [
        one
        for one in unit.summaries.covering(here, positions)
        if one.rebuild_id is None and one.tier is tier and node.first <= one.first <= one.last <= node.last
    ]
    return replace(damage, below=tuple(below))


async def _rewritten(pen: Pen, damage: _Damage, names: Names) -> Written:
    """New items for those that go. Where no item was drawn from what changed, what is said there now is added: the
    messages' sentences, or the items below as they are.
    """
    stale = damage.node.stale
    if damage.node.tier is Tier.RECENT:
        anew = [m for m in damage.said if Spot(m.position, m.part) in stale]
        touched = [m for m in damage.said if damage.touches(Spot(m.position, 0), Spot(m.position, m.part))]
        said = touched if damage.gone else anew
        return await rewrite_from_messages(pen, said, damage.gone, names) if said else Written(items=())
    left = [item for node in damage.below for item in without(node.items, node.stale)]
    if not damage.gone:
        return Written(items=tuple(item for item in left if holds_any(item, stale)))
    items = [item for item in left if damage.touches(item.first, item.last)]
    return await rewrite_from_items(pen, items, damage.gone) if items else Written(items=())


def _in_order(items: Sequence[Item]) -> tuple[Item, ...]:
    return tuple(sorted(items, key=lambda item: (item.first, item.last)))


def _store(unit: Unit, damage: _Damage, mended: Node) -> Stepped:
    here = mended.conversation_id
    moved = unit.summaries.many(here, [damage.node.node_id]) != [damage.node]
    if moved or not (damage.said == () or same_still(unit, here, mended, damage.said)):
        return Stepped(more=True, reason="it changed meanwhile")
    unit.summaries.save(mended)
    return Stepped(more=True)


async def _heard_anew(kit: Kit, damage: _Damage, rules: Sequence[Rule]) -> Said:
    """The rules of the messages that changed; the old words' are gone with their source already."""
    changed = [m for m in damage.said if Spot(m.position, m.part) in damage.node.stale]
    heard = await off_loop(sum(len(m.text) for m in changed), lambda: hear_rules(kit, changed, rules))
    return said_of_rules(kit, rules, found=heard.found, closings=heard.closings)
