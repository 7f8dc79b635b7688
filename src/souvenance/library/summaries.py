"""`memory.summaries`: what stands for the turns that are no longer sent word for word (S4, S6, S8, S9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from souvenance.app import change_rules
from souvenance.app.bots import find_bot
from souvenance.app.change_level import change_level
from souvenance.app.edit_node import NodeEdit, edit_node
from souvenance.app.find_in_summaries import find_in_summaries
from souvenance.app.read_summary import open_node, read_summary
from souvenance.app.settle_stale import Decision, settle_stale
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import BotId, ConversationId, NodeId, RuleId, known_shape
from souvenance.domain.limits import Level
from souvenance.domain.memory import ACCOUNT_SCOPE, Scope
from souvenance.domain.summary import Node, Rule
from souvenance.errors import BadValue
from souvenance.library.memory_verbs import conversation_id_of

if TYPE_CHECKING:
    from souvenance.app.change_level import LevelChanged
    from souvenance.app.find_in_summaries import SummaryLine
    from souvenance.app.read_summary import NodeView, OpenedNode, SummaryView
    from souvenance.wiring import House


class Summaries:
    """Read and correct the summary of a conversation; what a person writes there is what later ones are made of."""

    def __init__(self, house: House) -> None:
        self._kit = house.kit
        self._owner = house.owner_id

    async def read(self, conversation: Conversation | ConversationId) -> SummaryView:
        """All tiers, the rules, how many messages are sent word for word, and how many wait."""
        return await read_summary(self._kit, self._owner, conversation_id_of(conversation))

    async def open(self, conversation: Conversation | ConversationId, node: Node | NodeId) -> OpenedNode:
        """A node with those that it was made of."""
        return await open_node(self._kit, self._owner, conversation_id_of(conversation), _node_id(node))

    async def edit(
        self, conversation: Conversation | ConversationId, node: Node | NodeId, text: str, *, seen: int | None = None
    ) -> NodeView:
        """Rewrite a node. `seen` is the version that was read; StaleEdit with both texts when it is another by now."""
        here, node_id = conversation_id_of(conversation), _node_id(node)
        edit = NodeEdit(text=text, seen=await self._version(here, node) if seen is None else seen)
        return await edit_node(self._kit, self._owner, here, node_id, edit)

    async def settle(
        self,
        conversation: Conversation | ConversationId,
        node: Node | NodeId,
        decision: Decision | str,
        *,
        seen: int | None = None,
    ) -> NodeView:
        """Say of an edited node whose messages changed since that it still holds (`keep`), or let it be written anew
        (`rewrite`); Conflict when nothing waits to be decided.
        """
        here, node_id = conversation_id_of(conversation), _node_id(node)
        version = await self._version(here, node) if seen is None else seen
        return await settle_stale(self._kit, self._owner, here, node_id, Decision.read(decision), seen=version)

    async def set_level(self, conversation: Conversation | ConversationId, level: Level | str) -> LevelChanged:
        """From the next message on this conversation's bot keeps so much; says how many nodes are at other levels."""
        here = conversation_id_of(conversation)
        return await change_level(self._kit, self._owner, here, Level.read(level))

    async def add_rule(self, conversation: Conversation | ConversationId, text: str) -> Rule:
        """A standing rule in your own words, sent with every message of this conversation."""
        return await change_rules.add_rule(self._kit, self._owner, conversation_id_of(conversation), text)

    async def edit_rule(
        self, conversation: Conversation | ConversationId, rule: Rule | RuleId, text: str, *, was: str | None = None
    ) -> Rule:
        """Reword a rule. `was` is what it said when it was read; Conflict with both texts when it is another by now."""
        here, rule_id = conversation_id_of(conversation), _rule_id(rule)
        if was is None:
            was = rule.text if isinstance(rule, Rule) else await self._words(here, rule_id)
        return await change_rules.edit_rule(self._kit, self._owner, here, rule_id, text, was=was)

    async def retire_rule(self, conversation: Conversation | ConversationId, rule: Rule | RuleId) -> Rule:
        """Take it out of every prompt to come; it stays listed and can be reopened."""
        here = conversation_id_of(conversation)
        return await change_rules.retire_rule(self._kit, self._owner, here, _rule_id(rule))

    async def reopen_rule(self, conversation: Conversation | ConversationId, rule: Rule | RuleId) -> Rule:
        """Let a rule that was retired or taken back be in force again."""
        here = conversation_id_of(conversation)
        return await change_rules.reopen_rule(self._kit, self._owner, here, _rule_id(rule))

    async def remove_rule(self, conversation: Conversation | ConversationId, rule: Rule | RuleId) -> None:
        """Forget it; said again it is a rule again."""
        await change_rules.remove_rule(self._kit, self._owner, conversation_id_of(conversation), _rule_id(rule))

    async def similar(
        self, text: str, *, bot: str | None = None, conversation: Conversation | ConversationId | None = None
    ) -> tuple[SummaryLine, ...]:
        """Lines of summaries that already say `text`: of this bot's conversations, of one, or of the newest (V4)."""
        target: BotId | Scope = ACCOUNT_SCOPE
        if conversation is not None:
            if bot is not None:
                raise BadValue("conversation", value=conversation_id_of(conversation), expected="none beside a bot")
            target = Scope.of_conversation(conversation_id_of(conversation))
        elif bot is not None:
            target = (await find_bot(self._kit, self._owner, bot)).bot_id
        return await find_in_summaries(self._kit, self._owner, text, target=target)

    async def _version(self, here: ConversationId, node: Node | NodeId) -> int:
        """The one of the node that the caller has read, else the present one."""
        if isinstance(node, Node):
            return node.version
        return (await open_node(self._kit, self._owner, here, _node_id(node))).view.node.version

    async def _words(self, here: ConversationId, rule_id: RuleId) -> str:
        """What the rule says now; nothing for one that is not there, which the edit then says itself."""
        found = await read_summary(self._kit, self._owner, here)
        return next((rule.text for rule in found.rules if rule.rule_id == rule_id), "")


def _node_id(given: Node | NodeId) -> NodeId:
    return NodeId(known_shape("node", given.node_id if isinstance(given, Node) else given))


def _rule_id(given: Rule | RuleId) -> RuleId:
    return RuleId(known_shape("rule", given.rule_id if isinstance(given, Rule) else given))
