"""Repositories of the conversation summary: its nodes, rules and rebuilds, and what background work spent."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from souvenance.domain.ids import ConversationId, NodeId, RebuildId, RuleId
from souvenance.domain.summary import Node, Rebuild, Rule


class Summaries(Protocol):
    """The caller of anything that writes holds the conversation."""

    def live(self, conversation_id: ConversationId) -> list[Node]:
        """The nodes that stand for the conversation now, oldest turns first: a few, whatever its length."""
        ...

    def live_of(self, conversation_ids: Collection[ConversationId]) -> list[Node]:
        """The live nodes of these conversations, in no order that counts."""
        ...

    def all(self, conversation_id: ConversationId, *, rebuild_id: RebuildId | None = None) -> list[Node]:
        """Every node, those under others and earlier long-term versions too, by first turn and time; with a rebuild's
        id, those that it has made so far.
        """
        ...

    def get(self, node_id: NodeId) -> Node:
        """NotFound when the owner has no such node."""
        ...

    def many(self, conversation_id: ConversationId, node_ids: Collection[NodeId]) -> list[Node]:
        """Those of these that are there, oldest turns first."""
        ...

    def covering(self, conversation_id: ConversationId, positions: Collection[int]) -> list[Node]:
        """The nodes, live or not, of rebuilds too, that stand for a turn at one of these positions."""
        ...

    def put(self, node: Node) -> None: ...

    def put_all(self, nodes: Sequence[Node]) -> None: ...

    def save(self, node: Node) -> None:
        """Write the changed node; its version is the new one."""
        ...

    def set_live(self, conversation_id: ConversationId, node_ids: Collection[NodeId]) -> None:
        """Let exactly these nodes be the conversation's live ones."""
        ...

    def remove(self, conversation_id: ConversationId, node_ids: Collection[NodeId]) -> None: ...

    def swap_in(self, conversation_id: ConversationId, rebuild_id: RebuildId) -> None:
        """Let the nodes that a rebuild made be the conversation's own."""
        ...

    def rules(self, conversation_id: ConversationId) -> list[Rule]:
        """All rules, those not in force too, in their order."""
        ...

    def rule_of_text(self, conversation_id: ConversationId, text: str) -> Rule | None:
        """The rule that says this, white space apart, in force or not (compared by keyed hash)."""
        ...

    def put_rule(self, rule: Rule) -> None: ...

    def save_rule(self, rule: Rule) -> None: ...

    def remove_rules(self, conversation_id: ConversationId, rule_ids: Collection[RuleId]) -> None: ...


class Rebuilds(Protocol):
    def get(self, rebuild_id: RebuildId) -> Rebuild:
        """NotFound when the owner has no such rebuild."""
        ...

    def newest(self, conversation_id: ConversationId) -> Rebuild | None:
        """The one begun last, in whatever state."""
        ...

    def put(self, rebuild: Rebuild) -> None: ...

    def save(self, rebuild: Rebuild) -> None: ...


class Spending(Protocol):
    """What background work spent, by whole hours since 1970 (C4)."""

    def add(self, hour: int, purpose: str, *, calls: int, tokens_in: int, tokens_out: int) -> None: ...

    def in_hour(self, hour: int) -> int:
        """Tokens in and out of all purposes."""
        ...

    def in_all(self, *, but: str) -> int:
        """Tokens in and out of every hour, those of one purpose left out."""
        ...
