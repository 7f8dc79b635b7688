from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import aclosing
from datetime import UTC, datetime, timedelta, timezone

import pytest

from souvenance.errors import ModelBroken, ModelUnreachable
from souvenance.ports.chat_model import ChatModel
from souvenance.ports.clock import Clock, Ids
from souvenance.testing import CountedIds, FrozenClock, HalfStream, ScriptedModel, say
from tests.conformance.chat_models import chat_request


async def said(model: ScriptedModel) -> str:
    async with aclosing(model.reply(chat_request())) as chunks:
        return "".join([chunk.text async for chunk in chunks])


def test_the_doubles_are_what_the_ports_ask_for() -> None:
    clock: Clock = FrozenClock()
    ids: Ids = CountedIds()
    model: ChatModel = ScriptedModel()
    assert (clock.now().tzinfo, ids.new("mem")[:4], model.reply.__name__) == (UTC, "mem_", "reply")


def test_time_stands_still_until_it_is_moved() -> None:
    clock = FrozenClock()
    started = clock.now()
    assert clock.now() == started
    assert clock.advance(timedelta(days=1), seconds=2) == started + timedelta(days=1, seconds=2) == clock.now()


def test_moments_are_kept_in_utc() -> None:
    clock = FrozenClock(datetime(2026, 5, 1, 9, tzinfo=timezone(timedelta(hours=2))))
    assert clock.now().isoformat() == "2026-05-01T07:00:00+00:00"
    with pytest.raises(ValueError, match="time zone"):
        clock.set(datetime(2026, 5, 1))  # noqa: DTZ001  a naive moment is the point


def test_later_ids_sort_after_earlier_ones_and_are_the_same_in_every_run() -> None:
    ids = [CountedIds().new("mem"), *map(CountedIds(2).new, ["mem"] * 20)]
    assert ids[0] == "mem_" + "0" * 31 + "1"
    assert len(set(ids)) == 21
    counted = CountedIds()
    made = [counted.new("turn") for _ in range(300)]
    assert made == sorted(made)
    assert {len(each) for each in made} == {len("turn_") + 32}


async def test_the_script_is_followed_then_the_responder_then_an_echo() -> None:
    model = ScriptedModel(say("first"), respond=lambda request: say(f"asked {len(request.messages)}"))
    assert [await said(model), await said(model)] == ["first", "asked 2"]
    assert await said(ScriptedModel()) == "You said: hello"
    assert len(model.requests) == 2


async def test_an_error_in_the_script_is_raised_and_a_broken_reply_keeps_its_beginning() -> None:
    model = ScriptedModel(ModelUnreachable("m", reason="asleep"), HalfStream(chunks=("Once",)))
    with pytest.raises(ModelUnreachable, match="asleep"):
        await said(model)
    chunks = model.reply(chat_request())
    assert (await anext(chunks)).text == "Once"
    with pytest.raises(ModelBroken):
        await anext(chunks)


def test_nothing_of_pytest_is_needed() -> None:
    code = "import sys; sys.modules['pytest'] = None; import souvenance.testing, souvenance.testing.upstream"
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0


async def test_two_models_do_not_share_their_events() -> None:
    one, other = ScriptedModel(), ScriptedModel()
    one.released.set()
    await asyncio.wait_for(one.released.wait(), 1)
    assert not other.released.is_set()
