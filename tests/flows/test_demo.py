"""The invented life of `demo/`: what it holds, and where it goes when it is loaded."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from demo.life import Life, read_life
from demo.load import DEMO_ACCOUNT, Loaded, load
from souvenance.app.browse import list_conversations, list_memories, memory_history
from souvenance.domain.ids import LOCAL_ACCOUNT
from souvenance.domain.journal import Update
from souvenance.ports.memories import Order, Shelf
from souvenance.settings import read_settings
from souvenance.testing import ScriptedModel
from souvenance.wiring import House, open_house

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from souvenance.domain.ids import OwnerId
    from souvenance.domain.memory import Memory


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with await open_house(read_settings({"folder": tmp_path}, environment={}), models=ScriptedModel()) as opened:
        yield opened


def _beginning_of(life: Life) -> Life:
    """Its first weeks: what was loaded when the load was cut off."""
    until = datetime(2025, 2, 10, tzinfo=UTC)
    talks = tuple(
        replace(talk, exchanges=tuple(one for one in talk.exchanges if one.at < until)) for talk in life.talks
    )
    return replace(life, talks=talks, facts=tuple(fact for fact in life.facts if fact.at < until))


async def memories_of(house: House, owner_id: OwnerId) -> list[Memory]:
    page = await list_memories(
        house.kit, owner_id, scope=None, shelf=Shelf.ALL, order=Order.PLACE, cursor=None, limit=100
    )
    return [view.memory for view in page.items]


def test_the_conversation_is_long_enough_to_be_replayed_and_told_in_turn() -> None:
    talk = read_life().talks[0]
    assert talk.messages >= 120
    assert all(exchange.said and exchange.reply for exchange in talk.exchanges)
    times = [exchange.at for exchange in talk.exchanges]
    assert times == sorted(times)


async def test_loading_twice_adds_nothing_and_the_local_account_stays_empty(house: House) -> None:
    life = read_life()
    first = await load(house.kit, life)
    told = await memories_of(house, DEMO_ACCOUNT)
    assert first.added
    assert await load(house.kit, life) == Loaded(messages=first.messages, memories=first.memories, added=False)
    assert await memories_of(house, DEMO_ACCOUNT) == told
    assert {memory.created_at.year for memory in told} == {2025}
    assert {"wheat_paste", "museum_contact"} <= {memory.key for memory in told}
    assert any(memory.pinned for memory in told)
    assert await memories_of(house, LOCAL_ACCOUNT) == []
    assert (await list_conversations(house.kit, LOCAL_ACCOUNT)).items == ()


async def test_a_load_that_was_cut_off_goes_on_where_it_stopped(house: House) -> None:
    life = read_life()
    await load(house.kit, _beginning_of(life))
    whole = await load(house.kit, life)
    stored = (await list_conversations(house.kit, DEMO_ACCOUNT)).items
    assert whole.added
    assert sum(conversation.messages for conversation in stored) == whole.messages
    for memory in await memories_of(house, DEMO_ACCOUNT):
        history = await memory_history(house.kit, DEMO_ACCOUNT, memory.memory_id)
        assert not any(isinstance(operation.intent, Update) for operation in history), "nothing was told twice"
