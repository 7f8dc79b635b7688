"""When memory is on (section 6, E1, P3): the one place that every reader and every writer asks.

A bot's preset and settings say what a conversation would do with memory (E1); each row of the table that applies says
what it may do at most. What is left is what all of them permit: the strictest wins. What a person adds or edits in the
panel asks nobody (O1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Flag, auto

from souvenance.domain.bot import PRESETS, Bot, BotSettings, Extraction, Preset
from souvenance.domain.conversation import Channel, Conversation, Flags
from souvenance.domain.limits import Level
from souvenance.domain.memory import ACCOUNT_SCOPE, Scope, ScopeKind


class Reads(Flag):
    """Whose memories a conversation reads; IN_PAGE is the browser's own store, which the server never sees (K5)."""

    BOT = auto()
    ACCOUNT = auto()
    ORGANISATION = auto()
    CONVERSATION = auto()
    IN_PAGE = auto()


class Writes(Flag):
    """By which ways a conversation writes: V1, V2, X, V3, and K5's, which only the page does."""

    TOOLS = auto()
    TEXT_CALLS = auto()
    EXTRACTION = auto()
    COMMANDS = auto()
    IN_PAGE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """All that the policy depends on. `settings` are the speaking bot's, a bare upstream model's the assistant's."""

    preset: Preset
    settings: BotSettings
    flags: Flags
    channel: Channel
    in_organisation: bool
    can_call_tools: bool
    plan_has_deeper: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A row of the table that holds something back here."""

    rule: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a conversation may do with memory.

    `reads` is in M6's order. What the model, extraction and commands write goes to the first of `write_scopes` unless
    the write names another of them (E1). `model_tools` is about tools that write, `model_queries` about `memory_query`.
    `command_note` is what a command's answer adds, `command_refusal` why commands are refused; empty when there is
    nothing to say. `in_page` says that the page does what K5 leaves to it. `finds_messages` is about looking for past
    messages from here, `may_be_found` about being found from elsewhere. Where nothing is `stored`, what passes the
    window is dropped with a visible note (O4). `deeper_reasons` are all that speaks against deeper memory here (V8).
    """

    reads: tuple[ScopeKind, ...]
    write_scopes: tuple[ScopeKind, ...]
    model_tools: bool
    model_queries: bool
    text_calls: bool
    extraction: Extraction
    commands: bool
    command_note: str
    command_refusal: str
    in_page: bool
    finds_messages: bool
    may_be_found: bool
    stored: bool
    level_fixed: Level | None
    reasons: tuple[Reason, ...]
    deeper_reasons: tuple[Reason, ...]

    @property
    def deeper(self) -> bool:
        return not self.deeper_reasons

    @property
    def saves_from_chat(self) -> bool:
        """V6: whether a person may save messages of this conversation; where commands are refused, this is too."""
        return self.commands

    @property
    def summary(self) -> bool:
        """Whether what leaves the window is summarised: always within this conversation only (S2)."""
        return self.stored


