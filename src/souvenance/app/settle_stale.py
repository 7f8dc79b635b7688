"""What becomes of a node that a person edited and whose messages changed since: only a person decides it (S9)."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Self

from souvenance.app.due_work import Work, make_due
from souvenance.app.edit_node import check_seen, save_changed
from souvenance.app.kit import Kit
from souvenance.app.read_summary import NodeView, node_here, view_of
from souvenance.domain.ids import ConversationId, NodeId, OwnerId
from souvenance.domain.summary import Node
from souvenance.errors import BadValue, Conflict
from souvenance.ports.store import Unit


class Decision(StrEnum):
    """KEEP: what was written still holds, and is sent again. REWRITE: what was drawn from the changed messages is
    written anew, by a model or by code; lines that a person wrote are drawn from all of the node's.
    """

    KEEP = "keep"
    REWRITE = "rewrite"

    @classmethod
    def read(cls, raw: str) -> Self:
        """BadValue for another word."""
        try:
            return cls(raw)
        except ValueError as e:
            raise BadValue("decision", value=raw, expected=" or ".join(cls)) from e


async def settle_stale(
    kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, node_id: NodeId, decision: Decision, *, seen: int
) -> NodeView:
    """The node after the decision, which was made on the version `seen`.

    Raises Conflict when nothing waits to be decided (a stale node that nobody edited is mended by itself), StaleEdit,
    NotFound.
    """
    now = kit.clock.now()

    def work(unit: Unit) -> NodeView:
        unit.conversations.lock(conversation_id)
        node = node_here(unit, conversation_id, node_id)
        check_seen(node, seen, yours="")
        if not (node.edited and node.stale):
            raise Conflict(f"Node {node_id} is not both edited and stale: there is nothing to decide.", id=node_id)
        settled = replace(node, stale=frozenset()) if decision is Decision.KEEP else replace(node, edited=False)
        if decision is Decision.REWRITE:
            _mark_above(unit, node)
        make_due(unit, Work.REFRESH, conversation_id, owner_id, now)
        return view_of(unit, save_changed(unit, settled))

    return await kit.store.write(owner_id, work, label="summary.stale_settled")


def _mark_above(unit: Unit, node: Node) -> None:
    """What was carried up without what had changed is written anew with it."""
    for one in unit.summaries.covering(node.conversation_id, {spot.position for spot in node.stale}):
        if one.node_id != node.node_id and one.first <= node.first and node.last <= one.last:
            unit.summaries.save(replace(one, stale=one.stale | node.stale, version=one.version + 1))
