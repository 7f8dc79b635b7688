"""`souvenance summary rebuild`: write a summary anew, its cost shown and asked about first (S7)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from enum import StrEnum
from typing import Annotated

import typer

from souvenance.app.estimate_rebuild import Estimate
from souvenance.cli.interruptible import interruptible
from souvenance.cli.options import AsJson, Database, Folder
from souvenance.cli.output import json_line, line, say
from souvenance.cli.running import with_memory
from souvenance.domain.ids import ConversationId
from souvenance.domain.limits import Level
from souvenance.domain.summary import Rebuild, RebuildState
from souvenance.library import open_memory
from souvenance.library.rebuilds import Rebuilds

_LOOK = 0.3
"""Seconds between looks at the progress."""


class Action(StrEnum):
    """What is done with the conversation's rebuild."""

    BEGIN = "begin"
    ESTIMATE = "estimate"
    STATUS = "status"
    PAUSE = "pause"
    RESUME = "resume"
    START_OVER = "start-over"
    CANCEL = "cancel"


_WORKED_ON = {Action.BEGIN, Action.RESUME, Action.START_OVER}
"""After these it is worked on here, until it ends."""
_ASKED = {Action.BEGIN, Action.START_OVER}


def rebuild(
    which: Annotated[str, typer.Argument(metavar="CONVERSATION", help="Its id, as `conversations list` prints it.")],
    action: Annotated[Action, typer.Argument(help="What to do with its rebuild.")] = Action.BEGIN,
    *,
    level: Annotated[Level | None, typer.Option(help="How much the new one keeps; else the bot's level.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Begin without asking.")] = False,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Write the summary anew. What it costs is shown and asked about first; the old one serves until the end.

    Ctrl-C leaves it to the next worker, or to `resume`.
    """
    here = ConversationId(which)
    if action is Action.ESTIMATE or action in _ASKED:
        estimate = with_memory(
            lambda memory: _estimate(memory.rebuilds, here, action, level), folder=folder, database_url=database_url
        )
        _show(estimate, as_json=as_json and action is Action.ESTIMATE)
        level = estimate.level
    if action is Action.ESTIMATE:
        return
    if action in _ASKED and not yes:
        typer.confirm("Begin?", abort=True, err=True)

    async def opened() -> Rebuild:
        async with open_memory(folder, database_url=database_url, work=action in _WORKED_ON) as memory:
            now = await _done(memory.rebuilds, here, action, level)
            return await _watched(memory.rebuilds, here) if action in _WORKED_ON else now

    with interruptible() as runner:
        ended = runner.run(opened())
    _print(ended, as_json=as_json)
    if ended.state is RebuildState.FAILED:
        raise typer.Exit(1)


async def _estimate(rebuilds: Rebuilds, here: ConversationId, action: Action, level: Level | None) -> Estimate:
    """What is started over keeps its level."""
    if action is Action.START_OVER and level is None:
        level = (await rebuilds.read(here)).level
    return await rebuilds.estimate(here, level=level)


async def _done(rebuilds: Rebuilds, here: ConversationId, action: Action, level: Level | None) -> Rebuild:
    match action:
        case Action.BEGIN:
            return await rebuilds.begin(here, level=level)
        case Action.START_OVER:
            return await rebuilds.start_over(here, level=level)
        case Action.PAUSE:
            return await rebuilds.pause(here)
        case Action.RESUME:
            return await rebuilds.resume(here)
        case Action.CANCEL:
            return await rebuilds.cancel(here)
        case Action.STATUS | Action.ESTIMATE:
            return await rebuilds.read(here)


async def _watched(rebuilds: Rebuilds, here: ConversationId) -> Rebuild:
    """Until it ends, or waits for a person; its progress on stderr, where somebody looks at it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("Rebuilding", total=None)
        async with aclosing(rebuilds.watch(here, every=_LOOK)) as changes:
            async for rebuild in changes:
                total = max(rebuild.steps, rebuild.steps_estimated)
                progress.update(bar, completed=rebuild.steps, total=total)
    return rebuild


def _show(estimate: Estimate, *, as_json: bool) -> None:
    if as_json:
        json_line(_estimate_form(estimate))
        return
    say(f"{estimate.messages} messages are written anew at {estimate.level.value}, in {estimate.steps} steps.")
    if estimate.model:
        say(f"{estimate.model} gets {estimate.tokens_in} tokens and answers {estimate.tokens_out} at most.")
        if estimate.price is not None:
            say(f"At its prices that is {estimate.price:.2f} at most.")
    else:
        say("There is no model: sentences are extracted, which costs nothing.")
    if estimate.edited:
        say(f"{estimate.edited} nodes that you edited are discarded.")


def _estimate_form(estimate: Estimate) -> Mapping[str, object]:
    return {
        "level": estimate.level.value,
        "messages": estimate.messages,
        "steps": estimate.steps,
        "tokens_in": estimate.tokens_in,
        "tokens_out": estimate.tokens_out,
        "model": estimate.model or None,
        "price": estimate.price,
        "edited": estimate.edited,
    }


def _print(rebuild: Rebuild, *, as_json: bool) -> None:
    if as_json:
        json_line(_rebuild_form(rebuild))
        return
    why = f" ({rebuild.reason})" if rebuild.reason else ""
    done = f"{rebuild.steps} of {rebuild.steps_estimated} steps"
    line(f"{rebuild.rebuild_id}\t{rebuild.state.value}{why}\t{done}\t{rebuild.spent_in} in, {rebuild.spent_out} out")


def _rebuild_form(rebuild: Rebuild) -> Mapping[str, object]:
    return {
        "id": rebuild.rebuild_id,
        "conversation_id": rebuild.conversation_id,
        "level": rebuild.level.value,
        "state": rebuild.state.value,
        "up_to": rebuild.up_to,
        "steps": rebuild.steps,
        "steps_estimated": rebuild.steps_estimated,
        "estimated_in": rebuild.estimated_in,
        "estimated_out": rebuild.estimated_out,
        "spent_in": rebuild.spent_in,
        "spent_out": rebuild.spent_out,
        "edited": rebuild.edited,
        "reason": rebuild.reason or None,
        "begun_at": rebuild.begun_at.isoformat(),
        "ended_at": None if rebuild.ended_at is None else rebuild.ended_at.isoformat(),
    }
