"""Who takes part in a conversation, and who of them answers (M7, M8)."""

from __future__ import annotations

from collections.abc import Sequence

from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import BotId
from souvenance.domain.limits import Limits
from souvenance.errors import BadValue, BotGone, TooMany
from souvenance.ports.store import Unit


def check_members(limits: Limits, members: Sequence[BotId]) -> None:
    """TooMany for more members than a group may have, BadValue for one that is named twice."""
    if len(members) > limits.members_most:
        raise TooMany("members", size=len(members), limit=limits.members_most)
    _refuse_twice("members", members)


def members_of(unit: Unit, conversation: Conversation) -> tuple[Bot, ...]:
    """The members that are still there, in order; none for a bare model. BotGone when all were deleted."""
    if conversation.bot_id is None:
        return ()
    there = tuple(unit.bots.many(conversation.members or (conversation.bot_id,)))
    if not there:
        raise BotGone(conversation.bot_id)
    return there


def speakers_of(conversation: Conversation, members: Sequence[Bot], named: Sequence[BotId]) -> tuple[Bot, ...]:
    """Those who answer, in the order named; the first member when nobody is named. BadValue, BotGone."""
    _refuse_twice("speakers", named)
    by_id = {member.bot_id: member for member in members}
    for bot_id in named:
        if bot_id not in conversation.members:
            raise BadValue("speakers", value=bot_id, expected="members of this conversation")
        if bot_id not in by_id:
            raise BotGone(bot_id)
    return tuple(by_id[bot_id] for bot_id in named) or tuple(members[:1])


def _refuse_twice(field: str, bots: Sequence[BotId]) -> None:
    if twice := next((bot_id for at, bot_id in enumerate(bots) if bot_id in bots[:at]), None):
        raise BadValue(field, value=twice, expected="each bot once")
