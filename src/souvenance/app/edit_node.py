"""A person rewrites a node of a summary; what they wrote is what later merges and folds are made of (S6)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from souvenance.app.due_work import Work, make_due
from souvenance.app.kit import Kit
from souvenance.app.look_at_summary import is_rebuilding
from souvenance.app.off_loop import off_loop
from souvenance.app.read_summary import NodeView, node_here, view_of, whole_of
from souvenance.domain.ids import ConversationId, NodeId, OwnerId
from souvenance.domain.node_text import items_of, text_of
from souvenance.domain.summary import Item, Node, Spot
from souvenance.domain.text import clean
from souvenance.errors import EmptyText, RebuildRunning, StaleEdit, TextTooLong
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEdit:
    """A node's new `text`, and the version of the node that it was written on."""

    text: str
    seen: int


async def edit_node(
    kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, node_id: NodeId, edit: NodeEdit
) -> NodeView:
    """The node as it says now. It counts as edited and as true: what was stale in it is not any more (S9).

    The text has the form in which it is read (`domain/node_text`): a line that stays keeps what it was drawn from, any
    other is drawn from the whole of the node. Raises StaleEdit with both texts when somebody changed the node since,
    RebuildRunning when a rebuild is about to discard it, BadValue for a heading of no part, EmptyText, TextTooLong past
    `edited_node_tokens`, NotFound.
    """
    text = clean("text", edit.text, limit=kit.limits.message_characters)

    def read(unit: Unit) -> tuple[Node, tuple[Spot, Spot]]:
        node = node_here(unit, conversation_id, node_id)
        _check_stays(unit, node)
        return node, whole_of(unit, node)

    before, whole = await kit.store.read(owner_id, read, label="summary.node_read")
    check_seen(before, edit.seen, yours=text)
    items, tokens = await off_loop(len(text), lambda: _read_back(kit, text, before, whole))
    now = kit.clock.now()

    def work(unit: Unit) -> NodeView:
        unit.conversations.lock(conversation_id)
        node = node_here(unit, conversation_id, node_id)
        _check_stays(unit, node)
        check_seen(node, edit.seen, yours=text)
        if items != node.items or node.stale:
            settled = replace(node, items=items, tokens=tokens, edited=True, stale=frozenset())
            node = save_changed(unit, settled)
            # What it held back can be rolled up now, at this text.
            make_due(unit, Work.REFRESH, conversation_id, owner_id, now)
        return view_of(unit, node)

    return await kit.store.write(owner_id, work, label="summary.node_edited")


def check_seen(node: Node, seen: int, *, yours: str) -> None:
    """StaleEdit when the node is not at this version any more."""
    if node.version != seen:
        theirs = text_of(node.items)
        raise StaleEdit("node", node.node_id, seen=seen, current=node.version, theirs=theirs, yours=yours)


def save_changed(unit: Unit, node: Node) -> Node:
    """The node as saved, one version on."""
    changed = replace(node, version=node.version + 1)
    unit.summaries.save(changed)
    return changed


def _check_stays(unit: Unit, node: Node) -> None:
    """What is written into a node that is about to go would be lost without a word."""
    rebuild = unit.rebuilds.newest(node.conversation_id)
    if rebuild is not None and is_rebuilding(rebuild) and node.first <= rebuild.up_to:
        raise RebuildRunning(rebuild.rebuild_id, rebuild.state)


def _read_back(kit: Kit, text: str, before: Node, whole: tuple[Spot, Spot]) -> tuple[tuple[Item, ...], int]:
    """The items of the text and the tokens that they take."""
    items = items_of(text, before.items, whole)
    if not items:
        raise EmptyText("text")
    tokens, limit = kit.tokenizer.count(text_of(items)), kit.limits.edited_node_tokens
    if tokens > limit:
        raise TextTooLong("text", size=tokens, limit=limit, unit="tokens")
    return items, tokens
