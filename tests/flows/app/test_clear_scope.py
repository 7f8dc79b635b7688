"""M9: a scope is cleared in two separate steps, however much is in it."""

from __future__ import annotations

import pytest

from souvenance.app.archive_memory import archive_memory
from souvenance.app.clear_scope import clear_pinned, clear_scope
from souvenance.app.erase import erase_memories, undo_erasure
from souvenance.app.pin_memory import pin_memory
from souvenance.app.purge_ended import purge_ended
from souvenance.app.remember import NewMemory, remember_many
from souvenance.domain.memory import ACCOUNT_SCOPE, ORGANISATION_SCOPE, Memory, Scope
from souvenance.errors import BadValue, Conflict, NotFound
from souvenance.testing import say
from tests.flows.app.house import House, called, calls


async def _filled(house: House) -> dict[str, Memory]:
    """One of each: in room, archived for room, archived by hand, pinned; all but the last are unpinned."""
    made = {text: await house.remember(text) for text in ("for room", "by hand", "in room", "pinned")}
    await archive_memory(house.kit, house.owner, made["by hand"].memory_id, archived=True)
    await pin_memory(house.kit, house.owner, made["pinned"].memory_id, pinned=True)
    return made


async def test_m9_the_first_call_erases_all_unpinned_ones_archived_ones_included_and_counts_the_pinned(
    house: House,
) -> None:
    small = house.with_limits(room_unpinned=1)
    await _filled(small)
    bot = Scope.of_bot((await house.bot()).bot_id)
    await house.remember("elsewhere", bot)
    cleared = await clear_scope(small.kit, house.owner, ACCOUNT_SCOPE)
    assert cleared.erasure is not None
    assert (len(cleared.erasure.memory_ids), cleared.pinned) == (3, 1)
    assert sorted(await house.texts()) == ["elsewhere", "pinned"]


async def test_m9_what_a_model_deleted_goes_with_it_so_that_no_undo_brings_it_back(house: House) -> None:
    bot = await house.bot()
    chat, scope = await house.chat(bot), Scope.of_bot(bot.bot_id)
    memory = await house.remember("likes tea", scope)
    await house.say(chat, "Forget it.", calls(called("forget", "one", id=1)), say("Gone."))
    cleared = await clear_scope(house.kit, house.owner, scope)
    assert cleared.erasure is not None
    assert cleared.erasure.memory_ids == (memory.memory_id,)


async def test_m9_an_erasure_of_a_whole_scope_can_be_undone_with_all_it_had(house: House) -> None:
    made = await _filled(house)
    before = await house.memories()
    cleared = await clear_scope(house.kit, house.owner, ACCOUNT_SCOPE)
    assert cleared.erasure is not None
    await undo_erasure(house.kit, house.owner, cleared.erasure.erasure_id)
    after = await house.memories()
    assert [(one.memory_id, one.text, one.archived, one.pinned) for one in after] == [
        (one.memory_id, one.text, one.archived, one.pinned) for one in before
    ]
    assert len(after) == len(made)


async def test_m9_the_pinned_ones_go_by_a_second_call_that_tells_their_number(house: House) -> None:
    made = await _filled(house)
    cleared = await clear_scope(house.kit, house.owner, ACCOUNT_SCOPE)
    erasure = await clear_pinned(house.kit, house.owner, ACCOUNT_SCOPE, expected=cleared.pinned)
    assert erasure.memory_ids == (made["pinned"].memory_id,)
    assert await house.texts() == []


@pytest.mark.parametrize("count", [None, 0, 2, -1])
async def test_m9_a_wrong_or_missing_count_changes_nothing(house: House, count: int | None) -> None:
    await _filled(house)
    with pytest.raises(Conflict, match="There are 1 pinned memories in account") as refused:
        await clear_pinned(house.kit, house.owner, ACCOUNT_SCOPE, expected=count)
    assert refused.value.details["pinned"] == 1
    assert len(await house.memories()) == 4


async def test_m9_with_nothing_there_nothing_is_offered(house: House) -> None:
    cleared = await clear_scope(house.kit, house.owner, ACCOUNT_SCOPE)
    assert (cleared.erasure, cleared.pinned) == (None, 0)
    with pytest.raises(BadValue, match="at least 1"):
        await clear_pinned(house.kit, house.owner, ACCOUNT_SCOPE, expected=0)


async def test_m9_a_scope_that_is_not_there_is_none(house: House) -> None:
    with pytest.raises(NotFound):
        await clear_scope(house.kit, house.owner, Scope.parse("bot:bot_nobodys"))
    with pytest.raises(BadValue):
        await clear_scope(house.kit, house.owner, ORGANISATION_SCOPE)


async def test_m5_a_pinned_one_survives_the_clearing_of_an_equal_one_behind_it(
    house: House,
) -> None:
    scope = Scope.of_bot((await house.bot()).bot_id)
    kept = await house.remember("likes tea", scope, pinned=True)
    erasure = await erase_memories(house.kit, house.owner, [kept.memory_id])
    shadow = await house.remember("Likes tea.", scope)
    await undo_erasure(house.kit, house.owner, erasure.erasure_id)
    cleared = await clear_scope(house.kit, house.owner, scope)
    assert cleared.erasure is not None
    assert cleared.erasure.memory_ids == (shadow.memory_id,)
    house.clock.advance(seconds=11)
    assert await purge_ended(house.kit) == 1
    assert [one.memory_id for one in await house.memories(scope)] == [kept.memory_id]


async def test_m9_more_than_a_thousand_go_and_come_back_at_once(house: House) -> None:
    new = [NewMemory(text=f"fact number {number}", scope=ACCOUNT_SCOPE) for number in range(1_100)]
    await remember_many(house.kit, house.owner, new)
    cleared = await clear_scope(house.kit, house.owner, ACCOUNT_SCOPE)
    assert cleared.erasure is not None
    assert len(cleared.erasure.memory_ids) == 1_100
    assert await house.texts() == []
    await undo_erasure(house.kit, house.owner, cleared.erasure.erasure_id)
    assert len(await house.read(lambda unit: unit.memories.by_place(ACCOUNT_SCOPE))) == 1_100
