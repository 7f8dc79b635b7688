"""Memories that an undo made equal: one stands for all of them, and what a person erases goes whole (M10, M11, M14)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from sqlalchemy import event

from souvenance.app.change_memories import Cause, Remove, Replace, Store, carry_out
from souvenance.app.erase import erase_memories, undo_erasure
from souvenance.app.pin_memory import pin_memory
from souvenance.app.purge_ended import purge_ended
from souvenance.app.undo_writes import undo_writes
from souvenance.domain.ids import ConversationId, MemoryId, MessageId
from souvenance.domain.journal import Actor, Anchor, Content, fold
from souvenance.domain.memory import ACCOUNT_SCOPE, Evidence, Memory, Scope
from souvenance.ports.store import Unit
from souvenance.storage.postgres import PostgresStore
from souvenance.storage.sqlite import SqliteStore
from tests.conformance.facts import say
from tests.flows.app.house import House

ONE_DATABASE = True

T = TypeVar("T")

COFFEE = Content(text="likes coffee")
_SCOPE = Scope.parse("bot:bot_1")


async def write(house: House, work: Callable[[Unit], T]) -> T:
    return await house.kit.store.write(house.owner, work, label="test.written")


async def tell(house: House, position: int) -> MessageId:
    """A reply that can be undone."""
    return await write(house, lambda unit: say(unit, position, part=1))


async def wish(house: House, wanted: Store | Replace | Remove, *causes: MessageId) -> None:
    cause = Cause(actor=Actor.MODEL, at=house.clock.now(), anchors=tuple(Anchor(message=cause) for cause in causes))
    await write(house, lambda unit: carry_out(unit, wanted, cause))


async def replace_by(house: House, memory_id: MemoryId, content: Content, *causes: MessageId) -> None:
    await wish(house, Replace(memory_id=memory_id, content=content, terms=("likes",)), *causes)


async def undo(house: House, cause: MessageId) -> None:
    def work(unit: Unit) -> None:
        unit.messages.save(replace(unit.messages.get(cause), chosen=False))
        undo_writes(unit, [cause], house.clock.now())

    await write(house, work)


async def states(house: House, *memories: Memory) -> list[str]:
    return await house.read(lambda unit: [str(unit.memories.get(one.memory_id).state) for one in memories])


async def two_equal(house: House) -> tuple[Memory, Memory]:
    """The first said tea, then coffee by a reply; a person stored tea meanwhile; then the reply was undone."""
    first = await house.remember("likes tea")
    reply = await tell(house, 0)
    await replace_by(house, first.memory_id, COFFEE, reply)
    second = await house.remember("Likes tea.")
    await undo(house, reply)
    return first, second


async def test_after_an_undo_the_first_of_two_equal_ones_stands_for_both(house: House) -> None:
    first, second = await two_equal(house)
    assert await states(house, first, second) == ["live", "shadowed"]
    assert await house.texts() == ["likes tea"]


async def test_m14_an_erasure_takes_what_stands_behind_it_along(house: House) -> None:
    first, second = await two_equal(house)
    erasure = await erase_memories(house.kit, house.owner, [first.memory_id])
    assert set(erasure.memory_ids) == {first.memory_id, second.memory_id}
    assert await house.memories() == []
    house.clock.advance(seconds=10)
    await purge_ended(house.kit)
    ids = [first.memory_id, second.memory_id]
    assert await house.read(lambda unit: (unit.memories.many(ids), unit.journal.of_memories(ids))) == ([], {})


async def test_m14_an_erasure_taken_back_leaves_the_two_as_they_were(house: House) -> None:
    first, second = await two_equal(house)
    erasure = await erase_memories(house.kit, house.owner, [first.memory_id])
    await undo_erasure(house.kit, house.owner, erasure.erasure_id)
    assert await states(house, first, second) == ["live", "shadowed"]


async def test_m14_a_deleted_equal_goes_too_and_no_undo_brings_it_back(house: House) -> None:
    first = await house.remember("likes tea")
    reply = await tell(house, 0)
    await wish(house, Remove(memory_id=first.memory_id), reply)
    second = await house.remember("likes tea")
    await erase_memories(house.kit, house.owner, [second.memory_id])
    house.clock.advance(seconds=10)
    await purge_ended(house.kit)
    await undo(house, reply)
    assert await house.memories() == []
    assert await house.read(lambda unit: unit.memories.many([first.memory_id])) == []


async def test_what_stood_behind_comes_forward_when_the_first_is_deleted_in_a_turn(house: House) -> None:
    first, second = await two_equal(house)
    reply = await tell(house, 1)
    await wish(house, Remove(memory_id=first.memory_id), reply)
    assert await states(house, first, second) == ["deleted", "live"]
    await undo(house, reply)
    assert await states(house, first, second) == ["live", "shadowed"]


async def test_what_stood_behind_comes_forward_when_the_first_says_something_else(house: House) -> None:
    first, second = await two_equal(house)
    reply = await tell(house, 1)
    await replace_by(house, first.memory_id, COFFEE, reply)
    assert await states(house, first, second) == ["live", "live"]
    assert await house.texts() == ["likes coffee", "Likes tea."]
    await undo(house, reply)
    assert await states(house, first, second) == ["live", "shadowed"]


async def test_a_pin_puts_one_first_until_it_is_unpinned(house: House) -> None:
    first = await house.remember("likes tea")
    reply = await tell(house, 0)
    await replace_by(house, first.memory_id, COFFEE, reply)
    second = await house.remember("likes tea", pinned=True)
    await undo(house, reply)
    assert await states(house, first, second) == ["shadowed", "live"]
    await pin_memory(house.kit, house.owner, second.memory_id, pinned=False)
    assert await states(house, first, second) == ["live", "shadowed"]


async def test_t1_what_a_person_pinned_has_only_the_persons_source_once_its_reply_is_undone(house: House) -> None:
    reply = await tell(house, 0)
    told = Evidence(at=house.clock.now(), conversation_id=ConversationId("con_1"), message_id=reply)
    memory_id = MemoryId("mem_told")
    content = Content(text="likes tea", evidence=(told,))
    await wish(house, Store(memory_id=memory_id, scope=ACCOUNT_SCOPE, content=content, terms=("tea",)), reply)
    house.clock.advance(seconds=1)
    pinned = await pin_memory(house.kit, house.owner, memory_id, pinned=True)
    assert await house.sources(pinned) == (told, Evidence(at=house.clock.now()))
    await undo(house, reply)
    assert await house.sources(pinned) == (Evidence(at=house.clock.now()),)


async def test_z3_writing_a_key_again_reads_nothing_of_its_history(
    house: House, real_store: SqliteStore | PostgresStore
) -> None:
    scope = Scope.of_bot((await house.bot()).bot_id)

    def keep(value: int) -> Store:
        content = Content(text=f"mood {value}", key="mood", evidence=(Evidence(at=house.clock.now()),))
        return Store(memory_id=MemoryId(f"mem_{value}"), scope=scope, content=content, terms=("mood",))

    for value in range(5):
        await wish(house, keep(value))
    engine = real_store.engine if isinstance(real_store, SqliteStore) else real_store.engine.sync_engine
    statements: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    await wish(house, keep(5))
    assert any("INSERT INTO operations" in statement for statement in statements)
    assert not [one for one in statements if "FROM operations" in one or "FROM evidence" in one]
    memory = await house.read(lambda unit: unit.memories.equal_to(scope, text="", key="mood"))
    assert memory is not None
    assert len(await house.sources(memory)) == 1
    folded = fold(await house.read(lambda unit: unit.journal.of_memory(memory.memory_id)))
    assert folded is not None
    assert (folded.text, folded.updated_place, folded.place) == (memory.text, memory.updated_place, memory.place)
