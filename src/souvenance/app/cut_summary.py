"""Of a summary, what stands for a conversation that lost turns at its end (S10, T2, T7)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from souvenance.app.due_work import Work, make_due
from souvenance.domain.conversation import Conversation, Turn
from souvenance.domain.ids import ConversationId
from souvenance.domain.standing import standing, summarised_to
from souvenance.ports.store import Unit


def cut_summary(unit: Unit, conversation: Conversation, last: Turn | None, now: datetime) -> Conversation:
    """The conversation as it ends with this turn: nodes that reach past what may be summed up are removed, a rebuild's
    too, and the chain that is left stands, to be mended where it is stale. The conversation is held, its turns are gone
    already.
    """
    here, end = conversation.conversation_id, -1 if last is None else last.position
    cut = replace(conversation, last_position=end, deepened_to=min(conversation.deepened_to, end))
    up_to = may_be_summed_up(unit, here)
    past = unit.summaries.covering(here, range(up_to + 1, conversation.last_position + 1))
    if not past:
        return cut
    unit.summaries.remove(here, [node.node_id for node in past])
    chain = standing(unit.summaries.all(here), up_to=up_to)
    unit.summaries.set_live(here, [node.node_id for node in chain])
    if any(node.stale for node in chain):
        make_due(unit, Work.REFRESH, here, unit.owner_id, now)
    return replace(cut, summarised_to=summarised_to(chain))


def may_be_summed_up(unit: Unit, conversation_id: ConversationId) -> int:
    """The position up to which nodes may stand: the newest two turns are sent word for word (W5); -1 for none."""
    last = unit.turns.last(conversation_id)
    before = None if last is None else unit.turns.before(conversation_id, last.position)
    return -1 if before is None else before.position - 1
