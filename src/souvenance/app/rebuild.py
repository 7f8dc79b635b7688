"""One step of a rebuild: a node written anew beside the summary that serves, or the swap at its end (S7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from souvenance.app.choose_summariser import choose_summariser
from souvenance.app.compact import rest
from souvenance.app.credit import NO_CREDIT
from souvenance.app.due_work import Stepped, Work, end_step
from souvenance.app.hear_rules import Closing, FoundRule
from souvenance.app.keep_rules import Said, keep_rules, said_of_rules
from souvenance.app.kit import Kit
from souvenance.app.look_at_rebuild import LookedAt, look_at_rebuild
from souvenance.app.pen import Pen, Written, spend
from souvenance.app.roll_up import Upward, node_above, nodes_under, write_above
from souvenance.app.summarise_batch import recent_node, same_still
from souvenance.app.swap_summary import swap_summary
from souvenance.app.write_node import write_recent
from souvenance.domain.conversation import Message
from souvenance.domain.due import Due
from souvenance.domain.ids import NodeId, NotificationId
from souvenance.domain.notification import Notification
from souvenance.domain.rebuild_step import next_of_rebuild
from souvenance.domain.summary import FoundBy, Node, Rebuild, RebuildState, Rule
from souvenance.domain.tiers import Condense, Fold, Merge, Rest, Summarise
from souvenance.errors import ModelUnreachable, NoCredit
from souvenance.ports.store import Unit

FAILED = "rebuild_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A node with what it was made of: messages, or nodes."""

    node: Node
    written: Written
    rules: Said
    said: Sequence[Message] = ()
    under: Sequence[Node] = ()


async def rebuild(kit: Kit, due: Due) -> Stepped:
    """Do what the running rebuild of this conversation needs next.

    Without credit it is FAILED at once. Raises LeaseLost, SpendCapReached, UnusableSummary, UnknownModel, and what
    models raise: then what was made stays, and the step is tried again.
    """
    looked = await look_at_rebuild(kit, due)
    if looked is None:
        return await rest(kit, due, "no rebuild runs")
    try:
        return await _step(kit, due, looked)
    except NoCredit as error:
        return await _out_of_credit(kit, due, error)


async def _step(kit: Kit, due: Due, looked: LookedAt) -> Stepped:
    match next_of_rebuild(looked.site, kit.limits):
        case Summarise() as batch:
            made = await _summarised(kit, due, looked, batch)
        case Merge() | Fold() | Condense() as upward:
            made = await _rolled_up(kit, due, looked, upward)
        case Rest():
            return await swap_summary(kit, due, looked)
        case never:
            assert_never(never)
    return await kit.store.write(
        due.owner_id, lambda unit: _store(unit, kit, due, looked, made), label="rebuild.stepped"
    )


async def _summarised(kit: Kit, due: Due, looked: LookedAt, batch: Summarise) -> _Made:
    here = looked.rebuild.conversation_id
    said = await kit.store.read(
        due.owner_id, lambda unit: unit.messages.span(here, batch.first, batch.last), label="rebuild.batch_read"
    )
    pen, names = await _pen(kit, due, looked), {bot.bot_id: bot.name for bot in looked.talk.members}
    written = await write_recent(pen, said, names, in_force_before(looked.rules, batch.first))
    node = recent_node(kit, here, batch, looked.rebuild.level, written)
    found = [one for one in written.rules if not _was_reworded(one, looked.rules)]
    closings = [one for one in written.closings if _takes_back(one, looked.rules)]
    rules = said_of_rules(kit, looked.rules, found=found, closings=closings)
    return _Made(node=node, written=written, rules=rules, said=said)


async def _rolled_up(kit: Kit, due: Due, looked: LookedAt, upward: Upward) -> _Made:
    pen = await _pen(kit, due, looked)
    written = await write_above(pen, upward)
    node = node_above(kit, upward, looked.rebuild.level, written)
    nothing = said_of_rules(kit, (), found=(), closings=())
    return _Made(node=node, written=written, rules=nothing, under=nodes_under(upward))


async def _pen(kit: Kit, due: Due, looked: LookedAt) -> Pen:
    """ModelUnreachable where it began with a model and none is there: then it is away, and nothing is extracted."""
    talk = looked.talk
    model = await choose_summariser(kit, conversation=talk.conversation, bot=talk.speaker)
    if model is None and looked.rebuild.estimated_in:
        raise ModelUnreachable("The model", reason="no provider lists a model at the moment")
    return Pen(kit=kit, owner_id=due.owner_id, model=model, level=looked.rebuild.level)


