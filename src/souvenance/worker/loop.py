"""The worker: claims what is due, does several steps side by side, one at a time within a conversation."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from souvenance.app.due_work import Work
from souvenance.app.kit import Kit
from souvenance.domain.due import Due
from souvenance.errors import StoreError
from souvenance.worker.one_step import Step, WhenParked, do_step
from souvenance.worker.pace import USUAL, Pace

NAME = 26
"""Characters of a worker's name that are kept beside the id of a claim."""

log = logging.getLogger(__name__)


class Worker:
    """Does the kinds of work that it has steps for. Any number of them may run, in any number of processes.

    `name` says in logs and in the database which one holds a piece. `outcomes` counts what became of what it claimed.
    `when_parked` says for some kinds what else is written when a piece is parked.
    """

    def __init__(
        self,
        kit: Kit,
        steps: Mapping[Work, Step],
        *,
        name: str = "worker",
        pace: Pace = USUAL,
        when_parked: Mapping[Work, WhenParked] = MappingProxyType({}),
    ) -> None:
        self._kit = kit
        self._steps = {kind.value: step for kind, step in steps.items()}
        self._when_parked = {kind.value: what for kind, what in when_parked.items()}
        self._name = name[:NAME]
        self._pace = pace
        self._running: set[asyncio.Task[None]] = set()
        self._woken = asyncio.Event()
        self.outcomes: Counter[str] = Counter()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop`: then running steps get the grace to end, and the others' leases are given back.

        Idle, it looks once in `Pace.idle` seconds; what becomes due is heard of at once where the store can tell.
        """
        if not self._steps:
            await stop.wait()
            return
        async with self._kit.store.listening(self._woken.set):
            stopping = asyncio.create_task(self._wake_at(stop))
            try:
                while not stop.is_set():
                    self._woken.clear()
                    await self._fill_if_it_can(stop)
                    await self._woken_or_idle()
                await self._let_end()
            finally:
                stopping.cancel()
                await self._give_back()

    async def work_off(self) -> None:
        """Do everything that is due now, further steps included, and return once nothing is."""
        try:
            while True:
                self._woken.clear()
                await self._fill()
                if not self._running:
                    return
                await self._woken.wait()
        finally:
            await self._give_back()

    async def _fill_if_it_can(self, stop: asyncio.Event) -> None:
        """While nothing can be claimed, it is tried again at the next look."""
        try:
            await self._fill(stop)
        except StoreError as error:
            log.warning("claim_failed", extra={"code": error.code})
        except Exception as error:  # noqa: BLE001 - a server must not lose its worker by one statement that fails
            log.log(logging.ERROR, "claim_failed", extra={"error": type(error).__name__})

    async def _fill(self, stop: asyncio.Event | None = None) -> None:
        """Claim until every slot is taken or nothing is due."""
        while len(self._running) < self._pace.at_once and not (stop and stop.is_set()):
            due = await self._claim()
            if due is None:
                return
            task = asyncio.create_task(self._do(due))
            self._running.add(task)
            task.add_done_callback(self._ended)

    async def _claim(self) -> Due | None:
        """The next piece, held by a name that no other claim has."""
        holder = f"{self._name} {self._kit.ids.new('clm')}"
        now, kinds = self._kit.clock.now(), tuple(self._steps)
        return await self._kit.store.claim(worker=holder, now=now, lease=self._pace.lease, kinds=kinds)

    async def _do(self, due: Due) -> None:
        outcome = await do_step(self._kit, due, self._steps[due.kind], self._pace, self._when_parked.get(due.kind))
        self.outcomes[outcome.value] += 1

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._woken.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("worker_failed", extra={"error": type(error).__name__})

    async def _wake_at(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._woken.set()

    async def _woken_or_idle(self) -> None:
        waits = {asyncio.ensure_future(self._pace.rest(self._pace.idle)), asyncio.create_task(self._woken.wait())}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _let_end(self) -> None:
        resting = asyncio.ensure_future(self._pace.rest(self._pace.grace))
        try:
            while self._running and not resting.done():
                await asyncio.wait({resting, *self._running}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            resting.cancel()

    async def _give_back(self) -> None:
        """Stop what still runs; each gives its lease back."""
        left = tuple(self._running)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
