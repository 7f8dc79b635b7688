"""What a conversation's summary is made of: nodes in three tiers, their items, and the rules a user gave (S2–S4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from souvenance.domain.ids import ConversationId, MessageId, NodeId, RebuildId, RuleId
from souvenance.domain.limits import Level


class Spot(NamedTuple):
    """Where a chosen message stands in its conversation: its turn's position, and its part of that turn.

    A fork's copy stands at the same spot as the message it was copied from.
    """

    position: int
    part: int


class Tier(StrEnum):
    RECENT = "recent"
    MERGED = "merged"
    LONG_TERM = "long_term"


class Part(StrEnum):
    """The parts of a node beside its rules, in the order in which they are shown (S4)."""

    PROMISES = "promises"
    REFERENCES = "references"
    STATE = "state"
    TIMELINE = "timeline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One line of a part, drawn from the messages `first` to `last`.

    `kept` is a promise's: it was kept or withdrawn, and is open no more. `day` is a timeline line's date as it is shown
    (free text, "" when unknown). `about` names what a state line is about, so that a later one supersedes it ("" for
    nothing in particular).
    """

    part: Part
    text: str
    first: Spot
    last: Spot
    kept: bool = False
    day: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What stands for the turns at positions `first` to `last`, both included.

    `model` is empty where the text was extracted without one (S11). `children` are the nodes that it was made of, in
    order: of a `merged` one four `recent`, of a `long_term` one the version before it (if any) and `merged` ones, or
    what it condenses. `stale` are the spots under it that changed since it was made (S9). A `live` one has no live node
    over it and is sent; `rebuild_id` names the rebuild that has not been swapped in yet. `version` counts its changes.
    """

    node_id: NodeId
    conversation_id: ConversationId
    tier: Tier
    first: int
    last: int
    level: Level
    model: str
    prompt_version: str
    made_at: datetime
    tokens: int
    children: tuple[NodeId, ...] = ()
    items: tuple[Item, ...] = ()
    edited: bool = False
    stale: frozenset[Spot] = frozenset()
    live: bool = True
    rebuild_id: RebuildId | None = None
    version: int = 1

    @property
    def is_extracted(self) -> bool:
        return not self.model


class FoundBy(StrEnum):
    CODE = "code"
    MODEL = "model"
    PERSON = "person"


class Source(NamedTuple):
    """A user message that says a rule; a person's own rule has the spot it was added at, and no message."""

    message_id: MessageId | None
    spot: Spot


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A correction or standing instruction of the user, word for word, once per conversation (S4).

    It is in force while it has a source, is not `closed_by` a later message of the user that takes it back, and was not
    `retired` by a person. `place` orders the rules of a conversation.
    """

    rule_id: RuleId
    conversation_id: ConversationId
    text: str
    sources: tuple[Source, ...]
    found_by: FoundBy
    place: int
    closed_by: Source | None = None
    retired: bool = False

    @property
    def in_force(self) -> bool:
        return bool(self.sources) and self.closed_by is None and not self.retired


class RebuildState(StrEnum):
    """RUNNING until it is swapped in (DONE), CANCELLED, PAUSED by a person, or FAILED until a person resumes it."""

    RUNNING = "running"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuild:
    """A summary being written anew at `level`, for the turns up to position `up_to` (S7).

    `steps` of `steps_estimated` are done. Tokens are those of its calls: estimated before it began (out: at most), and
    spent so far. `edited` is how many nodes that a person edited it will discard; `reason` why it FAILED, a
    stable code.
    """

    rebuild_id: RebuildId
    conversation_id: ConversationId
    level: Level
    state: RebuildState
    up_to: int
    steps: int = 0
    steps_estimated: int
    estimated_in: int
    estimated_out: int
    spent_in: int = 0
    spent_out: int = 0
    edited: int = 0
    reason: str = ""
    begun_at: datetime
    ended_at: datetime | None = None
