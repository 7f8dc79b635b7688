"""M11: a person finds what a model or pass changed or removed, and brings it back from the history."""

from __future__ import annotations

import pytest

from souvenance.app.archive_memory import archive_memory
from souvenance.app.bring_back import bring_back
from souvenance.app.browse import list_memories, memory_history, read_memory
from souvenance.app.erase import erase_memories, undo_erasure
from souvenance.app.list_removed import list_removed
from souvenance.app.query_memories import Query, query_memories
from souvenance.app.remember import NewMemory, remember
from souvenance.domain.bot import Bot, Preset
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import MemoryId, OwnerId
from souvenance.domain.journal import Actor
from souvenance.domain.memory import MemoryState, Origin, Scope
from souvenance.errors import BadValue, Conflict, KeyTaken, NotFound
from souvenance.ports.memories import Shelf
from souvenance.testing import say
from tests.flows.app.house import House, called, calls

ONE_DATABASE = True


async def _chat(house: House) -> tuple[Conversation, Scope]:
    bot = await house.bot()
    return await house.chat(bot), Scope.of_bot(bot.bot_id)


async def _places(house: House, memory_id: MemoryId) -> list[int]:
    return [operation.place for operation in await memory_history(house.kit, house.owner, memory_id)]


async def test_m11_what_a_model_changed_says_again_what_it_said(house: House) -> None:
    chat, scope = await _chat(house)
    memory = await house.remember("likes tea", scope)
    await house.say(chat, "Rum!", calls(called("update_memory", id=1, text="likes rum")), say("Noted"))
    first, _ = await _places(house, memory.memory_id)
    back = await bring_back(house.kit, house.owner, memory.memory_id, first)
    assert (back.memory_id, back.text, back.confidence, back.origin) == (
        memory.memory_id,
        "likes tea",
        1.0,
        Origin.MANUAL,
    )
    history = await memory_history(house.kit, house.owner, memory.memory_id)
    assert [operation.actor for operation in history] == [Actor.PERSON, Actor.MODEL, Actor.PERSON]
    assert [hit.memory.text for hit in (await query_memories(house.kit, house.owner, Query(text="tea"))).memories] == [
        "likes tea"
    ]
    await house.say(chat, "Hello")
    assert "likes tea" in house.prompt.text


async def test_m11_what_a_model_removed_is_listed_with_who_did_it_and_comes_back_with_its_place(house: House) -> None:
    chat, scope = await _chat(house)
    memory = await house.remember("likes tea", scope)
    await house.remember("likes rum", scope)
    assert (await list_removed(house.kit, house.owner)).items == ()
    await house.say(chat, "No tea!", calls(called("forget", id=2)), say("Gone"))
    (removed,) = (await list_removed(house.kit, house.owner)).items
    assert (removed.memory.memory_id, removed.memory.text, removed.actor) == (
        memory.memory_id,
        "likes tea",
        Actor.MODEL,
    )
    back = await bring_back(house.kit, house.owner, memory.memory_id, removed.place)
    assert (back.state, back.text) == (MemoryState.LIVE, "likes tea")
    assert await house.texts(scope) == ["likes tea", "likes rum"], "in the order in which they were first stored"
    assert (await list_removed(house.kit, house.owner)).items == ()


