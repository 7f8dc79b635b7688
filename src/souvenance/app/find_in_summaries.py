"""Find the lines of summaries that already say a text which a person is about to add (V4); nothing is stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from souvenance.app.kit import Kit
from souvenance.app.off_loop import off_loop
from souvenance.app.read_summary import policy_here
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import BotId, ConversationId, NodeId, OwnerId
from souvenance.domain.memory import ACCOUNT_SCOPE, Scope, ScopeKind
from souvenance.domain.node_text import without
from souvenance.domain.summary import Item, Node
from souvenance.domain.terms import terms
from souvenance.ports.store import Unit

_LIKE_ENOUGH = 0.5
"""The share of a text's index terms that a line must have to be shown as like it, as for memories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryLine:
    """A line of a live node that has `matched` of the `asked` index terms."""

    conversation_id: ConversationId
    node_id: NodeId
    item: Item
    matched: int
    asked: int


async def find_in_summaries(
    kit: Kit, owner_id: OwnerId, text: str, *, target: BotId | Scope = ACCOUNT_SCOPE
) -> tuple[SummaryLine, ...]:
    """The lines most like it first, `query_hits` at most, of the `similar_conversations` newest conversations.

    `target` is for whom it would be stored: a bot, whose conversations are looked at, the account, for which all are,
    or one conversation. A challenge is looked at only from itself (O3). NotFound.
    """
    words = frozenset(terms(text, query=True)[: kit.limits.query_terms])
    nodes = await kit.store.read(owner_id, lambda unit: _nodes(unit, kit, target), label="summaries.compared")
    size = sum(len(item.text) for node in nodes for item in node.items)
    found = await off_loop(size, lambda: sorted(_alike(nodes, words), key=_most_alike))
    return tuple(found[: kit.limits.query_hits])


def _nodes(unit: Unit, kit: Kit, target: BotId | Scope) -> list[Node]:
    scope = target if isinstance(target, Scope) else Scope.of_bot(target)
    if scope.kind is ScopeKind.CONVERSATION:
        return unit.summaries.live(unit.conversations.get(ConversationId(scope.ref)).conversation_id)
    bot_id = None if scope == ACCOUNT_SCOPE else unit.bots.get(BotId(scope.ref)).bot_id
    newest = unit.conversations.page(bot_id=bot_id, before=None, limit=kit.limits.similar_conversations)
    return unit.summaries.live_of([one.conversation_id for one in newest if _may_be_found(kit, one)])


def _may_be_found(kit: Kit, conversation: Conversation) -> bool:
    return conversation.summarised_to >= 0 and policy_here(kit, conversation, None).may_be_found


def _alike(nodes: Sequence[Node], words: frozenset[str]) -> Iterator[SummaryLine]:
    for node in nodes:
        items = without(node.items, node.stale)
        # Most nodes say nothing of it: one look at the whole is many times cheaper than one at each line.
        if not _has_enough(" ".join(item.text for item in items), words):
            continue
        for item in items:
            matched = _matched(item.text, words)
            if matched >= _LIKE_ENOUGH * len(words):
                yield SummaryLine(
                    conversation_id=node.conversation_id,
                    node_id=node.node_id,
                    item=item,
                    matched=matched,
                    asked=len(words),
                )


def _has_enough(text: str, words: frozenset[str]) -> bool:
    return bool(words) and _matched(text, words) >= _LIKE_ENOUGH * len(words)


def _matched(text: str, words: frozenset[str]) -> int:
    return len(words.intersection(terms(text)))


def _most_alike(line: SummaryLine) -> tuple[int, str, str, str]:
    return -line.matched, line.conversation_id, line.node_id, line.item.text