_NO_READS, _ANY_READS = Reads(0), ~Reads(0)
_NO_WRITES, _ANY_WRITES = Writes(0), ~Writes(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One row of section 6: when it applies, and what it permits at most in each column."""

    rule: str
    words: str
    applies: Callable[[Circumstances], bool]
    reads: Reads
    writes: Writes
    deeper: bool
    finds: bool
    found: bool = True
    stored: bool = True
    level: Level | None = None


_TABLE = (
    _Row(
        rule="O1",
        words="learning from this bot's chats is turned off",
        applies=lambda case: not case.settings.learn,
        reads=_NO_READS,
        writes=Writes.COMMANDS,
        deeper=False,
        finds=False,
    ),
    _Row(
        rule="O2",
        words="tools are turned off, or the model has none",
        applies=lambda case: not _has_tools(case),
        reads=_ANY_READS,
        writes=~Writes.TOOLS,
        deeper=True,
        finds=True,
    ),
    _Row(
        rule="O3",
        words="this is a challenge conversation",
        applies=lambda case: case.flags.challenge,
        reads=_NO_READS,
        writes=_NO_WRITES,
        deeper=False,
        finds=False,
        found=False,
    ),
    _Row(
        rule="O4",
        words="this chat is anonymous or temporary, nothing of it is stored",
        applies=lambda case: case.flags.anonymous or case.flags.temporary,
        reads=_NO_READS,
        writes=_NO_WRITES,
        deeper=False,
        finds=False,
        found=False,
        stored=False,
    ),
    _Row(
        rule="O5",
        words="this bot belongs to an organisation and is used through its gateway",
        applies=lambda case: case.flags.gateway,
        reads=Reads.ORGANISATION,
        writes=_NO_WRITES,
        deeper=False,
        finds=False,
    ),
    _Row(
        rule="O6",
        words="this conversation is on Telegram or Discord",
        applies=lambda case: case.channel in {Channel.TELEGRAM, Channel.DISCORD},
        reads=_ANY_READS,
        writes=_ANY_WRITES,
        deeper=False,
        finds=True,
        level=Level.BALANCED,
    ),
    _Row(
        rule="O7",
        words="the plan does not include deeper memory",
        applies=lambda case: not case.plan_has_deeper,
        reads=_ANY_READS,
        writes=_ANY_WRITES,
        deeper=False,
        finds=True,
    ),
    _Row(
        rule="O8",
        words="this bot's memory stays in the browser",
        applies=lambda case: case.settings.browser_only,
        reads=Reads.IN_PAGE,
        writes=Writes.IN_PAGE,
        deeper=False,
        finds=False,
    ),
)

_E1_READS = {
    Preset.COMPANION: Reads.BOT | Reads.ACCOUNT,
    Preset.NOTEBOOK: Reads.BOT,
    Preset.ASSISTANT: Reads.ACCOUNT | Reads.ORGANISATION | Reads.CONVERSATION,
}
_E1_WRITE_SCOPES = {
    Preset.COMPANION: (ScopeKind.BOT,),
    Preset.NOTEBOOK: (ScopeKind.BOT,),
    Preset.ASSISTANT: (ScopeKind.ACCOUNT, ScopeKind.CONVERSATION),
}
_SCOPES = {
    Reads.BOT: ScopeKind.BOT,
    Reads.ACCOUNT: ScopeKind.ACCOUNT,
    Reads.ORGANISATION: ScopeKind.ORGANISATION,
    Reads.CONVERSATION: ScopeKind.CONVERSATION,
}


def circumstances(
    conversation: Conversation, speaker: Bot | None, *, can_call_tools: bool, plan_has_deeper: bool
) -> Circumstances:
    """What the policy of this conversation depends on while `speaker` (None: a bare upstream model) speaks."""
    return Circumstances(
        preset=speaker.preset if speaker else Preset.ASSISTANT,
        settings=speaker.settings if speaker else PRESETS[Preset.ASSISTANT],
        flags=conversation.flags,
        channel=conversation.channel,
        in_organisation=conversation.organisation_id is not None,
        can_call_tools=can_call_tools,
        plan_has_deeper=plan_has_deeper,
    )


def policy(case: Circumstances) -> Policy:
    """What this conversation may read and write, and which passes may run on it."""
    rows = tuple(row for row in _TABLE if row.applies(case))
    reads, writes = _wanted_reads(case), _wanted_writes(case)
    for row in rows:
        reads, writes = reads & row.reads, writes & row.writes
    kinds = tuple(kind for read, kind in _SCOPES.items() if read in reads)
    refusal, note = _about_commands(rows)
    return Policy(
        reads=kinds,
        write_scopes=_E1_WRITE_SCOPES[case.preset] if writes & ~Writes.IN_PAGE else (),
        model_tools=Writes.TOOLS in writes,
        model_queries=_has_tools(case) and bool(kinds),
        text_calls=Writes.TEXT_CALLS in writes,
        extraction=case.settings.extraction if Writes.EXTRACTION in writes else Extraction.OFF,
        commands=Writes.COMMANDS in writes,
        command_note=note,
        command_refusal=refusal,
        in_page=Reads.IN_PAGE in reads and Writes.IN_PAGE in writes,
        finds_messages=all(row.finds for row in rows),
        may_be_found=all(row.found for row in rows),
        stored=all(row.stored for row in rows),
        level_fixed=next((row.level for row in rows if row.level), None),
        reasons=tuple(map(_reason, rows)),
        deeper_reasons=tuple(_against_deeper(case, rows)),
    )


def joins(member: Bot) -> bool:
    """M7: whether a member of a group gives its memories to the others; a notebook's store never joins."""
    return member.settings.learn and not member.settings.browser_only and not member.is_notebook


def read_with(chosen: Policy, others: Sequence[Bot]) -> tuple[Bot, ...]:
    """The other members of a group whose memories a speaker of this policy reads (M7): none where it reads no account
    memory, as with learning off (O1), in a challenge (O3), through a gateway (O5), or for a notebook (K1).
    """
    return tuple(member for member in others if joins(member)) if ScopeKind.ACCOUNT in chosen.reads else ()


def writes_to(bot: Bot | None) -> Scope:
    """Where memories for this bot go unless they say otherwise (E1): its own scope, or the account's."""
    by_bot = bot is not None and _E1_WRITE_SCOPES[bot.preset][0] is ScopeKind.BOT
    return Scope.of_bot(bot.bot_id) if bot is not None and by_bot else ACCOUNT_SCOPE


def _has_tools(case: Circumstances) -> bool:
    return case.can_call_tools and case.settings.tools


def _wanted_reads(case: Circumstances) -> Reads:
    wanted = _E1_READS[case.preset]
    if not case.in_organisation:
        wanted &= ~Reads.ORGANISATION
    return wanted | Reads.IN_PAGE if case.settings.browser_only else wanted


def _wanted_writes(case: Circumstances) -> Writes:
    wanted = Writes.TOOLS | Writes.COMMANDS
    if case.settings.text_calls:
        wanted |= Writes.TEXT_CALLS
    if case.settings.extraction is not Extraction.OFF:
        wanted |= Writes.EXTRACTION
    return wanted | Writes.IN_PAGE if case.settings.browser_only else wanted


def _reason(row: _Row) -> Reason:
    return Reason(rule=row.rule, words=row.words)


def _against_deeper(case: Circumstances, rows: tuple[_Row, ...]) -> Iterator[Reason]:
    if not case.settings.deeper:
        yield Reason(rule="E1", words="deeper memory is turned off for this bot")
    yield from (_reason(row) for row in rows if not row.deeper)


def _about_commands(rows: tuple[_Row, ...]) -> tuple[str, str]:
    """Why commands are refused, and what their answer adds where they work although the chat stores nothing (O1)."""
    refusing = next((row.words for row in rows if Writes.COMMANDS not in row.writes), "")
    noting = next((row.words for row in rows if row.writes == Writes.COMMANDS), "")
    return refusing, "" if refusing else noting