async def test_m11_removed_ones_come_in_pages_removed_last_first_of_one_scope_or_all(house: House) -> None:
    mira, ilse = await house.bot("Mira"), await house.bot("Ilse")
    chats = [(await house.chat(bot), Scope.of_bot(bot.bot_id)) for bot in (mira, ilse)]
    for number in range(5):
        chat, scope = chats[number % 2]
        await house.remember(f"fact {number}", scope)
        await house.say(chat, "Not that", calls(called("forget", id=number // 2 + 1)), say("Gone"))
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = await list_removed(house.kit, house.owner, cursor=cursor, limit=2)
        seen += [removed.memory.text for removed in page.items]
        cursor = page.next
        if cursor is None:
            break
    assert seen == ["fact 4", "fact 3", "fact 2", "fact 1", "fact 0"]
    in_scope = await list_removed(house.kit, house.owner, scope=Scope.of_bot(ilse.bot_id))
    assert [removed.memory.text for removed in in_scope.items] == ["fact 3", "fact 1"]
    with pytest.raises(BadValue, match="cursor"):
        await list_removed(house.kit, house.owner, cursor="elsewhere")


async def test_m14_what_a_person_erased_is_neither_listed_nor_brought_back(house: House) -> None:
    memory = await house.remember("likes tea")
    (place,) = await _places(house, memory.memory_id)
    await erase_memories(house.kit, house.owner, [memory.memory_id])
    assert (await list_removed(house.kit, house.owner)).items == ()
    with pytest.raises(NotFound):
        await bring_back(house.kit, house.owner, memory.memory_id, place)


async def test_m11_one_that_is_nobodys_or_somebody_elses_is_not_found(house: House) -> None:
    memory = await house.remember("likes tea")
    with pytest.raises(NotFound):
        await bring_back(house.kit, house.owner, MemoryId("mem_nobodys"), 1)
    with pytest.raises(NotFound):
        await bring_back(house.kit, OwnerId("own_other"), memory.memory_id, memory.place)


async def test_m11_a_place_that_says_nothing_changes_nothing(house: House) -> None:
    memory = await house.remember("likes tea")
    archived = await archive_memory(house.kit, house.owner, memory.memory_id, archived=True)
    _, place = await _places(house, memory.memory_id)
    for wrong in (place, place + 100, 0, -1):
        with pytest.raises(BadValue, match="place"):
            await bring_back(house.kit, house.owner, memory.memory_id, wrong)
    assert (await read_memory(house.kit, house.owner, memory.memory_id)).memory == archived


async def test_m10_it_does_not_come_back_beside_another_that_says_the_same(house: House) -> None:
    chat, scope = await _chat(house)
    memory = await house.remember("likes tea", scope)
    await house.say(chat, "Rum!", calls(called("update_memory", id=1, text="likes rum")), say("Noted"))
    twin = await house.remember("Likes tea.", scope)
    first, _ = await _places(house, memory.memory_id)
    with pytest.raises(Conflict) as refused:
        await bring_back(house.kit, house.owner, memory.memory_id, first)
    assert refused.value.details["id"] == twin.memory_id
    assert await house.texts(scope) == ["likes rum", "Likes tea."]


async def test_m10_a_key_that_was_given_away_is_taken(house: House) -> None:
    notes: Bot = await house.bot("Notes", Preset.NOTEBOOK)
    chat, scope = await house.chat(notes), Scope.of_bot(notes.bot_id)
    old = await house.remember("tea", scope, key="drink")
    await house.say(chat, "Drop it", calls(called("forget", key="drink")), say("Gone"))
    await house.remember("rum", scope, key="drink")
    with pytest.raises(KeyTaken):
        await bring_back(house.kit, house.owner, old.memory_id, (await _places(house, old.memory_id))[0])
    assert await house.pairs(scope) == {"drink": "rum"}


async def test_m11_one_that_stands_behind_an_equal_one_comes_forth_by_another_text(house: House) -> None:
    chat, scope = await _chat(house)
    first = await house.remember("likes rum", scope)
    await house.say(chat, "Tea!", calls(called("update_memory", id=1, text="likes tea")), say("Noted"))
    erasure = await erase_memories(house.kit, house.owner, [first.memory_id])
    pinned = await remember(house.kit, house.owner, NewMemory(text="Likes tea.", scope=scope, pinned=True))
    await undo_erasure(house.kit, house.owner, erasure.erasure_id)
    assert await house.texts(scope) == ["Likes tea."]
    rum, tea = await _places(house, first.memory_id)
    with pytest.raises(Conflict) as refused:
        await bring_back(house.kit, house.owner, first.memory_id, tea)
    assert refused.value.details["id"] == pinned.memory.memory_id
    await bring_back(house.kit, house.owner, first.memory_id, rum)
    assert await house.texts(scope) == ["likes rum", "Likes tea."]


async def test_m11_what_a_live_one_says_already_changes_nothing(house: House) -> None:
    memory = await house.remember("likes tea")
    assert await bring_back(house.kit, house.owner, memory.memory_id, memory.place) == memory


async def test_m2_one_archived_for_room_is_back_in_room_once_it_is_restored(house: House) -> None:
    small = house.with_limits(room_unpinned=2)
    made = []
    for number in range(4):
        house.clock.advance(seconds=1)
        made.append(await house.remember(f"fact {number}"))
    await archive_memory(small.kit, house.owner, made[3].memory_id, archived=True)
    archived = await _shelf(small, Shelf.ARCHIVED)
    assert archived == ["fact 0", "fact 3"]
    await archive_memory(small.kit, house.owner, made[0].memory_id, archived=False)
    assert await _shelf(small, Shelf.ARCHIVED) == ["fact 1", "fact 3"]
    assert await _shelf(small, Shelf.ACTIVE) == ["fact 0", "fact 2"]


async def test_m10_a_model_that_says_what_is_in_the_archive_restores_it(house: House) -> None:
    chat, scope = await _chat(house)
    memory = await house.remember("likes tea", scope)
    await archive_memory(house.kit, house.owner, memory.memory_id, archived=True)
    await house.say(chat, "I like tea", calls(called("remember", text="Likes tea.")), say("Noted"))
    view = await read_memory(house.kit, house.owner, memory.memory_id)
    assert (view.archived, await house.texts(scope)) == (False, ["likes tea"])


async def _shelf(house: House, shelf: Shelf) -> list[str]:
    page = await list_memories(house.kit, house.owner, shelf=shelf)
    return sorted(view.memory.text for view in page.items)
