"""Erasure by a person on both databases: hidden, brought back, or gone without a trace of its text (M14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from souvenance.domain.epoch import Epoch, EpochLine
from souvenance.domain.ids import ConversationId, MemoryId, MessageId, PromptId, TurnId
from souvenance.domain.journal import Add, Archive, Content, Delete, Move, Update
from souvenance.domain.memory import ACCOUNT_SCOPE, Evidence, Memory, MemoryState, Scope
from souvenance.domain.sent import ERASED, Part, SentPrompt
from souvenance.errors import NotFound
from souvenance.ports.store import Store, Unit
from souvenance.storage.postgres import PostgresStore
from souvenance.storage.schema import metadata
from souvenance.storage.sqlite import FILE, SqliteStore
from tests.conformance.conftest import Place
from tests.conformance.facts import BOT_SCOPE, do, erasure, folded, keep, memory, read, say, write
from tests.conformance.rows import ALICE, BOB, CHAT, NOW, later

ONE = MemoryId("mem_00001")
TWO = MemoryId("mem_00002")


def states(unit: Unit, *memory_ids: MemoryId) -> list[str]:
    return [unit.memories.get(one).state for one in memory_ids]


async def test_what_is_being_erased_is_in_no_list_and_no_hit(store: Store) -> None:
    def begin(unit: Unit) -> int:
        keep(unit, memory(1, "likes tea"))
        keep(unit, memory(2, "likes rum", pinned=True))
        before = unit.owners.next_place()
        unit.owners.next_place()
        unit.erasures.begin(erasure(ONE, TWO))
        return before

    before = await write(store, begin)

    def seen(unit: Unit) -> list[Any]:
        memories = unit.memories
        return [
            *memories.by_place(ACCOUNT_SCOPE),
            *memories.pinned(ACCOUNT_SCOPE),
            *memories.newest_unpinned(ACCOUNT_SCOPE, limit=9),
            *filter(None, [memories.equal_to(ACCOUNT_SCOPE, text="likes tea", key=None)]),
            *unit.index.find_memories(["likes"], scopes=[ACCOUNT_SCOPE]).postings,
        ]

    assert await read(store, seen) == []
    changed = await read(store, lambda unit: unit.memories.changed_since([ACCOUNT_SCOPE], before, limit=9))
    assert [(one.memory_id, one.state, one.version) for one in changed] == [
        (ONE, MemoryState.ERASING, 2),
        (TWO, MemoryState.ERASING, 2),
    ]


async def test_an_offer_reads_back_until_it_is_taken(store: Store) -> None:
    offer = erasure(ONE, TWO)
    await write(store, lambda unit: unit.erasures.begin(offer))
    assert await read(store, lambda unit: unit.erasures.get(offer.erasure_id)) == offer
    assert await read(store, lambda unit: unit.erasures.get(offer.erasure_id), BOB) is None
    assert await read(store, lambda unit: unit.erasures.ended(later(9))) == []
    assert await read(store, lambda unit: unit.erasures.ended(later(10))) == [offer]
    assert await read(store, lambda unit: unit.erasures.ended(later(10)), BOB) == []
    await write(store, lambda unit: unit.erasures.undo(offer.erasure_id))
    assert await read(store, lambda unit: unit.erasures.get(offer.erasure_id)) is None
    with pytest.raises(NotFound):
        await write(store, lambda unit: unit.erasures.undo(offer.erasure_id))


async def test_taking_it_back_brings_the_memories_as_they_were(store: Store) -> None:
    def there_and_back(unit: Unit) -> tuple[list[Memory], list[Memory]]:
        kept = [
            keep(unit, memory(1, "likes tea", pinned=True)),
            keep(unit, memory(2, "Alice", key="name", scope=BOT_SCOPE)),
            keep(unit, memory(3, "likes rum")),
        ]
        unit.erasures.begin(erasure(*(one.memory_id for one in kept)))
        unit.erasures.undo(erasure().erasure_id)
        return kept, unit.memories.many([one.memory_id for one in kept])

    kept, back = await write(store, there_and_back)
    assert [replace(one, version=1, changed=one.place) for one in back] == kept
    assert all(one.version > 1 for one in back)


async def test_what_its_turn_lost_meanwhile_does_not_come_back(store: Store) -> None:
    def undone_meanwhile(unit: Unit) -> list[str]:
        cause = say(unit, 0, chosen=False)
        keep(unit, memory(1, "likes tea"), causes=[cause])
        keep(unit, memory(2, "likes rum"), causes=[cause])
        do(unit, TWO, Archive())
        keep(unit, memory(3, "likes gin"))
        do(unit, MemoryId("mem_00003"), Delete(), causes=[cause])
        keep(unit, memory(4, "likes ale"))
        do(unit, MemoryId("mem_00004"), Delete())
        all_four = [MemoryId(f"mem_0000{number}") for number in (1, 2, 3, 4)]
        unit.erasures.begin(erasure(*all_four))
        unit.journal.settle([cause])
        unit.erasures.undo(erasure().erasure_id)
        stands = [one for one in all_four if (now := folded(unit, one)) and now.state is MemoryState.LIVE]
        assert [one.memory_id for one in unit.memories.by_place(ACCOUNT_SCOPE)] == stands
        return states(unit, *all_four)

    assert await write(store, undone_meanwhile) == ["deleted", "deleted", "live", "deleted"]


async def test_an_equal_one_stored_meanwhile_stands_behind_the_one_that_was_first(store: Store) -> None:
    def stored_meanwhile(unit: Unit) -> list[str]:
        keep(unit, memory(1, "likes tea"))
        unit.erasures.begin(erasure(ONE))
        keep(unit, memory(2, "Likes tea."))
        unit.erasures.undo(erasure().erasure_id)
        return states(unit, ONE, TWO)

    assert await write(store, stored_meanwhile) == ["live", "shadowed"]


async def test_a_pinned_equal_stored_meanwhile_stands_before_the_one_that_was_first(store: Store) -> None:
    def pinned_meanwhile(unit: Unit) -> list[str]:
        keep(unit, memory(1, "likes tea"))
        unit.erasures.begin(erasure(ONE))
        keep(unit, memory(2, "Likes tea.", pinned=True))
        unit.erasures.undo(erasure().erasure_id)
        return states(unit, ONE, TWO)

    assert await write(store, pinned_meanwhile) == ["shadowed", "live"]


async def test_of_two_equal_ones_that_come_back_at_once_one_is_live(store: Store) -> None:
    def both(unit: Unit) -> list[str]:
        first = keep(unit, memory(1, "likes tea"))
        unit.memories.save(replace(first, state=MemoryState.ERASING))
        keep(unit, memory(2, "likes tea"))
        unit.erasures.begin(erasure(TWO, ONE))
        unit.erasures.undo(erasure().erasure_id)
        return states(unit, ONE, TWO)

    assert await write(store, both) == ["live", "shadowed"]


async def test_an_undo_moves_nothing_of_another_owner(store: Store) -> None:
    for owner in (ALICE, BOB):
        await write(store, lambda unit: keep(unit, memory(1, "likes tea")), owner)
        await write(store, lambda unit: unit.erasures.begin(erasure(ONE)), owner)
    await write(store, lambda unit: unit.erasures.undo(erasure().erasure_id), BOB)
    assert await read(store, lambda unit: states(unit, ONE), ALICE) == ["erasing"]
    assert await read(store, lambda unit: states(unit, ONE), BOB) == ["live"]


async def test_a_purge_leaves_tombstones_of_every_text_in_every_scope_it_was_in(store: Store) -> None:
    def purge(unit: Unit) -> None:
        said = say(unit, 0)
        keep(unit, memory(1, "likes tea", scope=BOT_SCOPE), evidence=[Evidence(at=NOW, message_id=said)])
        do(unit, ONE, Update(content=Content(text="Likes green tea")), scope=BOT_SCOPE, causes=["msg_origin"])
        do(unit, ONE, Move(scope=ACCOUNT_SCOPE), scope=ACCOUNT_SCOPE)
        moved = folded(unit, ONE)
        assert moved is not None
        unit.memories.save(replace(moved, text="Likes jasmine tea"))
        unit.erasures.begin(erasure(ONE))
        unit.erasures.purge(erasure(ONE))

    await write(store, purge)

    def buried(unit: Unit, *texts: str) -> list[bool]:
        return [_buried(unit, scope, one) for scope in (BOT_SCOPE, ACCOUNT_SCOPE) for one in texts]

    assert all(await read(store, lambda unit: buried(unit, "LIKES tea!", "likes green tea", "likes jasmine tea")))
    assert not any(await read(store, lambda unit: buried(unit, "likes rum", "likes green  te")))
    assert not any(await read(store, lambda unit: buried(unit, "likes tea"), BOB))


async def test_a_purge_takes_its_own_memories_and_nothing_else(
    store: Store, bare_store: SqliteStore | PostgresStore
) -> None:
    def fill(unit: Unit) -> None:
        source = Evidence(at=NOW, conversation_id=CHAT)
        keep(unit, memory(1, "likes tea"), causes=["msg_1"], evidence=[source])
        keep(unit, memory(2, "likes tea and rum"), causes=["msg_1"], evidence=[source])
        unit.short_ids.put(CHAT, {ONE: 1, TWO: 2})
        unit.prompts.put(sent_with("likes tea"))
        unit.epochs.save(epoch_with("likes tea"))
        unit.erasures.begin(erasure(ONE))

    for owner in (ALICE, BOB):
        await write(store, fill, owner)
    await write(store, lambda unit: unit.erasures.purge(erasure(ONE)))
    assert await read(store, lambda unit: unit.memories.many([ONE, TWO])) == await read(
        store, lambda unit: [unit.memories.get(TWO)]
    )
    assert await read(store, lambda unit: unit.journal.of_memories([ONE, TWO]).keys()) == {TWO}
    assert [
        row.memory_id for row in await rows_of(bare_store, "SELECT memory_id FROM evidence ORDER BY owner_id, place")
    ] == [
        TWO,
        ONE,
        TWO,
    ]
    found = await read(store, lambda unit: unit.index.find_memories(["tea"], scopes=[ACCOUNT_SCOPE]))
    assert ([one.item for one in found.postings], found.items, found.mean_length) == ([TWO], 1, 4.0)
    assert await read(store, lambda unit: unit.short_ids.of(CHAT, [ONE, TWO])) == {ONE: 1, TWO: 2}
    ended = await read(store, lambda unit: unit.epochs.get(CHAT, None))
    assert ended is not None
    assert (ended.number, dict(ended.basis), ended.lines) == (1, {}, ())
    parts = (await read(store, lambda unit: unit.prompts.get(PromptId("prm_1")))).parts
    assert [one.data for one in parts] == [b"You remember:", ERASED, b"likes tea"]
    assert await read(store, lambda unit: states(unit, ONE), BOB) == ["erasing"]
    assert await read(store, lambda unit: unit.epochs.get(CHAT, None), BOB) is not None
    body = (await read(store, lambda unit: unit.prompts.get(PromptId("prm_1")), BOB)).parts
    assert body[1].data == b"likes tea"


async def test_an_undo_that_comes_after_the_purge_is_told_so(store: Store) -> None:
    def too_late(unit: Unit) -> None:
        keep(unit, memory(1, "likes tea"))
        unit.erasures.begin(erasure(ONE))
        unit.erasures.purge(erasure(ONE))
        unit.erasures.undo(erasure().erasure_id)

    with pytest.raises(NotFound, match="era_1"):
        await write(store, too_late)


async def test_a_purge_of_an_offer_that_was_taken_does_nothing(store: Store) -> None:
    def too_late(unit: Unit) -> list[str]:
        keep(unit, memory(1, "likes tea"))
        unit.erasures.begin(erasure(ONE))
        unit.erasures.undo(erasure().erasure_id)
        unit.erasures.purge(erasure(ONE))
        return states(unit, ONE)

    assert await write(store, too_late) == ["live"]
    assert not await read(store, lambda unit: _buried(unit, ACCOUNT_SCOPE, "likes tea"))


async def test_a_tombstone_stands_from_the_click_until_it_is_taken_back(store: Store) -> None:
    def click(unit: Unit) -> None:
        keep(unit, memory(1, "likes tea"))
        unit.erasures.begin(erasure(ONE))

    await write(store, click)
    assert await read(store, lambda unit: _buried(unit, ACCOUNT_SCOPE, "Likes tea."))
    await write(store, lambda unit: unit.erasures.undo(erasure().erasure_id))
    assert not await read(store, lambda unit: _buried(unit, ACCOUNT_SCOPE, "Likes tea."))


async def test_each_erasure_of_a_text_has_tombstones_of_its_own(store: Store) -> None:
    def erase(unit: Unit, number: int) -> None:
        wanted = memory(number, "likes tea")
        said = Evidence(at=NOW, message_id=MessageId(f"msg_{number}"))
        keep(unit, wanted, causes=["msg_0"], evidence=[said])
        unit.erasures.begin(erasure(wanted.memory_id, number=number))

    def sources(unit: Unit) -> list[tuple[str, ...]]:
        return [stone.sources for stone in unit.erasures.tombstones(text="likes tea", key=None)]

    await write(store, lambda unit: erase(unit, 1))
    await write(store, lambda unit: unit.erasures.purge(erasure(ONE)))
    await write(store, lambda unit: erase(unit, 2))
    assert await read(store, sources) == [("msg_0", "msg_1"), ("msg_0", "msg_2")]
    await write(store, lambda unit: unit.erasures.undo(erasure(number=2).erasure_id))
    assert await read(store, sources) == [("msg_0", "msg_1")]


async def test_two_memories_of_one_text_that_go_at_once_leave_one_tombstone_with_the_sources_of_both(
    store: Store,
) -> None:
    def erase(unit: Unit) -> list[tuple[str, ...]]:
        keep(unit, memory(1, "likes tea"), causes=["msg_1"])
        unit.memories.save(replace(unit.memories.get(ONE), state=MemoryState.SHADOWED))
        keep(unit, memory(2, "Likes tea!"), causes=["msg_2"])
        unit.erasures.begin(erasure(ONE, TWO))
        return [stone.sources for stone in unit.erasures.tombstones(text="likes tea", key=None)]

    assert await write(store, erase) == [("msg_1", "msg_2")]


async def test_the_tombstone_of_a_key_is_told_by_key_and_value(store: Store) -> None:
    def erase(unit: Unit) -> list[int]:
        keep(unit, memory(1, "tea", key="drink", scope=BOT_SCOPE))
        unit.erasures.begin(erasure(ONE))
        asked = [("tea", "drink"), ("TEA", "drink"), ("tea", "Drink"), ("rum", "drink")]
        return [len(unit.erasures.tombstones(text=text, key=key)) for text, key in asked]

    assert await write(store, erase) == [1, 1, 0, 0]


def _buried(unit: Unit, scope: Scope, text: str) -> bool:
    return any(stone.scope == scope for stone in unit.erasures.tombstones(text=text, key=None))


async def test_very_many_memories_are_erased_at_once(store: Store) -> None:
    ids = [MemoryId(f"mem_{number:05}") for number in range(1_100)]

    def clear(unit: Unit) -> tuple[int, int]:
        for number in range(1_100):
            keep(unit, memory(number))
        unit.erasures.begin(erasure(*ids))
        hidden = len(unit.memories.by_place(ACCOUNT_SCOPE))
        unit.erasures.purge(erasure(*ids))
        return hidden, len(unit.memories.many(ids))

    assert await write(store, clear) == (0, 0)


MARK = "Zyxomma-7f3a"


async def test_after_the_purge_no_byte_of_the_text_is_left(
    store: Store, bare_store: SqliteStore | PostgresStore, place: Place
) -> None:
    def fill(unit: Unit) -> None:
        keep(unit, memory(1, f"first {MARK}", subject=f"about {MARK}"))
        do(unit, ONE, Update(content=Content(text=f"second {MARK}", subject=MARK)))
        keep(unit, memory(2, f"value {MARK}", key=f"key {MARK}", scope=BOT_SCOPE))
        do(unit, TWO, Add(content=Content(text=f"third {MARK}", key=f"key {MARK}")), scope=BOT_SCOPE)
        unit.prompts.put(sent_with(f"- first {MARK}"))
        unit.epochs.save(epoch_with(f"- first {MARK}"))

    def purge(unit: Unit) -> None:
        unit.erasures.begin(erasure(ONE, TWO))
        unit.erasures.purge(erasure(ONE, TWO))

    await write(store, fill)
    kept = await occurrences(bare_store, place)
    assert kept > 0
    await write(store, purge)
    assert await bare_store.scrub(deleted=True)
    assert await occurrences(bare_store, place) == 0


async def occurrences(store: SqliteStore | PostgresStore, place: Place) -> int:
    """How often the mark stands in any file of SQLite, or in any column of PostgreSQL."""
    if place.folder is not None:
        return sum(path.read_bytes().count(MARK.encode()) for path in files_of(place.folder))
    tables = [await rows_of(store, f"SELECT * FROM {name}") for name in metadata.tables]
    return sum(MARK.encode() in stored_bytes(value) for rows in tables for row in rows for value in row)


async def rows_of(store: SqliteStore | PostgresStore, statement: str) -> Sequence[Any]:
    """What stands in the tables themselves, whoever owns it."""
    if isinstance(store, SqliteStore):
        with store.engine.connect() as connection:
            return connection.exec_driver_sql(statement).all()
    async with store.engine.connect() as connection:
        return (await connection.exec_driver_sql(statement)).all()


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.name.startswith(FILE)]


def stored_bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def sent_with(line: str) -> SentPrompt:
    parts = (
        Part(data=b"You remember:"),
        Part(data=line.encode(), memory_id=ONE),
        Part(data=b"likes tea", memory_id=TWO),
    )
    return SentPrompt(
        prompt_id=PromptId("prm_1"),
        conversation_id=CHAT,
        turn_id=TurnId("trn_1"),
        message_id=None,
        model="tiny",
        at=NOW,
        parts=parts,
    )


def epoch_with(line: str) -> Epoch:
    lines = (EpochLine(memory_id=ONE, version=1, pinned=False, text=line, short=1),)
    return Epoch(conversation_id=ConversationId(CHAT), bot_id=None, number=1, place=1, lines=lines)
