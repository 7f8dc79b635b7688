"""A process of its own that takes places in an owner's order and prints them: `<folder or URL> <count>`."""

from __future__ import annotations

import asyncio
import sys

from souvenance.storage.postgres import PostgresStore
from souvenance.storage.sqlite import SqliteStore
from tests.conformance.rows import ALICE


async def main(where: str, count: int) -> None:
    store = await (PostgresStore.open(where) if "://" in where else SqliteStore.open(where))
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(count):
        print(await store.write(ALICE, lambda unit: unit.owners.next_place(), label="place.taken"), flush=True)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
