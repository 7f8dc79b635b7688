"""Nodes, rules and rebuilds for tests of the summary, what the test cares about replaced in each."""

from __future__ import annotations

from typing import Any

from souvenance.domain.ids import NodeId, RebuildId, RuleId
from souvenance.domain.limits import Level
from souvenance.domain.summary import FoundBy, Item, Node, Part, Rebuild, RebuildState, Rule, Source, Spot, Tier
from tests.conformance import rows
from tests.conformance.rows import CHAT, later

ITEMS = (
    Item(part=Part.PROMISES, text="Ilse will bring “the map”\nto Ørje", first=Spot(0, 0), last=Spot(2, 1), kept=True),
    Item(part=Part.TIMELINE, text="They met.", first=Spot(0, 1), last=Spot(0, 1), day="12 May"),
    Item(part=Part.STATE, text="Tired", first=Spot(3, 0), last=Spot(3, 0), about="Ilse"),
)


def node(number: int, first: int, last: int, **other: Any) -> Node:
    given: dict[str, Any] = {
        "node_id": NodeId(f"nod_{number:03}"),
        "conversation_id": CHAT,
        "tier": Tier.RECENT,
        "level": Level.BALANCED,
        "model": "tiny",
        "prompt_version": "s1",
        "made_at": later(number),
        "tokens": 40,
        "items": ITEMS,
        **other,
    }
    return Node(first=first, last=last, **given)


def rule(number: int, text: str, *positions: int, **other: Any) -> Rule:
    sources = tuple(Source(message_id=rows.message(p).message_id, spot=Spot(p, 0)) for p in positions)
    given: dict[str, Any] = {"conversation_id": CHAT, "sources": sources, "found_by": FoundBy.CODE, **other}
    return Rule(rule_id=RuleId(f"rul_{number:03}"), text=text, place=number, **given)


def rebuild(number: int = 1, **other: Any) -> Rebuild:
    given: dict[str, Any] = {
        "conversation_id": CHAT,
        "level": Level.DETAILED,
        "state": RebuildState.RUNNING,
        "up_to": 40,
        "steps_estimated": 9,
        "estimated_in": 12_000,
        "estimated_out": 3_000,
        "begun_at": later(number),
        **other,
    }
    return Rebuild(rebuild_id=RebuildId(f"reb_{number}"), **given)
