"""`memory.summaries` for those who await nothing."""

from __future__ import annotations

from souvenance.app.change_level import LevelChanged
from souvenance.app.find_in_summaries import SummaryLine
from souvenance.app.read_summary import NodeView, OpenedNode, SummaryView
from souvenance.app.settle_stale import Decision
from souvenance.blocking.loop_thread import LoopThread
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import ConversationId, NodeId, RuleId
from souvenance.domain.limits import Level
from souvenance.domain.summary import Node, Rule
from souvenance.library.summaries import Summaries


class BlockingSummaries:
    """`library.summaries.Summaries` with methods that wait; each does and raises what its namesake there does."""

    def __init__(self, thread: LoopThread, summaries: Summaries) -> None:
        self._thread = thread
        self._summaries = summaries

    def read(self, conversation: Conversation | ConversationId) -> SummaryView:
        return self._thread.call(lambda: self._summaries.read(conversation))

    def open(self, conversation: Conversation | ConversationId, node: Node | NodeId) -> OpenedNode:
        return self._thread.call(lambda: self._summaries.open(conversation, node))

    def edit(
        self, conversation: Conversation | ConversationId, node: Node | NodeId, text: str, *, seen: int | None = None
    ) -> NodeView:
        return self._thread.call(lambda: self._summaries.edit(conversation, node, text, seen=seen))

    def settle(
        self,
        conversation: Conversation | ConversationId,
        node: Node | NodeId,
        decision: Decision | str,
        *,
        seen: int | None = None,
    ) -> NodeView:
        return self._thread.call(lambda: self._summaries.settle(conversation, node, decision, seen=seen))

    def set_level(self, conversation: Conversation | ConversationId, level: Level | str) -> LevelChanged:
        return self._thread.call(lambda: self._summaries.set_level(conversation, level))

    def add_rule(self, conversation: Conversation | ConversationId, text: str) -> Rule:
        return self._thread.call(lambda: self._summaries.add_rule(conversation, text))

    def edit_rule(
        self, conversation: Conversation | ConversationId, rule: Rule | RuleId, text: str, *, was: str | None = None
    ) -> Rule:
        return self._thread.call(lambda: self._summaries.edit_rule(conversation, rule, text, was=was))

    def retire_rule(self, conversation: Conversation | ConversationId, rule: Rule | RuleId) -> Rule:
        return self._thread.call(lambda: self._summaries.retire_rule(conversation, rule))

    def reopen_rule(self, conversation: Conversation | ConversationId, rule: Rule | RuleId) -> Rule:
        return self._thread.call(lambda: self._summaries.reopen_rule(conversation, rule))

    def remove_rule(self, conversation: Conversation | ConversationId, rule: Rule | RuleId) -> None:
        self._thread.call(lambda: self._summaries.remove_rule(conversation, rule))

    def similar(
        self, text: str, *, bot: str | None = None, conversation: Conversation | ConversationId | None = None
    ) -> tuple[SummaryLine, ...]:
        return self._thread.call(lambda: self._summaries.similar(text, bot=bot, conversation=conversation))
