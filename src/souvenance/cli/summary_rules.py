"""`souvenance summary rules …`: what a person told a bot to stick to in one conversation."""

from __future__ import annotations

from typing import Annotated

import typer

from souvenance.cli.options import AsJson, Database, Folder
from souvenance.cli.output import json_line, line, table
from souvenance.cli.running import with_memory
from souvenance.cli.summary_forms import rule_form
from souvenance.domain.ids import ConversationId, RuleId
from souvenance.domain.summary import Rule

rules = typer.Typer(no_args_is_help=True, help="The rules of one conversation, sent word for word with every message.")

Which = Annotated[str, typer.Argument(metavar="CONVERSATION", help="Its id, as `conversations list` prints it.")]
RuleArgument = Annotated[str, typer.Argument(metavar="RULE", help="The rule's id, as `summary rules list` prints it.")]
Words = Annotated[str, typer.Argument(help="The rule in your own words.")]


@rules.command("list")
def list_(which: Which, *, folder: Folder = None, database_url: Database = None, as_json: AsJson = False) -> None:
    """All rules, also those that were retired or taken back."""
    view = with_memory(
        lambda memory: memory.summaries.read(ConversationId(which)), folder=folder, database_url=database_url
    )
    if as_json:
        for rule in view.rules:
            json_line(rule_form(rule))
    else:
        table(
            ("id", "state", "found by", "text"), [(r.rule_id, _state(r), r.found_by.value, r.text) for r in view.rules]
        )


@rules.command()
def add(
    which: Which, text: Words, *, folder: Folder = None, database_url: Database = None, as_json: AsJson = False
) -> None:
    """Add a rule."""
    here = ConversationId(which)
    _print(
        with_memory(lambda memory: memory.summaries.add_rule(here, text), folder=folder, database_url=database_url),
        as_json=as_json,
    )


@rules.command()
def edit(
    which: Which,
    rule: RuleArgument,
    text: Words,
    *,
    was: Annotated[str | None, typer.Option(help="Refuse when the rule says something else than this by now.")] = None,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Reword a rule."""
    edited = with_memory(
        lambda memory: memory.summaries.edit_rule(ConversationId(which), RuleId(rule), text, was=was),
        folder=folder,
        database_url=database_url,
    )
    _print(edited, as_json=as_json)


@rules.command()
def retire(
    which: Which, rule: RuleArgument, *, folder: Folder = None, database_url: Database = None, as_json: AsJson = False
) -> None:
    """Take a rule out of every prompt to come; it stays listed."""
    retired = with_memory(
        lambda memory: memory.summaries.retire_rule(ConversationId(which), RuleId(rule)),
        folder=folder,
        database_url=database_url,
    )
    _print(retired, as_json=as_json)


@rules.command()
def reopen(
    which: Which, rule: RuleArgument, *, folder: Folder = None, database_url: Database = None, as_json: AsJson = False
) -> None:
    """Let a rule that was retired or taken back hold again."""
    reopened = with_memory(
        lambda memory: memory.summaries.reopen_rule(ConversationId(which), RuleId(rule)),
        folder=folder,
        database_url=database_url,
    )
    _print(reopened, as_json=as_json)


@rules.command()
def remove(which: Which, rule: RuleArgument, *, folder: Folder = None, database_url: Database = None) -> None:
    """Forget a rule; said again it is a rule again."""
    with_memory(
        lambda memory: memory.summaries.remove_rule(ConversationId(which), RuleId(rule)),
        folder=folder,
        database_url=database_url,
    )
    line(f"{rule}\tremoved")


def _print(rule: Rule, *, as_json: bool) -> None:
    if as_json:
        json_line(rule_form(rule))
    else:
        line(f"{rule.rule_id}\t{_state(rule)}\t{rule.text}")


def _state(rule: Rule) -> str:
    if rule.retired:
        return "retired"
    return "taken back" if rule.closed_by is not None else "in force"
