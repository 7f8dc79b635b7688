"""The same words about two people are two facts, and each goes its own way (M4, M10)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from souvenance.app.bring_back import bring_back
from souvenance.app.change_memories import Cause, Changed, NotChanged, Outcome, Replace, Store, Wish, carry_out
from souvenance.app.delete_bot import delete_bot
from souvenance.app.edit_memory import edit_memory
from souvenance.app.erase import erase_memories
from souvenance.app.find_similar import find_similar
from souvenance.app.purge_ended import purge_ended
from souvenance.app.undo_writes import undo_writes
from souvenance.domain.ids import MemoryId
from souvenance.domain.journal import Actor, Anchor, Content
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory, Scope
from souvenance.errors import Conflict
from souvenance.ports.store import Unit
from tests.conformance.facts import say
from tests.flows.app.house import House

ONE_DATABASE = True

TEA = "likes tea"


async def three(house: House) -> tuple[Memory, Memory, Memory]:
    """Of Ann, of Bob, and of the user."""
    return (
        await house.remember(TEA, subject="Ann"),
        await house.remember(TEA, subject="Bob"),
        await house.remember(TEA),
    )


async def subjects(house: House) -> list[str]:
    assert {memory.text for memory in await house.memories()} <= {TEA}
    return [memory.subject for memory in await house.memories()]


async def wish(house: House, wanted: Wish) -> Outcome:
    cause = Cause(actor=Actor.EXTRACTION, at=house.clock.now())
    return await house.kit.store.write(house.owner, lambda unit: carry_out(unit, wanted, cause), label="test.wished")


async def store(house: House, subject: str) -> Outcome:
    content = Content(text=TEA, subject=subject)
    memory_id = MemoryId(house.kit.ids.new("mem"))
    return await wish(house, Store(memory_id=memory_id, scope=ACCOUNT_SCOPE, content=content, terms=("tea",)))


async def test_m10_the_same_words_about_others_are_facts_of_their_own(house: House) -> None:
    ann, _, _ = await three(house)
    assert (await house.remember("Likes tea.", subject="ANN")).memory_id == ann.memory_id
    assert await subjects(house) == ["Ann", "Bob", ""]


async def test_m10_of_a_key_the_subject_tells_nothing_apart(house: House) -> None:
    first = await house.remember("tea", key="drink", subject="Ann")
    assert (await house.remember("tea", key="drink", subject="Bob")).memory_id == first.memory_id


async def test_m10_a_models_update_joins_only_what_says_it_of_the_same_person(house: House) -> None:
    ann, _, _ = await three(house)
    rum = await house.remember("likes rum", subject="Ann")
    carl = await house.remember("likes rum", subject="Carl")
    for memory in (rum, carl):
        await wish(house, Replace(memory_id=memory.memory_id, content=Content(text=TEA), terms=("tea",)))
    assert await subjects(house) == ["Ann", "Bob", "", "Carl"]
    assert (await house.memories())[0].memory_id == ann.memory_id


async def test_m10_an_edit_of_the_subject_alone_collides_or_makes_room(house: House) -> None:
    ann, bob, _ = await three(house)
    with pytest.raises(Conflict, match=ann.memory_id):
        await edit_memory(house.kit, house.owner, bob.memory_id, seen=bob.version, subject="ann")
    await edit_memory(house.kit, house.owner, ann.memory_id, seen=ann.version, subject="Carl")
    await edit_memory(house.kit, house.owner, bob.memory_id, seen=bob.version, subject="ann")
    assert await subjects(house) == ["Carl", "ann", ""]
    said_first = (await house.read(lambda unit: unit.journal.of_memory(ann.memory_id)))[0].place
    with pytest.raises(Conflict, match=bob.memory_id):
        await bring_back(house.kit, house.owner, ann.memory_id, said_first)


async def test_m10_an_undo_sets_nothing_behind_what_is_said_of_another(house: House) -> None:
    reply = await house.kit.store.write(house.owner, lambda unit: say(unit, 0, part=1), label="test.said")
    ann = await house.remember(TEA, subject="Ann")
    cause = Cause(actor=Actor.MODEL, at=house.clock.now(), anchors=(Anchor(message=reply),))
    becomes_rum = Replace(memory_id=ann.memory_id, content=Content(text="likes rum"), terms=("rum",))

    def change(unit: Unit) -> None:
        carry_out(unit, becomes_rum, cause)

    def undo(unit: Unit) -> None:
        unit.messages.save(replace(unit.messages.get(reply), chosen=False))
        undo_writes(unit, [reply], house.clock.now())

    await house.kit.store.write(house.owner, change, label="test.changed")
    await house.remember(TEA, subject="Bob")
    await house.kit.store.write(house.owner, undo, label="test.undone")
    assert await subjects(house) == ["Ann", "Bob"]


@pytest.mark.parametrize("purged", [False, True])
async def test_m14_what_was_erased_of_one_stays_away_and_the_others_stay(house: House, purged: bool) -> None:
    ann, bob, user = await three(house)
    erasure = await erase_memories(house.kit, house.owner, [ann.memory_id])
    assert erasure.memory_ids == (ann.memory_id,)
    if purged:
        house.clock.advance(seconds=11)
        assert await purge_ended(house.kit) == 1
    assert await store(house, "ann") == NotChanged(reason="erased")
    confirmed = [await store(house, "Bob"), await store(house, ""), await store(house, "Carl")]
    assert [outcome.kind for outcome in confirmed if isinstance(outcome, Changed)] == [
        "confirmed", "confirmed", "remembered",
    ]  # fmt: skip
    assert [memory.memory_id for memory in await house.memories()][:2] == [bob.memory_id, user.memory_id]


async def test_v4_what_says_it_of_the_same_person_comes_first_and_the_others_are_like_it(house: House) -> None:
    _, bob, _ = await three(house)
    found = await find_similar(house.kit, house.owner, TEA, subject="bob")
    assert [one.equal for one in found] == [True, False, False]
    assert found[0].view.memory.memory_id == bob.memory_id


async def test_m8_memories_that_stay_stand_beside_the_accounts_of_other_people(house: House) -> None:
    bot = await house.bot()
    await three(house)
    for subject in ("ann", "Carl"):
        await house.remember(TEA, Scope.of_bot(bot.bot_id), subject=subject)
    await delete_bot(house.kit, house.owner, bot.bot_id)
    assert sorted(await subjects(house)) == ["", "Ann", "Bob", "Carl"]
