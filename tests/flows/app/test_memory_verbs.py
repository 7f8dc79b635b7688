"""M2, M3, M4, M10 and M14: what a person does with memories, whatever comes at once."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from souvenance.app.archive_memory import archive_memory
from souvenance.app.browse import list_memories, memory_history, read_memory, room
from souvenance.app.edit_memory import edit_memory
from souvenance.app.pin_memory import pin_memory
from souvenance.app.query_memories import Query, query_memories
from souvenance.app.remember import NewMemory, remember, remember_many
from souvenance.domain.bot import Preset
from souvenance.domain.ids import BotId, MemoryId
from souvenance.domain.journal import Add, Pin
from souvenance.domain.memory import ACCOUNT_SCOPE, Origin, Scope
from souvenance.errors import (
    BadValue,
    Conflict,
    EmptyText,
    KeyTaken,
    NotFound,
    PinnedMemory,
    PinRoomFull,
    StaleEdit,
    TextTooLong,
    UnusableText,
)
from souvenance.ports.memories import Order, Shelf
from souvenance.testing.clock import START
from tests.flows.app.house import House, another_kit

ONE_DATABASE = True


class TickingClock:
    """No two moments of it are equal, as with a real one."""

    def __init__(self) -> None:
        self._ticks = itertools.count()

    def now(self) -> datetime:
        return START + timedelta(microseconds=next(self._ticks))


async def test_m4_what_a_person_types_has_confidence_one_and_says_where_it_came_from(house: House) -> None:
    memory = await house.remember("likes tea", subject="Ilse")
    assert (memory.confidence, memory.origin, memory.subject) == (1.0, Origin.MANUAL, "Ilse")
    assert [source.at for source in await house.sources(memory)] == [house.clock.now()]
    assert memory.created_at == memory.updated_at == house.clock.now()


@pytest.mark.parametrize("again", ["likes tea", "Likes  TEA.", "  likes\ttea!", "likes téa"])
async def test_m10_equal_text_is_one_memory_with_two_sources(house: House, again: str) -> None:
    first = await house.remember("likes tea")
    house.clock.advance(seconds=1)
    second = await remember(house.kit, house.owner, NewMemory(text=again, scope=ACCOUNT_SCOPE))
    assert not second.created
    assert second.memory.memory_id == first.memory_id
    assert second.memory.text == "likes tea"
    assert len(await house.sources(second.memory)) == 2
    assert second.memory.updated_at == house.clock.now()
    assert len(await house.memories()) == 1


@pytest.mark.parametrize("other", ["likes tea?", "likes no tea", "likes tea 2", "likes teas"])
async def test_m10_what_differs_in_more_than_typing_is_another_memory(house: House, other: str) -> None:
    await house.remember("likes tea")
    await house.remember(other)
    assert len(await house.memories()) == 2


async def test_m10_the_same_text_in_another_scope_is_another_memory(house: House) -> None:
    bot = await house.bot()
    await house.remember("likes tea")
    await house.remember("likes tea", Scope.of_bot(bot.bot_id))
    assert len(await house.memories()) == 2


async def test_m10_twenty_at_once_make_one_memory_with_twenty_sources(house: House) -> None:
    kit = another_kit(house.kit, clock=TickingClock())
    new = NewMemory(text="likes tea", scope=ACCOUNT_SCOPE)
    made = await asyncio.gather(*(remember(kit, house.owner, new) for _ in range(20)))
    assert sum(one.created for one in made) == 1
    (memory,) = await house.memories()
    assert len(await house.sources(memory)) == 20
    assert len(await memory_history(house.kit, house.owner, memory.memory_id)) == 20


async def test_m10_twenty_different_ones_at_once_are_all_kept_in_one_order(house: House) -> None:
    await asyncio.gather(*(house.remember(f"fact {number}") for number in range(20)))
    memories = await house.memories()
    assert len({memory.place for memory in memories}) == 20


async def test_m10_twenty_values_of_one_key_at_once_leave_one_entry(house: House) -> None:
    bot = await house.bot(preset=Preset.NOTEBOOK)
    scope = Scope.of_bot(bot.bot_id)
    await asyncio.gather(*(house.remember(f"{n}", scope, key="key", overwrite=True) for n in range(20)))
    assert len(await house.memories()) == 1


async def test_m10_a_match_in_the_archive_restores_it(house: House) -> None:
    memory = await house.remember("likes tea")
    await archive_memory(house.kit, house.owner, memory.memory_id, archived=True)
    assert (await read_memory(house.kit, house.owner, memory.memory_id)).archived
    await house.remember("Likes tea")
    assert not (await read_memory(house.kit, house.owner, memory.memory_id)).archived


async def test_m3_a_key_is_trimmed_case_sensitive_and_unique_in_its_bot(house: House) -> None:
    one, two = await house.bot("One", Preset.NOTEBOOK), await house.bot("Two", Preset.NOTEBOOK)
    await house.remember("a", Scope.of_bot(one.bot_id), key="  name ")
    await house.remember("b", Scope.of_bot(one.bot_id), key="Name")
    await house.remember("c", Scope.of_bot(two.bot_id), key="name")
    assert await house.pairs(Scope.of_bot(one.bot_id)) == {"name": "a", "Name": "b"}
    with pytest.raises(KeyTaken):
        await house.remember("other", Scope.of_bot(one.bot_id), key="name")


@pytest.mark.parametrize(
    ("new", "error"),
    [
        ({"text": ""}, EmptyText),
        ({"text": " \n\u200b"}, EmptyText),
        ({"text": "x" * 501}, TextTooLong),
        ({"text": "a\0b"}, UnusableText),
        ({"text": "a\ud800b"}, UnusableText),
        ({"text": "v", "key": " "}, EmptyText),
        ({"text": "v", "key": "k" * 129}, TextTooLong),
        ({"text": "v", "key": "two\nlines"}, UnusableText),
        ({"text": "x" * 10_001, "key": "k"}, TextTooLong),
    ],
)
async def test_m3_what_cannot_be_stored_is_refused_and_nothing_is(
    house: House, new: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await house.remember(**new)
    assert await house.memories() == []


async def test_m3_too_long_a_text_is_refused_with_both_figures(house: House) -> None:
    with pytest.raises(TextTooLong) as refused:
        await house.remember("é" * 501)
    assert (refused.value.details["size"], refused.value.details["limit"]) == (501, 500)
    await house.remember("🙂" * 500)


async def test_m3_several_at_once_are_stored_all_or_none(house: House) -> None:
    bot = await house.bot(preset=Preset.NOTEBOOK)
    scope = Scope.of_bot(bot.bot_id)
    await house.remember("there", scope, key="b")
    new = [NewMemory(text="1", scope=scope, key="a"), NewMemory(text="2", scope=scope, key="b")]
    with pytest.raises(KeyTaken):
        await remember_many(house.kit, house.owner, new)
    assert await house.pairs() == {"b": "there"}
    with pytest.raises(BadValue):
        await remember_many(house.kit, house.owner, [])


async def test_m10_what_is_said_twice_in_one_batch_is_one_memory_with_two_sources(house: House) -> None:
    texts = ("likes tea", "owns a boat", "Likes  TEA.")
    new = [NewMemory(text=text, scope=ACCOUNT_SCOPE, pinned=text == "Likes  TEA.") for text in texts]
    tea, boat, again = await remember_many(house.kit, house.owner, new)
    assert [one.created for one in (tea, boat, again)] == [True, True, False]
    assert again.memory.memory_id == tea.memory.memory_id
    assert {one.text for one in await house.memories()} == {"likes tea", "owns a boat"}
    assert again.memory == (await read_memory(house.kit, house.owner, tea.memory.memory_id)).memory
    assert (again.memory.pinned, boat.memory.pinned) == (True, False)
    operations = await memory_history(house.kit, house.owner, tea.memory.memory_id)
    assert [type(one.intent) for one in operations] == [Add, Add, Pin]
    assert tea.memory.place < boat.memory.place < operations[1].place


async def test_k2_one_key_twice_in_a_batch_holds_the_last_value_where_it_may_and_is_found_by_it(house: House) -> None:
    scope = Scope.of_bot((await house.bot(preset=Preset.NOTEBOOK)).bot_id)
    values = [NewMemory(text=text, scope=scope, key="drink") for text in ("tea", "mead")]
    with pytest.raises(KeyTaken):
        await remember_many(house.kit, house.owner, values)
    assert await house.pairs() == {}
    first, second = await remember_many(house.kit, house.owner, [replace(one, overwrite=True) for one in values])
    assert (first.created, second.updated, second.memory.version) == (True, True, 2)
    assert await house.pairs() == {"drink": "mead"}
    found = [await query_memories(house.kit, house.owner, Query(text=text)) for text in ("mead", "tea")]
    assert [len(one.memories) for one in found] == [1, 0]


async def test_a_notebook_takes_no_text_without_a_key_and_an_unknown_bot_nothing(house: House) -> None:
    bot = await house.bot(preset=Preset.NOTEBOOK)
    with pytest.raises(BadValue):
        await house.remember("likes tea", Scope.of_bot(bot.bot_id))
    with pytest.raises(NotFound):
        await house.remember("likes tea", Scope.of_bot(BotId("bot_nobody")))
    assert await house.memories() == []


async def test_m10_a_stale_edit_gets_both_texts_and_changes_nothing(house: House) -> None:
    memory = await house.remember("lives in Graz")
    edited = await edit_memory(house.kit, house.owner, memory.memory_id, seen=memory.version, text="lives in Turin")
    with pytest.raises(StaleEdit) as refused:
        await edit_memory(house.kit, house.owner, memory.memory_id, seen=memory.version, text="lives in Rome")
    details = refused.value.details
    assert (details["theirs"], details["yours"]) == ("lives in Turin", "lives in Rome")
    assert (details["seen"], details["current"]) == (memory.version, edited.version)
    assert await house.texts() == ["lives in Turin"]


async def test_m10_of_ten_edits_at_once_one_wins_and_nine_are_told(house: House) -> None:
    memory = await house.remember("lives in Graz")
    results = await asyncio.gather(
        *(
            edit_memory(house.kit, house.owner, memory.memory_id, seen=memory.version, text=f"lives in {n}")
            for n in range(10)
        ),
        return_exceptions=True,
    )
    assert sum(isinstance(one, StaleEdit) for one in results) == 9
    assert len(await house.memories()) == 1


async def test_m10_an_edit_into_the_text_of_another_memory_is_refused(house: House) -> None:
    memory = await house.remember("lives in Graz")
    await house.remember("lives in Turin")
    with pytest.raises(Conflict):
        await edit_memory(house.kit, house.owner, memory.memory_id, seen=1, text="Lives in Turin")
    assert await house.texts() == ["lives in Graz", "lives in Turin"]


async def test_an_edit_is_found_by_its_new_words_and_not_by_the_old(house: House) -> None:
    memory = await house.remember("lives in Graz")
    await edit_memory(house.kit, house.owner, memory.memory_id, seen=1, text="lives in Turin")
    assert await house.found("Turin") == ["lives in Turin"]
    assert await house.found("Graz") == []


async def test_m11_the_history_tells_every_operation_in_order(house: House) -> None:
    memory = await house.remember("lives in Graz")
    await edit_memory(house.kit, house.owner, memory.memory_id, seen=1, text="lives in Turin")
    await pin_memory(house.kit, house.owner, memory.memory_id, pinned=True)
    history = await memory_history(house.kit, house.owner, memory.memory_id)
    assert [type(operation.intent).__name__ for operation in history] == ["Add", "Update", "Pin"]
    assert [operation.place for operation in history] == sorted(operation.place for operation in history)


async def test_m2_a_pin_past_twenty_is_refused_with_the_figures(house: House) -> None:
    for number in range(20):
        await house.remember(f"fact {number}", pinned=True)
    memory = await house.remember("one too many")
    for pinning in (
        pin_memory(house.kit, house.owner, memory.memory_id, pinned=True),
        house.remember("another", pinned=True),
    ):
        with pytest.raises(PinRoomFull) as refused:
            await pinning
        assert (refused.value.details["pinned"], refused.value.details["limit"]) == (20, 20)
    assert len(await house.memories()) == 21
    full = await room(house.kit, house.owner, ACCOUNT_SCOPE)
    assert (full.pinned, full.pinned_limit, full.unpinned, full.unpinned_limit) == (20, 20, 1, 100)


async def test_m2_two_last_pins_at_once_leave_room_for_one(house: House) -> None:
    for number in range(19):
        await house.remember(f"fact {number}", pinned=True)
    last = [await house.remember(f"last {number}") for number in range(5)]
    results = await asyncio.gather(
        *(pin_memory(house.kit, house.owner, memory.memory_id, pinned=True) for memory in last),
        return_exceptions=True,
    )
    assert sum(isinstance(one, PinRoomFull) for one in results) == 4
    assert (await room(house.kit, house.owner, ACCOUNT_SCOPE)).pinned == 20


async def test_m2_beyond_a_hundred_those_updated_longest_ago_are_archived_and_still_found(house: House) -> None:
    for number in range(103):
        house.clock.advance(seconds=1)
        await house.remember(f"fact number{number}")
    archived = await list_memories(house.kit, house.owner, shelf=Shelf.ARCHIVED)
    assert sorted(view.memory.text for view in archived.items) == [f"fact number{number}" for number in range(3)]
    hits = await query_memories(house.kit, house.owner, Query(text="number0"))
    assert [(hit.memory.text, hit.archived) for hit in hits.memories] == [("fact number0", True)]
    house.clock.advance(seconds=1)
    await house.remember("fact number0")
    archived = await list_memories(house.kit, house.owner, shelf=Shelf.ARCHIVED)
    assert sorted(view.memory.text for view in archived.items) == [f"fact number{number}" for number in range(1, 4)]
    await house.say(await house.chat(await house.bot()), "Hello")
    assert "fact number0\n" in house.prompt.system
    assert "fact number1\n" not in house.prompt.system


async def test_m2_archived_for_room_is_no_event(house: House) -> None:
    first = await house.remember("fact 0")
    for number in range(1, 101):
        house.clock.advance(seconds=1)
        await house.remember(f"fact {number}")
    assert (await read_memory(house.kit, house.owner, first.memory_id)).archived
    assert len(await memory_history(house.kit, house.owner, first.memory_id)) == 1


async def test_m2_a_pinned_memory_cannot_be_archived(house: House) -> None:
    memory = await house.remember("likes tea", pinned=True)
    with pytest.raises(PinnedMemory):
        await archive_memory(house.kit, house.owner, memory.memory_id, archived=True)


async def test_lists_come_in_pages_that_miss_and_repeat_nothing(house: House) -> None:
    for number in range(25):
        house.clock.advance(seconds=number % 3)
        await house.remember(f"fact {number}")
    for order in Order:
        seen: list[MemoryId] = []
        cursor: str | None = None
        while True:
            page = await list_memories(house.kit, house.owner, order=order, cursor=cursor, limit=7)
            seen += [view.memory.memory_id for view in page.items]
            cursor = page.next
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == 25
    with pytest.raises(BadValue):
        await list_memories(house.kit, house.owner, cursor="made up")
    with pytest.raises(BadValue):
        await list_memories(house.kit, house.owner, limit=0)
