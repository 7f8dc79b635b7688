from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from starlette.types import Message

from souvenance.app.turn import Delta, TurnEvent
from souvenance.server.event_pump import pumping
from souvenance.server.hang_up import ClientLeft, while_connected


class Line:
    """What a server's `receive` says: nothing until the client hangs up."""

    def __init__(self) -> None:
        self.left = asyncio.Event()

    async def receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}


async def test_work_that_ends_while_the_client_listens_gives_its_result() -> None:
    async def work() -> int:
        return 7

    assert await while_connected(Line().receive, work()) == 7


async def test_work_is_put_in_order_before_a_client_that_left_is_forgotten() -> None:
    line, in_order = Line(), []

    async def work() -> None:
        line.left.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            in_order.append(True)

    with pytest.raises(ClientLeft):
        await while_connected(line.receive, work())
    assert in_order == [True]


@pytest.mark.parametrize("hops", range(6))
async def test_a_client_that_leaves_with_the_next_event_still_ends_the_turn(hops: int) -> None:
    line, said, closed = Line(), asyncio.Event(), []

    async def turn() -> AsyncGenerator[TurnEvent, None]:
        try:
            await said.wait()
            yield Delta(text="Hi")
            await asyncio.Event().wait()
        finally:
            closed.append(True)

    async def leave_after(hops: int) -> None:
        line.left.set()
        for _ in range(hops):
            await asyncio.sleep(0)
        said.set()

    async def work() -> None:
        async with pumping(turn()) as pump:
            leaving = asyncio.create_task(leave_after(hops))
            await pump.peek(30.0)
            await leaving
            while await pump.next() is not None:
                continue

    with pytest.raises(ClientLeft):
        await asyncio.wait_for(while_connected(line.receive, work()), 5)
    assert closed == [True]


async def test_what_a_turn_raises_is_raised_where_it_is_heard() -> None:
    async def turn() -> AsyncGenerator[TurnEvent, None]:
        yield Delta(text="Hi")
        raise ValueError("no")

    async with pumping(turn()) as pump:
        assert await pump.next() == Delta(text="Hi")
        with pytest.raises(ValueError, match="no"):
            await pump.peek(30.0)
