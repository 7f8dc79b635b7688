"""The end of a rebuild: the new summary takes the old one's place in one commit (S7)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from souvenance.app.due_work import Stepped, Work, end_step, make_due
from souvenance.app.kit import Kit
from souvenance.app.look_at_rebuild import LookedAt, end_of, looked_at
from souvenance.domain.conversation import Conversation
from souvenance.domain.due import Due
from souvenance.domain.ids import NotificationId
from souvenance.domain.notification import Notification
from souvenance.domain.rebuild_step import next_of_rebuild
from souvenance.domain.standing import standing, summarised_to
from souvenance.domain.summary import Node, Rebuild, RebuildState
from souvenance.domain.tiers import Rest
from souvenance.ports.store import Unit

DONE = "rebuild_done"


async def swap_summary(kit: Kit, due: Due, looked: LookedAt) -> Stepped:
    """Let the nodes of this rebuild stand for their turns instead of the old ones; nodes of later turns stay.

    When something it is made of has changed by now, the rebuild goes on instead.
    """
    now = kit.clock.now()

    def work(unit: Unit) -> Stepped:
        unit.conversations.lock(looked.rebuild.conversation_id)
        at_last = looked_at(unit, kit, looked.talk)
        done = at_last is not None and _is_whole(at_last, kit)
        end_step(unit, due, more=at_last is not None and not done, at=now)
        if at_last is None or not done:
            return Stepped(more=at_last is not None, reason="it changed meanwhile")
        _swap(unit, kit, at_last, now)
        return Stepped(reason="the rebuild is done")

    return await kit.store.write(due.owner_id, work, label="rebuild.swapped")


def _is_whole(looked: LookedAt, kit: Kit) -> bool:
    return isinstance(next_of_rebuild(looked.site, kit.limits), Rest)


def _swap(unit: Unit, kit: Kit, looked: LookedAt, now: datetime) -> None:
    rebuild, here = looked.rebuild, looked.rebuild.conversation_id
    conversation = unit.conversations.get(here)
    end = end_of(unit, conversation, rebuild.up_to, tuple(looked.site.nodes))
    unit.summaries.remove(here, looked.fallen)
    old = [node for node in unit.summaries.all(here) if node.first <= end]
    unit.summaries.remove(here, [node.node_id for node in old])
    unit.summaries.swap_in(here, rebuild.rebuild_id)
    chain = standing(unit.summaries.all(here), up_to=sys.maxsize)
    unit.summaries.set_live(here, [node.node_id for node in chain])
    unit.conversations.save(_standing_on(unit, conversation, chain))
    unit.rebuilds.save(replace(rebuild, state=RebuildState.DONE, ended_at=now))
    unit.notifications.put(_told(kit, rebuild, old, len(looked.site.nodes), now))
    # What had to wait for the swap: mending, and merges of what came meanwhile.
    make_due(unit, Work.REFRESH, here, unit.owner_id, now)


def _standing_on(unit: Unit, conversation: Conversation, chain: Sequence[Node]) -> Conversation:
    """W4: what neither the summary nor the window holds waits."""
    to = summarised_to(chain)
    waiting = unit.branches.said_between(conversation.conversation_id, to, conversation.window_start)
    return replace(conversation, summarised_to=to, waiting=waiting)


def _told(kit: Kit, rebuild: Rebuild, old: Sequence[Node], made: int, now: datetime) -> Notification:
    return Notification(
        notification_id=NotificationId(kit.ids.new("ntf")),
        kind=DONE,
        about={
            "conversation_id": rebuild.conversation_id,
            "rebuild_id": rebuild.rebuild_id,
            "level": rebuild.level.value,
            "nodes": made,
            "tokens_in": rebuild.spent_in,
            "tokens_out": rebuild.spent_out,
            "edited_discarded": sum(node.edited for node in old),
        },
        created_at=now,
    )
