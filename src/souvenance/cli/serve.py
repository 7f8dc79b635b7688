"""`souvenance serve`: the server on this machine."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from typing import Annotated

import typer

from souvenance.cli.event_log import log_events
from souvenance.cli.options import Database, Folder
from souvenance.settings import Settings, read_settings
from souvenance.wiring import House, missing_extra, open_house, uncollected


def serve(
    *,
    host: Annotated[str | None, typer.Option(help="Address to listen on; 127.0.0.1 unless set.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 7411 unless set, 0 for a free one.")] = None,
    model: Annotated[str | None, typer.Option(help="The model that answers when nobody names one.")] = None,
    allow_public_without_login: Annotated[
        bool, typer.Option("--allow-public-without-login", help="Let everyone who reaches it read and change memories.")
    ] = False,
    work: Annotated[
        bool | None, typer.Option("--work/--no-work", help="Whether background work is done here; it is unless set.")
    ] = None,
    folder: Folder = None,
    database_url: Database = None,
) -> None:
    """Answer OpenAI clients under /v1 and everything else under /api/v1 until stopped."""
    settings = read_settings(
        {
            "host": host,
            "port": port,
            "model": model,
            "allow_public_without_login": allow_public_without_login or None,
            "work": work,
            "folder": folder,
            "database_url": database_url,
        }
    )
    log_events(settings.log_level)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(settings))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Makes uvloop's loops where it is installed; None for Python's own."""
    try:
        import uvloop
    except ModuleNotFoundError:
        return None
    return uvloop.new_event_loop


async def _serve(settings: Settings) -> None:
    try:
        with uncollected():
            from souvenance.server.guard import Access
            from souvenance.server.serve import serve as answer
    except ModuleNotFoundError as error:
        raise missing_extra(error, "serve", "the server", "server") from error
    access = Access(hosts=frozenset(settings.allowed_hosts), origins=frozenset(settings.allowed_origins))
    async with await open_house(settings) as house, house.at_work():
        await answer(
            house,
            host=settings.host,
            port=settings.port,
            allow_public_without_login=settings.allow_public_without_login,
            access=access,
            time_zone=settings.time_zone,
            report=lambda: _report(house),
            announce=lambda address: _tell(address, settings),
            warm_up=house.warm_up,
        )


def _tell(address: str, settings: Settings) -> None:
    place = settings.database_url.shown if settings.database_url else str(settings.folder)
    sys.stdout.write(f"Souvenance answers at {address}  (OpenAI clients: {address}/v1)\nIts data is in {place}\n")
    sys.stdout.flush()


async def _report(house: House) -> Mapping[str, object]:
    from souvenance.cli.findings import State, examine_house

    findings = await examine_house(house)
    sound = all(finding.state is not State.BROKEN for finding in findings)
    return {"sound": sound, "findings": [finding.form() for finding in findings]}
