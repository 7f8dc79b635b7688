"""What of a summary is sent: its live nodes, and for a stale one what still holds of it (S9, W4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from souvenance.domain.conversation import Message
from souvenance.domain.ids import NodeId
from souvenance.domain.node_text import without
from souvenance.domain.summary import Item, Node, Tier
from souvenance.domain.window import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A node by these of its items: all, or those that were drawn from nothing that changed since."""

    node: Node
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordForWord:
    """The very messages that a stale node covers, sent instead of it."""

    node: Node
    messages: tuple[Message, ...]


Stand = Told | WordForWord


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """What lies under stale nodes: the nodes by their ids, the messages by the ids of the `recent` ones over them."""

    nodes: Mapping[NodeId, Node]
    messages: Mapping[NodeId, Sequence[Message]]


NOTHING_BELOW = Below(nodes={}, messages={})


def stands(live: Sequence[Node], below: Below, room: Bounds) -> tuple[Stand, ...]:
    """What stands for the turns of `live`, oldest first; `room` is what messages may take beside the window (W4)."""
    told: list[Stand] = []
    tokens = messages = 0
    for one in _fresh(live, below.nodes):
        said = tuple(below.messages.get(one.node.node_id, ()))
        more = sum(message.tokens for message in said)
        if _is_stale_recent(one) and said and room.hold(tokens=tokens + more, messages=messages + len(said)):
            tokens, messages = tokens + more, messages + len(said)
            told.append(WordForWord(node=one.node, messages=said))
        else:
            told.append(one)
    return tuple(told)


def stale_recent(live: Sequence[Node], nodes: Mapping[NodeId, Node]) -> list[Node]:
    """The `recent` nodes that are stale and have no fresh node over them: their messages may be sent instead."""
    return [one.node for one in _fresh(live, nodes) if _is_stale_recent(one)]


def _fresh(live: Sequence[Node], nodes: Mapping[NodeId, Node]) -> Iterator[Told]:
    """Each node, or where it is stale its children, down to the messages; one whose children are not at hand is told
    without what changed.
    """
    for node in live:
        children = [nodes[child] for child in node.children if child in nodes]
        if node.stale and children and len(children) == len(node.children):
            yield from _fresh(children, nodes)
        else:
            yield Told(node=node, items=without(node.items, node.stale))


def _is_stale_recent(told: Told) -> bool:
    return bool(told.node.stale) and told.node.tier is Tier.RECENT
