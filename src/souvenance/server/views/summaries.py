"""A conversation's summary as JSON: nodes, rules, and which layer holds how much (S6)."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from souvenance.app.change_level import LevelChanged
from souvenance.app.find_in_summaries import SummaryLine
from souvenance.app.read_summary import Deeper, NodeView, OpenedNode, SummaryView
from souvenance.domain.limits import Level
from souvenance.domain.summary import FoundBy, Part, Rule, Tier
from souvenance.server.views.view import View


class NodeJson(View):
    """What stands for the turns at positions `first` to `last`.

    `model` names who wrote it, `extracted` when nobody did (S11). `not_sent` are the lines of a stale node that are in
    no prompt since what they were drawn from changed; one that `awaits_decision` was edited by a person, who says what
    becomes of it. `children` are the ids of the nodes it was made of.
    """

    id: str
    tier: Tier
    first: int
    last: int
    first_message_id: str | None
    last_message_id: str | None
    level: Level
    model: str
    prompt_version: str
    made_at: datetime
    tokens: int
    text: str
    edited: bool
    stale: bool
    not_sent: list[str]
    awaits_decision: bool
    children: list[str]
    version: int

    @classmethod
    def of(cls, view: NodeView) -> Self:
        node = view.node
        return cls(
            id=node.node_id,
            tier=node.tier,
            first=node.first,
            last=node.last,
            first_message_id=view.first_message,
            last_message_id=view.last_message,
            level=node.level,
            model=node.model or "extracted",
            prompt_version=node.prompt_version,
            made_at=node.made_at,
            tokens=node.tokens,
            text=view.text,
            edited=node.edited,
            stale=bool(node.stale),
            not_sent=list(view.not_sent),
            awaits_decision=view.awaits_decision,
            children=list(node.children),
            version=node.version,
        )


class OpenedNodeJson(View):
    """A node and those it was made of, oldest turns first."""

    node: NodeJson
    children: list[NodeJson]

    @classmethod
    def of(cls, opened: OpenedNode) -> Self:
        return cls(node=NodeJson.of(opened.view), children=[NodeJson.of(child) for child in opened.children])


class RuleJson(View):
    """A rule word for word with the messages that say it. It is not `in_force` once it was `retired` by a person or
    `taken_back` in a message; `by_hand` says that a person added it, which no message says.
    """

    id: str
    text: str
    in_force: bool
    retired: bool
    taken_back: bool
    taken_back_in: str | None
    found_by: FoundBy
    by_hand: bool
    message_ids: list[str]

    @classmethod
    def of(cls, rule: Rule) -> Self:
        return cls(
            id=rule.rule_id,
            text=rule.text,
            in_force=rule.in_force,
            retired=rule.retired,
            taken_back=rule.closed_by is not None,
            taken_back_in=None if rule.closed_by is None else rule.closed_by.message_id,
            found_by=rule.found_by,
            by_hand=any(source.message_id is None for source in rule.sources),
            message_ids=[source.message_id for source in rule.sources if source.message_id is not None],
        )


class RulesJson(View):
    """All rules in their order; those in force take `tokens`. Past `tokens_limit` some should be retired (S4)."""

    items: list[RuleJson]
    tokens: int
    tokens_limit: int


class ReasonJson(View):
    rule: str
    words: str


class DeeperJson(View):
    """Whether what leaves the window is read for deeper memory (V8), and every reason why not."""

    active: bool
    reasons: list[ReasonJson]

    @classmethod
    def of(cls, deeper: Deeper) -> Self:
        return cls(
            active=deeper.active,
            reasons=[ReasonJson(rule=reason.rule, words=reason.words) for reason in deeper.reasons],
        )


class CountsJson(View):
    """Where the conversation's chosen messages are: each in one place."""

    messages: int
    summarised: int
    waiting: int
    in_window: int


class SummaryJson(View):
    """`nodes` are those that are sent, oldest turns first; `tokens` what they take, by tier. `summarised_to` is the
    position of the last turn that they stand for, -1 for none. When some were written `at_other_levels` than `level`, a
    rebuild is on offer (S8).
    """

    conversation_id: str
    level: Level
    at_other_levels: int
    counts: CountsJson
    summarised_to: int
    nodes: list[NodeJson]
    tokens: dict[Tier, int]
    rules: RulesJson
    rebuilding: bool
    deeper: DeeperJson

    @classmethod
    def of(cls, view: SummaryView, *, rules_limit: int) -> Self:
        return cls(
            conversation_id=view.conversation.conversation_id,
            level=view.level,
            at_other_levels=view.at_other_levels,
            counts=CountsJson(
                messages=view.conversation.messages,
                summarised=view.summarised,
                waiting=view.waiting,
                in_window=view.in_window,
            ),
            summarised_to=view.conversation.summarised_to,
            nodes=[NodeJson.of(one) for one in view.nodes],
            tokens=dict(view.tokens),
            rules=RulesJson(
                items=[RuleJson.of(rule) for rule in view.rules], tokens=view.rules_tokens, tokens_limit=rules_limit
            ),
            rebuilding=view.rebuilding,
            deeper=DeeperJson.of(view.deeper),
        )


class LevelChangedJson(View):
    """`at_other_levels` of the nodes were written at another level; when there are any, a rebuild is on offer (S8)."""

    level: Level
    at_other_levels: int
    rebuild_offered: bool

    @classmethod
    def of(cls, changed: LevelChanged) -> Self:
        others = changed.at_other_levels
        return cls(level=changed.level, at_other_levels=others, rebuild_offered=others > 0)


class SummaryLineJson(View):
    """A line of a summary that has `matched` of a text's `asked` index terms."""

    conversation_id: str
    node_id: str
    part: Part
    text: str
    matched: int
    asked: int

    @classmethod
    def of(cls, line: SummaryLine) -> Self:
        return cls(
            conversation_id=line.conversation_id,
            node_id=line.node_id,
            part=line.item.part,
            text=line.item.text,
            matched=line.matched,
            asked=line.asked,
        )
