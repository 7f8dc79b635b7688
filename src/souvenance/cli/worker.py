"""`souvenance worker`: do what is due in the background, beside a server or without one."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Annotated

import typer

from souvenance.cli.event_log import log_events
from souvenance.cli.options import AsJson, Database, Folder
from souvenance.cli.output import json_line, line, say
from souvenance.settings import Settings, read_settings
from souvenance.wiring import open_house


def worker(
    *,
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, say how much that was, and leave.")] = False,
    at_once: Annotated[
        int | None, typer.Option("--at-once", help="Steps side by side; 2 unless set. One at a time of a conversation.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="The model that is asked when neither bot nor chat names one.")
    ] = None,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Do background work until stopped: on PostgreSQL on any machine, on SQLite next to the server in its folder."""
    given = {"folder": folder, "database_url": database_url, "work_at_once": at_once, "model": model}
    settings = read_settings(given)
    log_events(settings.log_level)
    ended = asyncio.run(_work_off(settings) if once else _work(settings))
    if as_json:
        json_line(ended)
    else:
        line(", ".join(f"{count} {outcome}" for outcome, count in ended.items()) or "nothing was due")


async def _work_off(settings: Settings) -> Mapping[str, int]:
    async with await open_house(settings) as house:
        worker = house.worker()
        await worker.work_off()
        return worker.outcomes


async def _work(settings: Settings) -> Mapping[str, int]:
    async with await open_house(settings) as house:
        worker, stop = house.worker(), asyncio.Event()
        with _stopped_by_signals(stop):
            place = settings.database_url.shown if settings.database_url else settings.folder
            say(f"Souvenance works on what is due in {place}; Ctrl-C ends it.")
            await worker.run(stop)
        return worker.outcomes


@contextmanager
def _stopped_by_signals(stop: asyncio.Event) -> Iterator[None]:
    """A first signal lets running steps end; where loops take no signals, Ctrl-C gives them back."""
    loop, signals = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
    with suppress(NotImplementedError):
        for number in signals:
            loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        with suppress(NotImplementedError):
            for number in signals:
                loop.remove_signal_handler(number)
