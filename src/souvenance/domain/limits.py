"""Every figure of the specification, once, each with its rule and unit; the reference table is made from here."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Self

from souvenance.errors import BadValue


class Level(StrEnum):
    """How much a conversation keeps word for word, and how much its summary keeps (W1, S13)."""

    KEY_EVENTS = "key_events"
    BALANCED = "balanced"
    DETAILED = "detailed"

    @classmethod
    def read(cls, raw: str) -> Self:
        """BadValue for a level that does not exist."""
        try:
            return cls(raw)
        except ValueError as e:
            raise BadValue("level", value=raw, expected=", ".join(cls)) from e


def _figure(default: Any, rule: str, unit: str, says: str) -> Any:
    return field(default=default, metadata={"rule": rule, "unit": unit, "says": says})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The defaults of SPEC.md; an installation may set others in its settings file."""

    key_events_tokens: int = _figure(6_000, "W1", "tokens", "window at level key_events")
    key_events_messages: int = _figure(30, "W1", "messages", "window at level key_events")
    balanced_tokens: int = _figure(10_000, "W1", "tokens", "window at level balanced")
    balanced_messages: int = _figure(50, "W1", "messages", "window at level balanced")
    detailed_tokens: int = _figure(16_000, "W1", "tokens", "window at level detailed")
    detailed_messages: int = _figure(80, "W1", "messages", "window at level detailed")
    window_share: float = _figure(0.25, "W1", "of the context", "most the window takes of the model's context")
    lag_share: float = _figure(0.5, "W4", "of the window", "how much the window may hold beyond W1 while it waits")
    batch_share: float = _figure(0.2, "W6", "of the window", "largest batch by which the window's start moves")
    batch_messages: int = _figure(10, "W6", "messages", "largest batch by which the window's start moves")
    rest_share: float = _figure(0.75, "W6", "of the window", "where a compaction stops")
    unknown_context: int = _figure(8_192, "W7", "tokens", "context assumed of an unknown model")
    reply_tokens: int = _figure(1_024, "W7", "tokens", "room kept for the reply when the caller names none")
    part_tokens: int = _figure(1_000, "W7", "tokens", "a part of a message that is no text, such as a picture")
    room_unpinned: int = _figure(100, "M2", "memories", "unpinned memories of a scope that are not archived")
    room_pinned: int = _figure(20, "M2", "memories", "pinned memories of a scope")
    memory_characters: int = _figure(500, "M3", "characters", "a memory's free text")
    key_characters: int = _figure(128, "M3", "characters", "a key")
    value_characters: int = _figure(10_000, "M3", "characters", "a key's value")
    subject_characters: int = _figure(128, "M4", "characters", "whom a memory is about")
    unpinned_in_prompt: int = _figure(100, "M6", "memories", "unpinned memories sent in a turn")
    recent_days: int = _figure(7, "M6", "days", "how long a memory is marked recent")
    confidence_explicit: float = _figure(0.99, "M4", "", "confidence of an explicit request")
    confidence_implicit: float = _figure(0.93, "M4", "", "confidence of an implicit statement")
    confidence_model: float = _figure(0.9, "M4", "", "highest confidence of model, text call and deeper pass")
    confidence_import: float = _figure(0.8, "M4", "", "confidence of an import that gives none")
    description_drafted: int = _figure(1_000, "V5", "characters", "a description that memories are drafted from")
    drafts_most: int = _figure(5, "V5", "drafts", "drafts that a model writes at once")
    draft_messages: int = _figure(20, "V6", "messages", "messages that are saved from a conversation at once")
    draft_days: int = _figure(7, "V10", "days", "how long a draft can be saved")
    undo_seconds: int = _figure(10, "M14", "seconds", "how long an erasure can be undone")
    since_then_entries: int = _figure(12, "C6", "entries", "longest list of changes before a new epoch starts")
    since_then_tokens: int = _figure(600, "C6", "tokens", "longest list of changes before a new epoch starts")
    give_way_memories: int = _figure(
        8, "C6", "memories", "unpinned ones that give way at once, at most a quarter of all"
    )
    request_key_characters: int = _figure(256, "T6", "characters", "an idempotency key")
    message_characters: int = _figure(400_000, "W5", "characters", "a message")
    name_characters: int = _figure(128, "E1", "characters", "a name of a bot or persona")
    model_characters: int = _figure(256, "I3", "characters", "a name of a model; one with a longer name is not offered")
    title_characters: int = _figure(256, "I2", "characters", "a conversation's title")
    system_prompt_characters: int = _figure(100_000, "E1", "characters", "a bot's system prompt")
    link_characters: int = _figure(64_000, "K4", "characters", "a link that shares a bot")
    document_bytes: int = _figure(1_000_000, "K4", "bytes", "a shared bot, unpacked")
    members_most: int = _figure(8, "M7", "bots", "members of a group conversation")
    description_characters: int = _figure(4_000, "E1", "characters", "a persona's description")
    request_bytes: int = _figure(8_000_000, "I2", "bytes", "a request's body")
    page_items: int = _figure(50, "P4", "items", "a page, when the caller names no size")
    page_most: int = _figure(200, "I2", "items", "the largest page")
    query_hits: int = _figure(10, "Q1", "hits", "hits of a query, when the caller names no number")
    query_terms: int = _figure(128, "Q1", "terms", "index terms of a query that are looked for, the first ones")
    query_most: int = _figure(100, "Q1", "hits", "most hits of a query")
    similar_conversations: int = _figure(
        10, "V4", "conversations", "newest ones whose summaries are looked at for what is there already"
    )
    tool_rounds: int = _figure(4, "V1", "rounds", "how often a reply may call memory tools before it must speak")
    recent_tokens_key_events: int = _figure(350, "S13", "tokens", "a recent node's text at level key_events")
    recent_tokens_balanced: int = _figure(600, "S13", "tokens", "a recent node's text at level balanced")
    recent_tokens_detailed: int = _figure(1_000, "S13", "tokens", "a recent node's text at level detailed")
    merged_tokens_key_events: int = _figure(700, "S13", "tokens", "a merged node's text at level key_events")
    merged_tokens_balanced: int = _figure(1_300, "S13", "tokens", "a merged node's text at level balanced")
    merged_tokens_detailed: int = _figure(2_400, "S13", "tokens", "a merged node's text at level detailed")
    long_term_tokens_key_events: int = _figure(4_000, "S5", "tokens", "the long-term text at level key_events")
    long_term_tokens_balanced: int = _figure(8_000, "S5", "tokens", "the long-term text at level balanced")
    long_term_tokens_detailed: int = _figure(16_000, "S5", "tokens", "the long-term text at level detailed")
    condense_share: float = _figure(1.25, "S5", "of the bound", "from where the long-term text is condensed")
    nodes_merged: int = _figure(4, "S2", "nodes", "nodes of a tier that become one of the next")
    rule_characters: int = _figure(300, "S4", "characters", "a rule")
    rules_tokens: int = _figure(2_000, "S4", "tokens", "all rules in force; past it a person is asked which to retire")
    answer_share: float = _figure(2.0, "S5", "of the budget", "how long a summarising model's answer may be")
    edited_node_tokens: int = _figure(20_000, "S6", "tokens", "a node's text as a person writes it")
    work_failures: int = _figure(5, "S1", "failures", "failures of a piece of background work before it is parked")
    work_pause_seconds: int = _figure(
        60, "S1", "seconds", "pause after the first failure of a piece of background work"
    )
    work_pause_growth: int = _figure(4, "S1", "times", "how much longer each further failure's pause is")
    work_spend_hour: int = _figure(400_000, "C4", "tokens an hour", "what background work may spend for one account")
    deeper_messages: int = _figure(6, "V8", "messages", "fewest new messages that are read for deeper memory")
    deeper_changes: int = _figure(3, "V8", "changes", "most changes of one reading for deeper memory")
    prompt_days: int = _figure(90, "C1", "days", "how long a sent prompt can be read back")

    def window_tokens(self, level: Level) -> int:
        return {
            Level.KEY_EVENTS: self.key_events_tokens,
            Level.BALANCED: self.balanced_tokens,
            Level.DETAILED: self.detailed_tokens,
        }[level]

    def window_messages(self, level: Level) -> int:
        return {
            Level.KEY_EVENTS: self.key_events_messages,
            Level.BALANCED: self.balanced_messages,
            Level.DETAILED: self.detailed_messages,
        }[level]

    def recent_tokens(self, level: Level) -> int:
        return {
            Level.KEY_EVENTS: self.recent_tokens_key_events,
            Level.BALANCED: self.recent_tokens_balanced,
            Level.DETAILED: self.recent_tokens_detailed,
        }[level]

    def merged_tokens(self, level: Level) -> int:
        return {
            Level.KEY_EVENTS: self.merged_tokens_key_events,
            Level.BALANCED: self.merged_tokens_balanced,
            Level.DETAILED: self.merged_tokens_detailed,
        }[level]

    def long_term_tokens(self, level: Level) -> int:
        return {
            Level.KEY_EVENTS: self.long_term_tokens_key_events,
            Level.BALANCED: self.long_term_tokens_balanced,
            Level.DETAILED: self.long_term_tokens_detailed,
        }[level]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the reference table of limits."""

    name: str
    value: float
    rule: str
    unit: str
    says: str


def figures(limits: Limits) -> tuple[Figure, ...]:
    """Every limit in the order of the class, for the reference page and the API."""
    return tuple(
        Figure(
            name=f.name,
            value=getattr(limits, f.name),
            rule=f.metadata["rule"],
            unit=f.metadata["unit"],
            says=f.metadata["says"],
        )
        for f in fields(limits)
    )
