"""Section 6, row by row and column by column, and E1's settings where nothing is off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from souvenance.domain.bot import PRESETS, Bot, Extraction, Preset
from souvenance.domain.conversation import Channel, Conversation, Flags
from souvenance.domain.ids import BotId, ConversationId, OwnerId
from souvenance.domain.limits import Level
from souvenance.domain.memory import ScopeKind
from souvenance.domain.policy import Circumstances, circumstances, joins, policy

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ACCOUNT, BOT = ScopeKind.ACCOUNT, ScopeKind.BOT
ORGANISATION, CONVERSATION = ScopeKind.ORGANISATION, ScopeKind.CONVERSATION


def case(preset: Preset) -> Circumstances:
    """An ordinary conversation inside an organisation, with everything on that the preset has."""
    return Circumstances(
        preset=preset,
        settings=PRESETS[preset],
        flags=Flags(),
        channel=Channel.WEB,
        in_organisation=True,
        can_call_tools=True,
        plan_has_deeper=True,
    )


COMPANION, NOTEBOOK, ASSISTANT = (case(preset) for preset in Preset)

Change = Callable[[Circumstances], Circumstances]


def flagged(flags: Flags) -> Change:
    return lambda base: replace(base, flags=flags)


def on(channel: Channel) -> Change:
    return lambda base: replace(base, channel=channel)


def all_on(base: Circumstances) -> Circumstances:
    return base


def learn_off(base: Circumstances) -> Circumstances:
    return replace(base, settings=replace(base.settings, learn=False))


def tools_off(base: Circumstances) -> Circumstances:
    return replace(base, settings=replace(base.settings, tools=False))


def browser_only(base: Circumstances) -> Circumstances:
    return replace(base, settings=replace(base.settings, browser_only=True))


def model_without_tools(base: Circumstances) -> Circumstances:
    return replace(base, can_call_tools=False)


def no_deeper_plan(base: Circumstances) -> Circumstances:
    return replace(base, plan_has_deeper=False)


challenge = flagged(Flags(challenge=True))
anonymous = flagged(Flags(anonymous=True))
temporary = flagged(Flags(temporary=True))
gateway = flagged(Flags(gateway=True))


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table, as the specification words it, with what makes it apply."""

    rule: str
    name: str
    change: Change
    reads: str
    writes: str
    deeper: bool
    finds: bool
    found: bool
    summary: bool


TABLE = [
    #                                         reads   writes   deeper finds found summary
    Row("", "all on", all_on, "yes", "yes", True, True, True, True),
    Row("O1", "learn off", learn_off, "no", "commands, noted", False, False, True, True),
    Row("O2", "no tools", model_without_tools, "yes", "text calls, extraction", True, True, True, True),
    Row("O2", "tools off", tools_off, "yes", "text calls, extraction", True, True, True, True),
    Row("O3", "challenge", challenge, "no", "no", False, False, False, True),
    Row("O4", "anonymous", anonymous, "no", "no", False, False, False, False),
    Row("O4", "temporary", temporary, "no", "no", False, False, False, False),
    Row("O5", "gateway", gateway, "organisation's only", "no", False, False, True, True),
    Row("O6", "telegram", on(Channel.TELEGRAM), "yes", "yes", False, True, True, True),
    Row("O6", "discord", on(Channel.DISCORD), "yes", "yes", False, True, True, True),
    Row("O7", "plan", no_deeper_plan, "yes", "yes", False, True, True, True),
    Row("O8", "browser only", browser_only, "in the page", "in the page", False, False, True, True),
]
rows = pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.rule} {row.name}".strip())

READS = {
    "yes": (ACCOUNT, ORGANISATION, CONVERSATION),
    "organisation's only": (ORGANISATION,),
    "in the page": (),
    "no": (),
}
# by tools, text calls, extraction, commands
WRITES = {
    "yes": (True, True, Extraction.ALL, True),
    "text calls, extraction": (False, True, Extraction.ALL, True),
    "commands, noted": (False, False, Extraction.OFF, True),
    "in the page": (False, False, Extraction.OFF, False),
    "no": (False, False, Extraction.OFF, False),
}


@rows
def test_the_column_reads(row: Row) -> None:
    found = policy(row.change(ASSISTANT))
    assert found.reads == READS[row.reads]
    assert found.in_page == (row.reads == "in the page")


@rows
def test_the_column_writes(row: Row) -> None:
    found = policy(row.change(ASSISTANT))
    assert (found.model_tools, found.text_calls, found.extraction, found.commands) == WRITES[row.writes]
    assert bool(found.command_note) == (row.writes == "commands, noted")
    assert found.in_page == (row.writes == "in the page")
    assert found.write_scopes[:1] == (() if row.writes in {"no", "in the page"} else (ACCOUNT,))


@rows
def test_the_column_deeper(row: Row) -> None:
    assert policy(row.change(ASSISTANT)).deeper == row.deeper


@rows
def test_the_column_finds_past_messages(row: Row) -> None:
    found = policy(row.change(ASSISTANT))
    assert (found.finds_messages, found.may_be_found) == (row.finds, row.found)


@rows
def test_the_column_summary(row: Row) -> None:
    found = policy(row.change(ASSISTANT))
    assert (found.summary, found.stored) == (row.summary, row.summary)


@rows
def test_the_level_is_fixed_on_telegram_and_discord_only(row: Row) -> None:
    assert policy(row.change(ASSISTANT)).level_fixed == (Level.BALANCED if row.rule == "O6" else None)


