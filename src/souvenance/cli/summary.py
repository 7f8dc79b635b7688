"""`souvenance summary …`: read what stands for the older part of a conversation, and correct it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from souvenance.app.read_summary import NodeView, SummaryView
from souvenance.app.settle_stale import Decision
from souvenance.cli.options import AsJson, Database, Folder
from souvenance.cli.output import json_line, line, say
from souvenance.cli.rebuild import rebuild
from souvenance.cli.running import with_memory
from souvenance.cli.summary_forms import node_form, summary_form
from souvenance.cli.summary_rules import rules
from souvenance.domain.ids import ConversationId, NodeId
from souvenance.domain.limits import Level

summary = typer.Typer(
    no_args_is_help=True, help="Read and correct what stands for the older part of a conversation, and its rules."
)
summary.add_typer(rules, name="rules")
summary.command()(rebuild)

Which = Annotated[str, typer.Argument(metavar="CONVERSATION", help="Its id, as `conversations list` prints it.")]
NodeArgument = Annotated[str, typer.Argument(metavar="NODE", help="The node's id, as `summary show` prints it.")]
Seen = Annotated[
    int | None, typer.Option("--seen", metavar="VERSION", help="Refuse when the node is at another version by now.")
]


@summary.command()
def show(
    which: Which,
    *,
    node: Annotated[str | None, typer.Option(metavar="ID", help="One node, with those that it was made of.")] = None,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """All tiers, oldest first, and how much of the conversation is where."""
    here = ConversationId(which)
    if node is not None:
        opened = with_memory(
            lambda memory: memory.summaries.open(here, NodeId(node)), folder=folder, database_url=database_url
        )
        _print([opened.view, *opened.children], as_json=as_json)
        return
    view = with_memory(lambda memory: memory.summaries.read(here), folder=folder, database_url=database_url)
    if as_json:
        json_line(summary_form(view))
        return
    _print(view.nodes, as_json=False)
    _say_where(view)


@summary.command()
def edit(
    which: Which,
    node: NodeArgument,
    text: Annotated[str, typer.Argument(help="The node's whole new text; `-` reads it from standard input.")],
    *,
    seen: Seen = None,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Rewrite a node; what you write is what later ones are made of."""
    said = typer.get_text_stream("stdin").read() if text == "-" else text
    edited = with_memory(
        lambda memory: memory.summaries.edit(ConversationId(which), NodeId(node), said, seen=seen),
        folder=folder,
        database_url=database_url,
    )
    _print([edited], as_json=as_json)


@summary.command()
def settle(
    which: Which,
    node: NodeArgument,
    decision: Annotated[Decision, typer.Argument(help="Whether your text stays, or is written anew.")],
    *,
    seen: Seen = None,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Say what becomes of a node that you edited and whose messages changed since."""
    settled = with_memory(
        lambda memory: memory.summaries.settle(ConversationId(which), NodeId(node), decision, seen=seen),
        folder=folder,
        database_url=database_url,
    )
    _print([settled], as_json=as_json)


@summary.command()
def level(
    which: Which,
    level: Annotated[Level, typer.Argument(help="How much is kept from the next message on.")],
    *,
    folder: Folder = None,
    database_url: Database = None,
) -> None:
    """Change how much this conversation's bot keeps."""
    changed = with_memory(
        lambda memory: memory.summaries.set_level(ConversationId(which), level),
        folder=folder,
        database_url=database_url,
    )
    line(changed.level.value)
    if changed.at_other_levels:
        say(f"{changed.at_other_levels} nodes were written at another level; they keep it until they are merged.")


def _print(nodes: Sequence[NodeView], *, as_json: bool) -> None:
    for view in nodes:
        if as_json:
            json_line(node_form(view))
        else:
            line(f"{view.node.node_id}\t{_about(view)}\n{view.text}\n")


def _about(view: NodeView) -> str:
    node = view.node
    turns = f"turn {node.last + 1}" if node.first == node.last else f"turns {node.first + 1} to {node.last + 1}"
    marks = [
        f"{node.tier.value}, {turns}, {node.tokens} tokens, version {node.version}",
        f"by {node.model or 'code (extracted)'} at {node.level.value}, {node.made_at:%Y-%m-%d %H:%M}",
    ]
    if node.edited:
        marks.append("edited")
    if view.awaits_decision:
        marks.append("stale: `summary settle` it")
    elif node.stale:
        marks.append("stale, about to be mended")
    return "; ".join(marks)


def _say_where(view: SummaryView) -> None:
    say(f"{view.summarised} messages summarised, {view.waiting} waiting, {view.in_window} sent word for word.")
    in_force = sum(rule.in_force for rule in view.rules)
    say(f"{in_force} rules in force ({view.rules_tokens} tokens); level {view.level.value}.")
    why = "; ".join(reason.words for reason in view.deeper.reasons)
    say("Deeper memory is active." if view.deeper.active else f"Deeper memory is not active: {why}.")
