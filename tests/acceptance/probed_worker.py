"""A worker with the step kinds of tests that says every commit boundary of its work that it passes; for tests only.

It works on the settings' store until it is killed, with leases so short that others soon take over what it had.
"""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta

from souvenance.app.due_work import Work
from souvenance.settings import read_settings
from souvenance.testing import ScriptedModel
from souvenance.wiring import open_house
from souvenance.worker.pace import Pace
from tests.flows.worker.pieces import counting_step

ROUNDS = 3
PACE = Pace(idle=0.05, at_once=2, lease=timedelta(seconds=2))
STEPS = {Work.SUMMARY: counting_step(rounds=ROUNDS), Work.DEEPER: counting_step(rounds=ROUNDS)}


def _say(boundary: str) -> None:
    if boundary.startswith(("due.", "step.")):
        os.write(1, f"{boundary}\n".encode())


async def _main() -> None:
    async with await open_house(read_settings(), models=ScriptedModel(), probe=_say, steps=STEPS, pace=PACE) as house:
        await house.worker().run(asyncio.Event())


if __name__ == "__main__":
    asyncio.run(_main())