def in_force_before(rules: Sequence[Rule], position: int) -> list[Rule]:
    """Rules that hold now and were given before this turn: what was said later takes nothing back here."""
    return [rule for rule in rules if rule.in_force and any(source.spot.position < position for source in rule.sources)]


def _was_reworded(found: FoundRule, rules: Sequence[Rule]) -> bool:
    """Whether a person has put what this message says in words of their own, which stay."""
    said_here = [rule for rule in rules if found.source in rule.sources]
    is_known = any(rule.text == found.text for rule in rules)
    return not is_known and any(rule.found_by is FoundBy.PERSON for rule in said_here)


def _takes_back(closing: Closing, rules: Sequence[Rule]) -> bool:
    """Whether it is news: a rule that a person wrote, or that was said again later, stays as it is."""
    there = next((rule for rule in rules if rule.text == closing.text), None)
    if there is None:
        return True
    said_later = any(source.spot > closing.source.spot for source in there.sources)
    return there.found_by is not FoundBy.PERSON and not said_later


def _store(unit: Unit, kit: Kit, due: Due, looked: LookedAt, made: _Made) -> Stepped:
    """Keep the node, unless what it was made of has changed; what it cost is counted in any case."""
    here, now = looked.rebuild.conversation_id, made.node.made_at
    unit.conversations.lock(here)
    spend(unit, Work.REBUILD, made.written, now)
    rebuild = _charged(unit.rebuilds.get(looked.rebuild.rebuild_id), made.written)
    runs = rebuild.state is RebuildState.RUNNING
    end_step(unit, due, more=runs, at=now)
    if rebuild.state in {RebuildState.CANCELLED, RebuildState.DONE}:
        unit.rebuilds.save(rebuild)
        return Stepped(reason="it was cancelled meanwhile")
    moved = not _stands_still(unit, made)
    if not moved:
        unit.summaries.put(replace(made.node, rebuild_id=rebuild.rebuild_id, live=False))
        keep_rules(unit, kit, here, made.rules, now)
    _remove(unit, looked)
    unit.rebuilds.save(replace(rebuild, steps=len(looked.site.nodes) + (not moved)))
    return Stepped(more=runs, reason="what it was made of changed meanwhile" if moved else "")


def _charged(rebuild: Rebuild, written: Written) -> Rebuild:
    return replace(
        rebuild, spent_in=rebuild.spent_in + written.tokens_in, spent_out=rebuild.spent_out + written.tokens_out
    )


def _stands_still(unit: Unit, made: _Made) -> bool:
    here = made.node.conversation_id
    if made.under:
        ids: list[NodeId] = [node.node_id for node in made.under]
        return sorted(unit.summaries.many(here, ids), key=_id) == sorted(made.under, key=_id)
    return same_still(unit, here, made.node, made.said)


def _id(node: Node) -> str:
    return node.node_id


def _remove(unit: Unit, looked: LookedAt) -> None:
    if looked.fallen:
        unit.summaries.remove(looked.rebuild.conversation_id, looked.fallen)


async def _out_of_credit(kit: Kit, due: Due, error: NoCredit) -> Stepped:
    """It cannot go on by itself: a person resumes it once there is credit."""
    now = kit.clock.now()

    def work(unit: Unit) -> Stepped:
        assert due.conversation_id is not None
        unit.conversations.lock(due.conversation_id)
        end_step(unit, due, more=False, at=now)
        told = fail_rebuild(kit, unit, due, NO_CREDIT)
        if told is not None:
            unit.notifications.put(replace(told, about={**told.about, **error.figures}))
        return Stepped(reason=NO_CREDIT)

    return await kit.store.write(due.owner_id, work, label="rebuild.failed")


def fail_rebuild(kit: Kit, unit: Unit, due: Due, reason: str) -> Notification | None:
    """Let the running rebuild be FAILED until a person resumes it; returns what that person is to be told.

    For a worker that parks its step too, since its model stays away.
    """
    assert due.conversation_id is not None
    rebuild = unit.rebuilds.newest(due.conversation_id)
    if rebuild is None or rebuild.state is not RebuildState.RUNNING:
        return None
    unit.rebuilds.save(replace(rebuild, state=RebuildState.FAILED, reason=reason))
    return Notification(
        notification_id=NotificationId(kit.ids.new("ntf")),
        kind=FAILED,
        about={
            "conversation_id": rebuild.conversation_id,
            "rebuild_id": rebuild.rebuild_id,
            "reason": reason,
            "steps": rebuild.steps,
            "steps_estimated": rebuild.steps_estimated,
        },
        created_at=kit.clock.now(),
    )
