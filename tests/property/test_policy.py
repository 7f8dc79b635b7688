"""Combined circumstances: the strictest of section 6 wins."""

from __future__ import annotations

from dataclasses import fields, replace

from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.bot import BotSettings, Extraction, Preset
from souvenance.domain.conversation import Channel, Flags
from souvenance.domain.memory import ScopeKind
from souvenance.domain.policy import Circumstances, Policy, policy

flags = st.builds(
    Flags, challenge=st.booleans(), gateway=st.booleans(), anonymous=st.booleans(), temporary=st.booleans()
)
settings = st.builds(
    BotSettings,
    text_calls=st.booleans(),
    extraction=st.sampled_from(Extraction),
    deeper=st.booleans(),
    learn=st.booleans(),
    tools=st.booleans(),
    browser_only=st.booleans(),
)
cases = st.builds(
    Circumstances,
    preset=st.sampled_from(Preset),
    settings=settings,
    flags=flags,
    channel=st.sampled_from(Channel),
    in_organisation=st.booleans(),
    can_call_tools=st.booleans(),
    plan_has_deeper=st.booleans(),
)
strictnesses = st.sampled_from(
    [
        *(f"flag {field.name}" for field in fields(Flags)),
        "learn off",
        "tools off",
        "no tools",
        "no plan",
        "telegram",
        "browser",
    ]
)


def stricter(case: Circumstances, how: str) -> Circumstances:
    match how:
        case "learn off":
            return replace(case, settings=replace(case.settings, learn=False))
        case "tools off":
            return replace(case, settings=replace(case.settings, tools=False))
        case "browser":
            return replace(case, settings=replace(case.settings, browser_only=True))
        case "no tools":
            return replace(case, can_call_tools=False)
        case "no plan":
            return replace(case, plan_has_deeper=False)
        case "telegram":
            return replace(case, channel=Channel.TELEGRAM)
        case _:
            return replace(case, flags=replace(case.flags, **{how.removeprefix("flag "): True}))


def permissions(found: Policy) -> set[str]:
    """Everything that a policy allows on the server, as words."""
    named = {
        name
        for name in (
            "model_tools",
            "model_queries",
            "text_calls",
            "commands",
            "deeper",
            "finds_messages",
            "may_be_found",
            "summary",
            "stored",
        )
        if getattr(found, name)
    }
    extraction = set() if found.extraction is Extraction.OFF else {f"extraction {found.extraction}"}
    return named | extraction | {f"reads {kind}" for kind in found.reads} | {f"writes {k}" for k in found.write_scopes}


@given(case=cases, how=strictnesses)
def test_one_more_reason_never_permits_more(case: Circumstances, how: str) -> None:
    before, after = policy(case), policy(stricter(case, how))
    assert permissions(after) <= permissions(before)
    assert {reason.rule for reason in before.reasons} <= {reason.rule for reason in after.reasons}
    assert not after.in_page or before.in_page or how == "browser"


@given(case=cases)
def test_commands_either_work_or_say_why_not(case: Circumstances) -> None:
    found = policy(case)
    assert found.commands == (not found.command_refusal)
    assert found.commands or not found.command_note


@given(case=cases)
def test_whatever_holds_something_back_is_named_and_nothing_else(case: Circumstances) -> None:
    applying = {
        "O1": not case.settings.learn,
        "O2": not (case.can_call_tools and case.settings.tools),
        "O3": case.flags.challenge,
        "O4": case.flags.anonymous or case.flags.temporary,
        "O5": case.flags.gateway,
        "O6": case.channel in {Channel.TELEGRAM, Channel.DISCORD},
        "O7": not case.plan_has_deeper,
        "O8": case.settings.browser_only,
    }
    assert [reason.rule for reason in policy(case).reasons] == [rule for rule, applies in applying.items() if applies]


@given(case=cases)
def test_a_gateway_session_reads_at_most_the_organisations_and_writes_nothing(case: Circumstances) -> None:
    found = policy(stricter(case, "flag gateway"))
    assert set(found.reads) <= {ScopeKind.ORGANISATION}
    assert (found.write_scopes, found.in_page) == ((), False)


@given(case=cases)
def test_the_server_neither_reads_nor_writes_for_a_browser_only_bot(case: Circumstances) -> None:
    found = policy(stricter(case, "browser"))
    assert (found.reads, found.write_scopes, found.commands) == ((), (), False)
