"""`souvenance serve` with its worker, that also writes the last commit boundary it passed to a file; for tests only.

It is warm before it says that it answers, so that every turn takes about as long as the others. The file is named by
SOUVENANCE_TEST_BOUNDARY; what was written there outlives a kill -9.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from datetime import timedelta

from souvenance.server.serve import serve
from souvenance.settings import read_settings
from souvenance.wiring import Probe, open_house
from souvenance.worker.pace import Pace

WIDTH = 80
PACE = Pace(idle=0.2, lease=timedelta(seconds=1))
"""So that a server that is started again soon goes on with what the killed one had."""


def note_in(file: str) -> Probe:
    """Overwrites the file's one line with each boundary."""
    out = os.open(file, os.O_WRONLY | os.O_CREAT, 0o600)
    return lambda boundary: _overwrite(out, boundary)


def _overwrite(out: int, boundary: str) -> None:
    os.pwrite(out, boundary.ljust(WIDTH).encode(), 0)


def _announce(address: str) -> None:
    sys.stdout.write(f"Souvenance answers at {address}\n")
    sys.stdout.flush()


async def _main() -> None:
    settings = read_settings()
    logging.basicConfig(level=logging.INFO)
    probe = note_in(os.environ["SOUVENANCE_TEST_BOUNDARY"])
    async with await open_house(settings, probe=probe, pace=PACE) as house, house.at_work():
        await house.warm_up()
        await serve(house, host=settings.host, port=settings.port, announce=_announce)


if __name__ == "__main__":
    asyncio.run(_main())
