"""The conversation summary's nodes and rules (S2–S4); a turn reads the few live nodes, whatever came before them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import BindParameter, Integer, Row, bindparam, delete, insert, select, update

from souvenance.domain.ids import ConversationId, NodeId, RebuildId, RuleId
from souvenance.domain.limits import Level
from souvenance.domain.summary import FoundBy, Node, Rule, Tier
from souvenance.errors import NotFound
from souvenance.storage.batches import batches
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import nodes, summary_rules
from souvenance.storage.summary_json import (
    children_json,
    children_of,
    items_json,
    items_of,
    source_json,
    source_of,
    sources_json,
    sources_of,
    spots_json,
    spots_of,
)

_N, _R = nodes.c, summary_rules.c
_IDS: BindParameter[list[str]] = bindparam("ids", expanding=True)
_OWN = (owned(nodes), _N.conversation_id == bindparam("conversation"))
_STANDING = (*_OWN, _N.rebuild_id.is_(None))
_IN_ORDER = (_N.first, _N.made_at, _N.node_id)

_GET = select(nodes).where(owned(nodes), _N.node_id == bindparam("id"))
_LIVE = select(nodes).where(*_STANDING, _N.live).order_by(*_IN_ORDER)
_LIVE_OF = select(nodes).where(owned(nodes), _N.conversation_id.in_(_IDS), _N.rebuild_id.is_(None), _N.live)
_LIVE_IDS = select(_N.node_id).where(*_STANDING, _N.live)
_ALL = select(nodes).where(*_STANDING).order_by(*_IN_ORDER)
_OF_REBUILD = select(nodes).where(*_OWN, _N.rebuild_id == bindparam("rebuild")).order_by(*_IN_ORDER)
_MANY = select(nodes).where(*_OWN, _N.node_id.in_(_IDS))
# Answered by an index alone: in a long conversation few of many nodes are meant, and their texts are long.
_BETWEEN = select(_N.node_id, _N.first, _N.last).where(
    *_OWN, _N.first <= bindparam("newest", type_=Integer), _N.last >= bindparam("oldest", type_=Integer)
)
_SAVE = update(nodes).where(owned(nodes), _N.node_id == bindparam("id"))
_SET_LIVE = {live: update(nodes).where(*_STANDING, _N.node_id.in_(_IDS)).values(live=live) for live in (True, False)}
_REMOVE = delete(nodes).where(*_OWN, _N.node_id.in_(_IDS))
_SWAP_IN = update(nodes).where(*_OWN, _N.rebuild_id == bindparam("rebuild")).values(rebuild_id=None)

_RULES = select(summary_rules).where(owned(summary_rules), _R.conversation_id == bindparam("conversation"))
_RULES_IN_ORDER = _RULES.order_by(_R.place, _R.rule_id)
_RULE_OF_TEXT = _RULES.where(_R.text_hash == bindparam("hash"))
_SAVE_RULE = update(summary_rules).where(owned(summary_rules), _R.rule_id == bindparam("id"))
_SAVE_RULE = _SAVE_RULE.where(_R.conversation_id == bindparam("conversation"))
_REMOVE_RULES = delete(summary_rules).where(
    owned(summary_rules), _R.conversation_id == bindparam("conversation"), _R.rule_id.in_(_IDS)
)


class SqlSummaries(Repository):
    """`ports.summaries.Summaries`."""

    __slots__ = ()

    def live(self, conversation_id: ConversationId) -> list[Node]:
        return [_node(row) for row in self._rows(_LIVE, conversation=conversation_id)]

    def live_of(self, conversation_ids: Collection[ConversationId]) -> list[Node]:
        return [_node(row) for ids in batches(sorted(conversation_ids)) for row in self._rows(_LIVE_OF, ids=ids)]

    def all(self, conversation_id: ConversationId, *, rebuild_id: RebuildId | None = None) -> list[Node]:
        if rebuild_id is None:
            return [_node(row) for row in self._rows(_ALL, conversation=conversation_id)]
        return [_node(row) for row in self._rows(_OF_REBUILD, conversation=conversation_id, rebuild=rebuild_id)]

    def get(self, node_id: NodeId) -> Node:
        row = self._row(_GET, id=node_id)
        if row is None:
            raise NotFound("node", node_id)
        return _node(row)

    def many(self, conversation_id: ConversationId, node_ids: Collection[NodeId]) -> list[Node]:
        rows = [
            row for ids in batches(sorted(node_ids)) for row in self._rows(_MANY, conversation=conversation_id, ids=ids)
        ]
        return sorted((_node(row) for row in rows), key=lambda node: (node.first, node.made_at, node.node_id))

    def covering(self, conversation_id: ConversationId, positions: Collection[int]) -> list[Node]:
        if not positions:
            return []
        rows = self._rows(_BETWEEN, conversation=conversation_id, oldest=min(positions), newest=max(positions))
        asked = sorted(positions)
        found = [row.node_id for row in rows if asked[bisect_left(asked, row.first)] <= row.last]
        return self.many(conversation_id, found)

    def put(self, node: Node) -> None:
        self.put_all([node])

    def put_all(self, nodes_: Sequence[Node]) -> None:
        self._insert(insert(nodes), [_values(node) for node in nodes_])

    def save(self, node: Node) -> None:
        if self._run(_SAVE, id=node.node_id, **_values(node)).rowcount == 0:
            raise NotFound("node", node.node_id)

    def set_live(self, conversation_id: ConversationId, node_ids: Collection[NodeId]) -> None:
        were = {row.node_id for row in self._rows(_LIVE_IDS, conversation=conversation_id)}
        for live, changed in ((False, were - set(node_ids)), (True, set(node_ids) - were)):
            for ids in batches(sorted(changed)):
                self._run(_SET_LIVE[live], conversation=conversation_id, ids=ids)

    def remove(self, conversation_id: ConversationId, node_ids: Collection[NodeId]) -> None:
        for ids in batches(sorted(node_ids)):
            self._run(_REMOVE, conversation=conversation_id, ids=ids)

    def swap_in(self, conversation_id: ConversationId, rebuild_id: RebuildId) -> None:
        self._run(_SWAP_IN, conversation=conversation_id, rebuild=rebuild_id)

    def rules(self, conversation_id: ConversationId) -> list[Rule]:
        return [_rule(row) for row in self._rows(_RULES_IN_ORDER, conversation=conversation_id)]

    def rule_of_text(self, conversation_id: ConversationId, text: str) -> Rule | None:
        row = self._row(_RULE_OF_TEXT, conversation=conversation_id, hash=self._text_hash(text))
        return None if row is None else _rule(row)

    def put_rule(self, rule: Rule) -> None:
        self._insert(insert(summary_rules), [self._rule_values(rule)])

    def save_rule(self, rule: Rule) -> None:
        values = self._rule_values(rule)
        if self._run(_SAVE_RULE, id=rule.rule_id, conversation=rule.conversation_id, **values).rowcount == 0:
            raise NotFound("rule", rule.rule_id)

    def remove_rules(self, conversation_id: ConversationId, rule_ids: Collection[RuleId]) -> None:
        for ids in batches(sorted(rule_ids)):
            self._run(_REMOVE_RULES, conversation=conversation_id, ids=ids)

    def _rule_values(self, rule: Rule) -> dict[str, object]:
        return {
            "rule_id": rule.rule_id,
            "conversation_id": rule.conversation_id,
            "text": rule.text,
            "text_hash": self._text_hash(rule.text),
            "sources": sources_json(rule.sources),
            "found_by": rule.found_by,
            "place": rule.place,
            "closed_by": source_json(rule.closed_by),
            "retired": rule.retired,
        }

    def _text_hash(self, text: str) -> bytes:
        return self._hash(" ".join(text.split()), "rule")


_SAME = (
    "node_id",
    "conversation_id",
    "tier",
    "first",
    "last",
    "level",
    "model",
    "prompt_version",
    "made_at",
    "tokens",
    "edited",
    "live",
    "rebuild_id",
    "version",
)
"""Fields that stand in a column of their own name as they are."""


def _values(node: Node) -> dict[str, object]:
    return {
        **{name: getattr(node, name) for name in _SAME},
        "children": children_json(node.children),
        "items": items_json(node.items),
        "stale": spots_json(node.stale),
    }


def _node(row: Row[Any]) -> Node:
    fields = {name: row._mapping[name] for name in _SAME}
    return Node(
        **{**fields, "tier": Tier(row.tier), "level": Level(row.level)},
        children=children_of(row.children),
        items=items_of(row._mapping["items"]),
        stale=spots_of(row.stale),
    )


def _rule(row: Row[Any]) -> Rule:
    return Rule(
        rule_id=RuleId(row.rule_id),
        conversation_id=ConversationId(row.conversation_id),
        text=row.text,
        sources=sources_of(row.sources),
        found_by=FoundBy(row.found_by),
        place=row.place,
        closed_by=source_of(row.closed_by),
        retired=row.retired,
    )
