"""Read a conversation's summary as a person sees it: every tier, the rules, and which layer holds how much (S6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from souvenance.app.begin_window import in_window, level_of
from souvenance.app.choose_summariser import choose_summariser
from souvenance.app.keep_rules import in_force_tokens, tokens_of_rules
from souvenance.app.kit import Kit
from souvenance.app.look_at_summary import is_rebuilding, members_in
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.ids import ConversationId, MessageId, NodeId, OwnerId
from souvenance.domain.limits import Level
from souvenance.domain.node_text import holds_any, text_of
from souvenance.domain.policy import Policy, Reason, circumstances, policy
from souvenance.domain.summary import Node, Rule, Spot, Tier
from souvenance.errors import NotFound, UnknownModel
from souvenance.ports.store import Unit

_NO_MODEL = Reason(rule="V8", words="there is no model to read with")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """A node with its text as it is edited (`domain/node_text`), and the first and last message it stands for that are
    still there. `not_sent` are those of its lines that were drawn from what changed since (S9).
    """

    node: Node
    text: str
    first_message: MessageId | None
    last_message: MessageId | None
    not_sent: tuple[str, ...]

    @property
    def awaits_decision(self) -> bool:
        """Whether a person must say what becomes of it: it is never overwritten, and in no prompt as it is (S9)."""
        return self.node.edited and bool(self.node.stale)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedNode:
    """A node and those it was made of, oldest turns first; a `recent` one was made of messages and has none."""

    view: NodeView
    children: tuple[NodeView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deeper:
    """Whether what leaves the window is read for deeper memory here (V8), and if not, every reason why."""

    active: bool
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryView:
    """All that stands for a conversation. Each of its chosen messages is in one of three places: summarised, `waiting`,
    or word for word `in_window` with the next message. `nodes` are those that are sent, oldest turns first; `rules` all
    there are, also those not in force. `level` is the one that holds now, nodes may have been written at others (W3).
    """

    conversation: Conversation
    level: Level
    nodes: tuple[NodeView, ...]
    rules: tuple[Rule, ...]
    rules_tokens: int
    in_window: int
    waiting: int
    rebuilding: bool
    deeper: Deeper

    @property
    def summarised(self) -> int:
        """How many messages the nodes stand for."""
        return self.conversation.messages - self.in_window - self.waiting

    @property
    def tokens(self) -> Mapping[Tier, int]:
        """Of each tier, in the order in which they are sent."""
        sent = (Tier.LONG_TERM, Tier.MERGED, Tier.RECENT)
        return {tier: sum(one.node.tokens for one in self.nodes if one.node.tier is tier) for tier in sent}

    @property
    def at_other_levels(self) -> int:
        """How many of the nodes were written at another level than now's: then a rebuild is on offer (S8)."""
        return sum(one.node.level is not self.level for one in self.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    conversation: Conversation
    speaker: Bot | None
    level: Level
    nodes: tuple[NodeView, ...]
    rules: tuple[Rule, ...]
    in_window: int
    rebuilding: bool


async def read_summary(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId) -> SummaryView:
    """The summary as it stands; NotFound when the owner has no such conversation."""
    read = await kit.store.read(owner_id, lambda unit: _read(unit, conversation_id), label="summary.read")
    tokens = tokens_of_rules(kit, [rule.text for rule in read.rules])
    return SummaryView(
        conversation=read.conversation,
        level=read.level,
        nodes=read.nodes,
        rules=read.rules,
        rules_tokens=in_force_tokens(read.rules, tokens),
        in_window=read.in_window,
        waiting=read.conversation.waiting,
        rebuilding=read.rebuilding,
        deeper=await _deeper(kit, read.conversation, read.speaker),
    )


async def open_node(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, node_id: NodeId) -> OpenedNode:
    """A node with those under it; NotFound when this conversation has no such node."""

    def work(unit: Unit) -> OpenedNode:
        node = node_here(unit, conversation_id, node_id)
        children = unit.summaries.many(conversation_id, node.children)
        return OpenedNode(view=view_of(unit, node), children=tuple(view_of(unit, child) for child in children))

    return await kit.store.read(owner_id, work, label="summary.node_opened")


def node_here(unit: Unit, conversation_id: ConversationId, node_id: NodeId) -> Node:
    """The node of this conversation, not one of a rebuild that is under way; NotFound."""
    unit.conversations.get(conversation_id)
    node = unit.summaries.get(node_id)
    if node.conversation_id != conversation_id or node.rebuild_id is not None:
        raise NotFound("node", node_id)
    return node


def view_of(unit: Unit, node: Node) -> NodeView:
    first, last = ends_of(unit, node)
    gone = [item for item in node.items if holds_any(item, node.stale)]
    return NodeView(
        node=node,
        text=text_of(node.items),
        first_message=None if first is None else first.message_id,
        last_message=None if last is None else last.message_id,
        not_sent=tuple(item.text for item in gone),
    )


def ends_of(unit: Unit, node: Node) -> tuple[Message | None, Message | None]:
    """The first and the last chosen message of the node's turns; None, None when all of them were deleted."""
    oldest = unit.messages.oldest(node.conversation_id, node.first, limit=1)
    newest = unit.messages.page(node.conversation_id, before=(node.last + 1, 0), limit=1)
    first, last = _within(node, oldest), _within(node, newest)
    return (first, last) if first is not None and last is not None else (None, None)


def whole_of(unit: Unit, node: Node) -> tuple[Spot, Spot]:
    """The spots of the first and last message that the node stands for."""
    first, last = ends_of(unit, node)
    return (
        Spot(node.first, 0) if first is None else Spot(first.position, first.part),
        Spot(node.last, 1) if last is None else Spot(last.position, last.part),
    )


def _within(node: Node, found: Sequence[Message]) -> Message | None:
    return next((message for message in found if node.first <= message.position <= node.last), None)


def _read(unit: Unit, conversation_id: ConversationId) -> _Read:
    conversation = unit.conversations.get(conversation_id)
    live = unit.summaries.live(conversation_id) if conversation.summarised_to >= 0 else []
    members = unit.bots.many(members_in(conversation)[:1])
    return _Read(
        conversation=conversation,
        speaker=members[0] if members else None,
        level=level_of(unit, conversation),
        nodes=tuple(view_of(unit, node) for node in live),
        rules=tuple(unit.summaries.rules(conversation_id)),
        in_window=in_window(unit, conversation),
        rebuilding=is_rebuilding(unit.rebuilds.newest(conversation_id)),
    )


async def _deeper(kit: Kit, conversation: Conversation, speaker: Bot | None) -> Deeper:
    reasons = policy_here(kit, conversation, speaker).deeper_reasons
    if not await _has_model(kit, conversation, speaker):
        reasons = (*reasons, _NO_MODEL)
    return Deeper(active=not reasons, reasons=reasons)


def policy_here(kit: Kit, conversation: Conversation, speaker: Bot | None) -> Policy:
    return policy(circumstances(conversation, speaker, can_call_tools=True, plan_has_deeper=kit.deeper_memory))


async def _has_model(kit: Kit, conversation: Conversation, speaker: Bot | None) -> bool:
    try:
        return await choose_summariser(kit, conversation=conversation, bot=speaker) is not None
    except UnknownModel:
        return False
