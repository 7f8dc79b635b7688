"""What a store promises whatever is in it: whole commits, one snapshot, many writers, two owners."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import OwnerId
from souvenance.errors import EmptyText, NotFound, StoreUnavailable
from souvenance.ports.store import Store, Unit
from souvenance.storage.postgres import PostgresStore
from souvenance.storage.sqlite import SqliteStore
from tests.conformance import rows
from tests.conformance.conftest import Place
from tests.conformance.rows import ALICE, BOB, NOBODY, each

ROOT = Path(__file__).parents[2]


def next_place(unit: Unit) -> int:
    return unit.owners.next_place()


def place_of(unit: Unit) -> int:
    return unit.owners.get().place


async def make_alice(store: Store) -> None:
    await store.write(ALICE, lambda unit: unit.owners.create(rows.owner(ALICE)), label="owner.created")


async def test_a_drivers_error_shows_nothing_of_what_was_to_be_written(store: Store) -> None:
    def twice(unit: Unit) -> None:
        for _ in range(2):
            unit.notifications.put(rows.notification(about={"said": "Zyxomma"}))

    with pytest.raises(DBAPIError) as caught:
        await store.write(ALICE, twice, label="test.written")
    assert "Zyxomma" not in str(caught.value)


async def test_an_owner_is_created_once_and_keeps_its_secret(store: Store) -> None:
    other = rows.owner(BOB)
    await store.write(ALICE, lambda unit: unit.owners.create(other), label="owner.created")
    assert await store.read(ALICE, lambda unit: unit.owners.get(), label="owner.read") == rows.owner(ALICE)


async def test_many_processes_may_create_the_same_owner_at_once(bare_store: Store) -> None:
    await asyncio.gather(*(make_alice(bare_store) for _ in range(8)))
    assert await bare_store.read(ALICE, place_of, label="owner.read") == 0


async def test_an_unknown_owner_sees_nothing(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.read(NOBODY, place_of, label="owner.read")
    with pytest.raises(NotFound):
        await store.write(NOBODY, next_place, label="place.taken")
    with pytest.raises(NotFound):
        await store.read(NOBODY, lambda unit: unit.keyed_hash("x"), label="owner.read")


async def test_keyed_hashes_are_stable_and_tell_owners_apart(store: Store) -> None:
    async def hashed(owner_id: OwnerId, said: str) -> bytes:
        return await store.read(owner_id, lambda unit: unit.keyed_hash(said), label="hash.made")

    assert await hashed(ALICE, "tea") == await hashed(ALICE, "tea")
    assert len(await hashed(ALICE, "tea")) == 32
    assert len({await hashed(ALICE, "tea"), await hashed(ALICE, "Tea"), await hashed(BOB, "tea")}) == 3


async def test_twenty_writers_at_once_leave_no_gap_and_no_duplicate(store: Store) -> None:
    places = await asyncio.gather(*(store.write(ALICE, next_place, label="place.taken") for _ in range(20)))
    assert sorted(places) == list(range(1, 21))
    assert await store.read(ALICE, place_of, label="owner.read") == 20
    assert await store.read(BOB, place_of, label="owner.read") == 0


async def test_two_processes_write_to_one_database_without_losing_anything(
    place: Place, bare_store: SqliteStore | PostgresStore
) -> None:
    await make_alice(bare_store)
    other = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.conformance.take_places",
        place.url or str(place.folder),
        "25",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    assert other.stdin is not None
    assert other.stdout is not None
    assert await other.stdout.readline() == b"ready\n"
    other.stdin.write(b"go\n")
    ours = await asyncio.gather(*(bare_store.write(ALICE, next_place, label="place.taken") for _ in range(25)))
    theirs = [int(line) async for line in other.stdout]
    assert await other.wait() == 0
    assert sorted([*ours, *theirs]) == list(range(1, 51))


async def test_writers_that_lock_in_opposite_orders_both_get_through(store: Store) -> None:
    chats = [rows.conversation("con_1"), rows.conversation("con_2")]
    await store.write(ALICE, each(lambda unit: unit.conversations.put, chats), label="chats.made")

    def touch(unit: Unit) -> Callable[[Conversation], None]:
        return lambda chat: unit.conversations.save(unit.conversations.lock(chat.conversation_id))

    orders = [chats, chats[::-1]] * 2
    await asyncio.gather(*(store.write(ALICE, each(touch, order), label="chats.touched") for order in orders))
    found = await store.read(ALICE, lambda unit: unit.conversations.page(bot_id=None, before=None, limit=9), label="r")
    assert [chat.version for chat in found] == [5, 5]


async def test_an_error_in_the_work_rolls_everything_back(store: Store) -> None:
    def fail(unit: Unit) -> None:
        unit.owners.next_place()
        unit.bots.put(rows.bot())
        raise EmptyText("name")

    with pytest.raises(EmptyText):
        await store.write(ALICE, fail, label="bot.made")
    place, bots = await store.read(ALICE, lambda u: (place_of(u), u.bots.page(after=None, limit=9)), label="read")
    assert (place, bots) == (0, [])


async def test_t1_a_rehearsal_tells_what_would_be_and_leaves_nothing_behind(place: Place) -> None:
    heard: list[str] = []
    store = await place.open(probe=heard.append)
    await make_alice(store)

    def make(unit: Unit) -> tuple[int, str]:
        unit.bots.put(rows.bot())
        return unit.owners.next_place(), unit.bots.page(after=None, limit=9)[0].name

    assert await store.rehearse(ALICE, make, label="bot.rehearsed") == (1, rows.bot().name)
    # Another process gets the locks that the rehearsal held.
    other = await place.open()
    assert await other.write(ALICE, next_place, label="place.taken") == 1
    assert await other.read(ALICE, lambda unit: unit.bots.page(after=None, limit=9), label="bot.listed") == []
    await other.close()
    await store.close()
    assert heard == ["owner.created:before", "owner.created:after"]


async def test_an_error_in_a_rehearsal_comes_out_and_leaves_nothing_behind(store: Store) -> None:
    def fail(unit: Unit) -> None:
        unit.owners.next_place()
        raise EmptyText("name")

    with pytest.raises(EmptyText):
        await store.rehearse(ALICE, fail, label="place.rehearsed")
    assert await store.write(ALICE, next_place, label="place.taken") == 1


async def test_a_read_cannot_write(bare_store: Store) -> None:
    await make_alice(bare_store)
    with pytest.raises(StoreUnavailable):
        await bare_store.read(ALICE, next_place, label="place.taken")
    assert await bare_store.read(ALICE, place_of, label="owner.read") == 0


async def test_the_probe_hears_both_sides_of_each_commit_and_none_of_a_read(place: Place) -> None:
    heard: list[str] = []
    store = await place.open(probe=heard.append)
    await make_alice(store)
    await store.read(ALICE, place_of, label="owner.read")
    await store.write(ALICE, next_place, label="place.taken")
    await store.close()
    assert heard == ["owner.created:before", "owner.created:after", "place.taken:before", "place.taken:after"]


@pytest.mark.parametrize(("moment", "kept"), [("before", 0), ("after", 1)])
async def test_a_crash_beside_a_commit_leaves_all_of_it_or_nothing(place: Place, moment: str, kept: int) -> None:
    class Crashed(BaseException):
        pass

    def probe(heard: str) -> None:
        if heard == f"place.taken:{moment}":
            raise Crashed

    store = await place.open(probe=probe)
    await make_alice(store)
    with pytest.raises(Crashed):
        await store.write(ALICE, next_place, label="place.taken")
    assert await store.read(ALICE, place_of, label="owner.read") == kept
    assert await store.write(ALICE, next_place, label="place.taken.again") == kept + 1
    await store.close()


async def test_a_write_whose_caller_is_cancelled_during_it_is_whole_and_holds_nothing(place: Place) -> None:
    loop = asyncio.get_running_loop()
    writes: list[asyncio.Task[None]] = []

    def probe(heard: str) -> None:
        if heard == "both.written:before":
            loop.call_soon_threadsafe(writes[0].cancel)

    def write_both(unit: Unit) -> None:
        unit.owners.next_place()
        unit.bots.put(rows.bot())

    store = await place.open(probe=probe)
    await make_alice(store)
    writes.append(asyncio.create_task(store.write(ALICE, write_both, label="both.written")))
    # SQLite may have committed by the time that the loop gets to cancel: then the caller has its answer.
    await asyncio.wait(writes)
    after = await store.write(ALICE, next_place, label="place.taken")
    bots = await store.read(ALICE, lambda unit: unit.bots.page(after=None, limit=9), label="bot.listed")
    assert (after, len(bots)) == (2, 1)
    if isinstance(store, PostgresStore):
        assert store.engine.pool.checkedout() == 0  # type: ignore[attr-defined]
    await store.close()


async def test_a_unit_reads_one_snapshot(place: Place, bare_store: SqliteStore | PostgresStore) -> None:
    await make_alice(bare_store)
    seen: list[int] = []

    async def read_twice() -> None:
        if isinstance(bare_store, SqliteStore):
            # The read has its snapshot; another connection commits; the read looks again.
            other = await place.open()
            loop = asyncio.get_running_loop()

            def work(unit: Unit) -> None:
                seen.append(place_of(unit))
                writing = asyncio.run_coroutine_threadsafe(other.write(ALICE, next_place, label="place"), loop)
                writing.result(timeout=30)
                seen.append(place_of(unit))

            await bare_store.read(ALICE, work, label="owner.read")
            await other.close()
        else:
            engine = bare_store.engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            async with engine.connect() as connection:
                question = text("SELECT place FROM owners WHERE owner_id = :owner")
                seen.append((await connection.execute(question, {"owner": ALICE})).scalar_one())
                await bare_store.write(ALICE, next_place, label="place.taken")
                seen.append((await connection.execute(question, {"owner": ALICE})).scalar_one())

    await read_twice()
    assert seen == [0, 0]
    assert await bare_store.read(ALICE, place_of, label="owner.read") == 1


async def test_a_closed_store_says_so(place: Place) -> None:
    store = await place.open()
    await store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.write(ALICE, next_place, label="place.taken")