@rows
def test_the_reason_names_the_row(row: Row) -> None:
    found = policy(row.change(ASSISTANT))
    assert [reason.rule for reason in found.reasons] == ([row.rule] if row.rule else [])
    assert all(reason.words for reason in found.reasons)


@pytest.mark.parametrize("change", [challenge, anonymous, temporary, gateway])
def test_commands_are_refused_with_the_reason_in_o3_to_o5(change: Change) -> None:
    found = policy(change(COMPANION))
    assert not found.commands
    assert found.command_refusal == found.reasons[0].words


def test_a_challenge_with_learning_off_refuses_commands_because_of_the_challenge() -> None:
    found = policy(challenge(learn_off(COMPANION)))
    assert (found.commands, found.command_note) == (False, "")
    assert "challenge" in found.command_refusal


@pytest.mark.parametrize(
    ("base", "reads", "writes"),
    [
        (COMPANION, (BOT, ACCOUNT), (BOT,)),
        (NOTEBOOK, (BOT,), (BOT,)),
        (ASSISTANT, (ACCOUNT, ORGANISATION, CONVERSATION), (ACCOUNT, CONVERSATION)),
    ],
    ids=list(Preset),
)
def test_each_preset_reads_and_writes_the_scopes_of_e1(
    base: Circumstances, reads: tuple[ScopeKind, ...], writes: tuple[ScopeKind, ...]
) -> None:
    found = policy(base)
    assert (found.reads, found.write_scopes) == (reads, writes)


@pytest.mark.parametrize(
    ("base", "text_calls", "extraction", "deeper"),
    [
        (COMPANION, False, Extraction.EXPLICIT, True),
        (NOTEBOOK, True, Extraction.OFF, False),
        (ASSISTANT, True, Extraction.ALL, True),
    ],
    ids=list(Preset),
)
def test_each_preset_has_the_ways_in_of_e1(
    base: Circumstances, text_calls: bool, extraction: Extraction, deeper: bool
) -> None:
    found = policy(base)
    assert (found.text_calls, found.extraction, found.deeper) == (text_calls, extraction, deeper)
    assert found.model_tools
    assert found.model_queries


def test_a_companion_without_tools_has_no_text_calls_unless_they_are_turned_on() -> None:
    without = model_without_tools(COMPANION)
    assert not policy(without).text_calls
    assert policy(replace(without, settings=replace(without.settings, text_calls=True))).text_calls
    assert policy(without).write_scopes == (BOT,), "extraction still writes"


def test_a_model_may_query_only_where_it_has_tools_and_something_to_read() -> None:
    assert policy(gateway(ASSISTANT)).model_queries
    assert not policy(model_without_tools(ASSISTANT)).model_queries
    assert not policy(challenge(ASSISTANT)).model_queries


def test_outside_an_organisation_nothing_of_one_is_read() -> None:
    outside = replace(ASSISTANT, in_organisation=False)
    assert policy(outside).reads == (ACCOUNT, CONVERSATION)
    assert policy(gateway(outside)).reads == ()


def test_an_anonymous_chat_with_a_browser_only_bot_uses_the_pages_memory_neither() -> None:
    assert policy(browser_only(NOTEBOOK)).in_page
    assert not policy(anonymous(browser_only(NOTEBOOK))).in_page


def bot(preset: Preset) -> Bot:
    return Bot(
        bot_id=BotId("bot_1"), name="Mira", preset=preset, settings=PRESETS[preset], created_at=NOW, updated_at=NOW
    )


@pytest.mark.parametrize(("preset", "gives"), [("companion", True), ("notebook", False), ("assistant", True)])
def test_in_a_group_a_notebooks_store_never_joins(preset: str, gives: bool) -> None:
    assert joins(bot(Preset(preset))) == gives


@pytest.mark.parametrize("change", [learn_off, browser_only])
def test_in_a_group_a_member_without_memory_on_the_server_gives_nothing(change: Change) -> None:
    assert not joins(replace(bot(Preset.COMPANION), settings=change(COMPANION).settings))


def test_circumstances_come_from_the_conversation_and_its_speaker() -> None:
    conversation = Conversation(
        conversation_id=ConversationId("cnv_1"),
        bot_id=BotId("bot_1"),
        channel=Channel.DISCORD,
        flags=Flags(challenge=True),
        organisation_id=OwnerId("own_2"),
        created_at=NOW,
        updated_at=NOW,
    )
    found = circumstances(conversation, bot(Preset.NOTEBOOK), can_call_tools=False, plan_has_deeper=True)
    assert found == replace(NOTEBOOK, channel=Channel.DISCORD, flags=Flags(challenge=True), can_call_tools=False)


def test_a_bare_upstream_model_is_an_assistant() -> None:
    conversation = Conversation(conversation_id=ConversationId("cnv_1"), bot_id=None, created_at=NOW, updated_at=NOW)
    found = circumstances(conversation, None, can_call_tools=True, plan_has_deeper=True)
    assert found == replace(ASSISTANT, in_organisation=False)


def test_v8_every_reason_against_deeper_memory_is_named_and_no_other() -> None:
    case = replace(model_without_tools(NOTEBOOK), flags=replace(NOTEBOOK.flags, challenge=True))
    found = policy(case)
    assert [reason.rule for reason in found.deeper_reasons] == ["E1", "O3"]
    assert {reason.rule for reason in found.reasons} == {"O2", "O3"}
    assert not found.deeper
