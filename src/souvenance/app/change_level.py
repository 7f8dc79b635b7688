"""Change how much a conversation keeps, and say whether its summary was written at another level (W2, W3, S8)."""

from __future__ import annotations

from dataclasses import dataclass

from souvenance.app.begin_window import level_of
from souvenance.app.kit import Kit
from souvenance.app.read_summary import policy_here
from souvenance.domain.ids import ConversationId, OwnerId
from souvenance.domain.limits import Level
from souvenance.errors import LevelFixed
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChanged:
    """`at_other_levels` of the nodes that are sent were written at another level; when there are any, a rebuild is on
    offer.
    """

    level: Level
    at_other_levels: int


async def change_level(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, level: Level) -> LevelChanged:
    """The level of the conversation's bot (a group's first member) from the next message on, in all conversations that
    it begins.

    Raises LevelFixed where there is only one: on Telegram and Discord, and with a bare model; NotFound.
    """

    def work(unit: Unit) -> LevelChanged:
        conversation = unit.conversations.get(conversation_id)
        if conversation.bot_id is None or policy_here(kit, conversation, None).level_fixed is not None:
            raise LevelFixed(conversation_id, level_of(unit, conversation))
        unit.bots.get(conversation.bot_id)
        unit.levels.set(conversation.bot_id, level)
        live = unit.summaries.live(conversation_id)
        return LevelChanged(level=level, at_other_levels=sum(node.level is not level for node in live))

    return await kit.store.write(owner_id, work, label="level.changed")
