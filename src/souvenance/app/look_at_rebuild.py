"""What a step of a rebuild is decided from (S7)."""

from __future__ import annotations

from dataclasses import dataclass

from souvenance.app.choose_model import context_of
from souvenance.app.due_work import Work
from souvenance.app.kit import Kit
from souvenance.app.look_at_summary import conversation_there, members_in, speaking
from souvenance.app.turn_sizes import turn_sizes
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation
from souvenance.domain.due import Due
from souvenance.domain.ids import ConversationId, NodeId, OwnerId
from souvenance.domain.rebuild_step import Site
from souvenance.domain.summary import Node, Rebuild, RebuildState, Rule
from souvenance.domain.window import bounds
from souvenance.ports.chat_model import ModelInfo
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A conversation with those who are left in it, and the model that answers the first of them."""

    conversation: Conversation
    members: tuple[Bot, ...]
    model: ModelInfo | None

    @property
    def speaker(self) -> Bot | None:
        return self.members[0] if self.members else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedAt:
    """A rebuild that runs. `site` has its nodes that still stand; `fallen` are those whose messages changed since."""

    talk: Talk
    rebuild: Rebuild
    site: Site
    fallen: tuple[NodeId, ...]
    rules: tuple[Rule, ...]


async def talk_of(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId) -> Talk | None:
    """None when the conversation is gone."""

    def work(unit: Unit) -> tuple[Conversation, tuple[Bot, ...]] | None:
        conversation = conversation_there(unit, conversation_id)
        return None if conversation is None else (conversation, tuple(unit.bots.many(members_in(conversation))))

    found = await kit.store.read(owner_id, work, label="rebuild.conversation_read")
    if found is None:
        return None
    conversation, members = found
    model = await speaking(kit, conversation, members[0] if members else None)
    return Talk(conversation=conversation, members=members, model=model)


async def look_at_rebuild(kit: Kit, due: Due) -> LookedAt | None:
    """None when no rebuild runs in this piece's conversation."""
    assert due.kind == Work.REBUILD
    assert due.conversation_id is not None
    talk = await talk_of(kit, due.owner_id, due.conversation_id)
    if talk is None:
        return None
    return await kit.store.read(due.owner_id, lambda unit: looked_at(unit, kit, talk), label="rebuild.looked_at")


def looked_at(unit: Unit, kit: Kit, talk: Talk) -> LookedAt | None:
    """As look_at_rebuild, in a transaction."""
    here = talk.conversation.conversation_id
    conversation, rebuild = conversation_there(unit, here), unit.rebuilds.newest(here)
    if conversation is None or rebuild is None or rebuild.state is not RebuildState.RUNNING:
        return None
    made = unit.summaries.all(here, rebuild_id=rebuild.rebuild_id)
    nodes = tuple(node for node in made if not node.stale)
    sizes = unit.messages.sizes(here, end_of(unit, conversation, rebuild.up_to, nodes))
    calibration = unit.calibrations.get("" if talk.model is None else talk.model.name)
    site = Site(
        nodes=nodes,
        turns=turn_sizes(sizes, calibration),
        level=rebuild.level,
        window=bounds(rebuild.level, kit.limits, context_of(talk.model, kit.limits)),
    )
    return LookedAt(
        talk=talk,
        rebuild=rebuild,
        site=site,
        fallen=tuple(node.node_id for node in made if node.stale),
        rules=tuple(unit.summaries.rules(here)),
    )


def end_of(unit: Unit, conversation: Conversation, up_to: int, made: tuple[Node, ...] = ()) -> int:
    """The position of the last turn that a rebuild up to `up_to` writes about: no turn that is word for word in the
    window again after a rewind, but all of the turns of a node that was made across that position meanwhile.
    """
    left = max([conversation.summarised_to, conversation.window_start - 1, *(node.last for node in made)])
    end = min(up_to, left)
    live = unit.summaries.live(conversation.conversation_id)
    return max([end, *(node.last for node in live if node.first <= end)])
