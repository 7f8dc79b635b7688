"""Erasing memories: at once, undone while the offer stands, then nowhere any more (M14)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from souvenance.app.browse import memory_history, read_memory
from souvenance.app.edit_memory import edit_memory
from souvenance.app.erase import erase_memories, undo_erasure
from souvenance.app.pin_memory import pin_memory
from souvenance.app.purge_ended import purge_ended
from souvenance.app.remember import NewMemory, remember_many
from souvenance.domain.bot import Preset
from souvenance.domain.draft import Draft
from souvenance.domain.ids import DraftId, ErasureId, MemoryId
from souvenance.domain.memory import ACCOUNT_SCOPE, Origin, Scope
from souvenance.errors import (
    BadValue,
    NotFound,
    OfferExpired,
    PinRoomFull,
)
from souvenance.storage.migrate import back_up
from souvenance.storage.postgres import PostgresStore
from souvenance.storage.schema import metadata
from souvenance.storage.sqlite import FILE, SqliteStore
from souvenance.testing import say
from tests.flows.app.house import House, called, calls

MARKER = "Zyxquorvel"


async def test_m14_from_the_click_it_is_in_no_list_hit_or_prompt(house: House) -> None:
    memory = await house.remember("likes tea")
    await erase_memories(house.kit, house.owner, [memory.memory_id])
    assert await house.memories() == []
    assert await house.found("tea") == []
    with pytest.raises(NotFound):
        await read_memory(house.kit, house.owner, memory.memory_id)
    with pytest.raises(NotFound):
        await memory_history(house.kit, house.owner, memory.memory_id)
    with pytest.raises(NotFound):
        await edit_memory(house.kit, house.owner, memory.memory_id, seen=2, text="x")
    with pytest.raises(NotFound):
        await pin_memory(house.kit, house.owner, memory.memory_id, pinned=True)
    await house.say(await house.chat(await house.bot()), "Hello", calls(called("memory_query", text="tea")), say("No"))
    assert "likes tea" not in house.prompt.text


async def test_m14_within_ten_seconds_it_can_be_undone_with_all_it_had(house: House) -> None:
    memory = await house.remember("likes tea", pinned=True, subject="Ilse")
    erasure = await erase_memories(house.kit, house.owner, [memory.memory_id])
    house.clock.advance(seconds=9.9)
    assert await purge_ended(house.kit) == 0
    await undo_erasure(house.kit, house.owner, erasure.erasure_id)
    (back,) = await house.memories()
    assert (back.memory_id, back.text, back.pinned, back.subject) == (memory.memory_id, "likes tea", True, "Ilse")
    assert await house.found("tea") == ["likes tea"]
    with pytest.raises(NotFound):
        await undo_erasure(house.kit, house.owner, erasure.erasure_id)


async def test_m2_an_undo_brings_no_pinned_one_back_past_the_cap(house: House) -> None:
    most = house.kit.limits.room_pinned
    new = [NewMemory(text=f"fact {n}", scope=ACCOUNT_SCOPE, pinned=n < most) for n in range(most + 1)]
    *_, last, spare = [one.memory for one in await remember_many(house.kit, house.owner, new)]
    erasure = await erase_memories(house.kit, house.owner, [last.memory_id])
    await pin_memory(house.kit, house.owner, spare.memory_id, pinned=True)
    with pytest.raises(PinRoomFull, match=f"{most} memories of account are pinned; the limit is {most}"):
        await undo_erasure(house.kit, house.owner, erasure.erasure_id)
    await pin_memory(house.kit, house.owner, spare.memory_id, pinned=False)
    await undo_erasure(house.kit, house.owner, erasure.erasure_id)
    assert (await read_memory(house.kit, house.owner, last.memory_id)).memory.pinned


async def test_m14_after_ten_seconds_it_is_final(house: House) -> None:
    memory = await house.remember("likes tea")
    erasure = await erase_memories(house.kit, house.owner, [memory.memory_id])
    house.clock.advance(seconds=10)
    with pytest.raises(OfferExpired):
        await undo_erasure(house.kit, house.owner, erasure.erasure_id)
    assert await purge_ended(house.kit) == 1
    assert await purge_ended(house.kit) == 0
    with pytest.raises(NotFound):
        await undo_erasure(house.kit, house.owner, erasure.erasure_id)


async def test_m14_an_erasure_of_several_is_all_or_none(house: House) -> None:
    memory = await house.remember("likes tea")
    with pytest.raises(NotFound):
        await erase_memories(house.kit, house.owner, [memory.memory_id, MemoryId("mem_nothing")])
    assert await house.texts() == ["likes tea"]
    with pytest.raises(BadValue):
        await erase_memories(house.kit, house.owner, [])
    with pytest.raises(NotFound):
        await undo_erasure(house.kit, house.owner, ErasureId("era_nothing"))


async def test_m14_what_was_erased_may_be_told_anew(house: House) -> None:
    memory = await house.remember("likes tea")
    erasure = await erase_memories(house.kit, house.owner, [memory.memory_id])
    fresh = await house.remember("likes tea")
    assert fresh.memory_id != memory.memory_id
    await undo_erasure(house.kit, house.owner, erasure.erasure_id)
    assert [one.memory_id for one in await house.memories()] == [memory.memory_id], "nothing twice: the first stands"


async def test_m14_a_deletion_by_a_model_is_no_erasure(house: House) -> None:
    bot = await house.bot()
    memory = await house.remember("likes tea", Scope.of_bot(bot.bot_id))
    await house.say(await house.chat(bot), "No tea", calls(called("forget", id=1)), say("Gone"))
    assert await house.memories() == []
    history = await memory_history(house.kit, house.owner, memory.memory_id)
    assert [type(operation.intent).__name__ for operation in history] == ["Add", "Delete"]


async def test_m14_after_the_purge_its_text_is_nowhere(
    house: House, real_store: SqliteStore | PostgresStore, where: Path | str
) -> None:
    """Typed, edited, pinned, shown, asked for, changed and stored by a model in its own words; in no table, no file."""
    bot = await house.bot()
    notebook = await house.bot("Notes", Preset.NOTEBOOK)
    chat = await house.chat(bot)
    memory = await house.remember(f"keeps a {MARKER}1", Scope.of_bot(bot.bot_id), subject=f"about {MARKER}7")
    await house.remember(f"a value {MARKER}2", Scope.of_bot(notebook.bot_id), key=f"key {MARKER}3")
    await house.say(chat, "Hello", calls(called("memory_query", text="keeps")), say("Hi"))
    await house.say(await house.chat(notebook), "Hello", say("Hi"))
    await edit_memory(house.kit, house.owner, memory.memory_id, seen=1, text=f"keeps two {MARKER}4")
    await pin_memory(house.kit, house.owner, memory.memory_id, pinned=True)
    await house.say(
        chat,
        "Remember it",
        calls(
            called("remember", text=f"said {MARKER}5"),
            called("remember", text=f"keeps two {MARKER}4.", subject=f"about {MARKER}7"),
        ),
        say("Yes"),
    )
    await house.say(chat, "And?", calls(called("update_memory", id=2, text=f"said {MARKER}6")), say("Yes"))
    await house.say(chat, "Again", calls(called("memory_query", text=f"{MARKER}6")), say("Yes"))
    await _drafted(house, f"keeps two {MARKER}4", f"keeps a {MARKER}1", scope=Scope.of_bot(bot.bot_id))
    if isinstance(where, Path):
        await asyncio.to_thread(back_up, where / FILE, "0000")
    assert len(await house.memories()) == 3
    assert await _holding(real_store, where), "the scan can see it"
    await erase_memories(house.kit, house.owner, [one.memory_id for one in await house.memories()])
    house.clock.advance(seconds=10)
    assert await purge_ended(house.kit) == 5
    assert await _holding(real_store, where) == []


async def _drafted(house: House, *texts: str, scope: Scope) -> None:
    """Drafts that wait to be reviewed (V10)."""
    now = house.clock.now()
    drafts = [
        Draft(
            draft_id=DraftId(house.kit.ids.new("drf")),
            batch="batch",
            scope=scope,
            origin=Origin.GENERATED,
            text=text,
            created_at=now,
            until=now + timedelta(days=7),
        )
        for text in texts
    ]
    await house.kit.store.write(house.owner, lambda unit: unit.drafts.put_all(drafts), label="test.drafted")


async def _holding(store: SqliteStore | PostgresStore, where: Path | str) -> list[str]:
    """The tables and files that hold the marker anywhere, as text or as bytes."""
    if isinstance(where, Path):
        assert isinstance(store, SqliteStore)
        with store.engine.connect() as reading:
            return _tables_holding(reading) + await asyncio.to_thread(_files_holding, where)
    assert isinstance(store, PostgresStore)
    async with store.engine.connect() as connection:
        return await connection.run_sync(_tables_holding)


def _tables_holding(connection: Connection) -> list[str]:
    """Every column of every row, as it is read back."""
    return [
        table.name
        for table in metadata.sorted_tables
        if any(MARKER in _words(value) for row in connection.execute(select(table)) for value in row)
    ]


def _files_holding(folder: Path) -> list[str]:
    return [file.name for file in sorted(folder.iterdir()) if MARKER.encode() in file.read_bytes()]


def _words(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
