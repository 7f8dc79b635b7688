"""All that an installation has stored, as bytes: what stands in it can be searched for."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sqlalchemy import make_url, select
from sqlalchemy.ext.asyncio import create_async_engine

from souvenance.storage.schema import metadata
from tests.acceptance.serving import Installation


async def everything_stored(installation: Installation) -> bytes:
    """Every file of its folder, the log too, and every table of its database elsewhere."""
    files = await asyncio.to_thread(_files, installation.folder)
    return files if installation.database_url is None else files + await _tables(installation.database_url)


def _files(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


async def _tables(url: str) -> bytes:
    engine = create_async_engine(make_url(url).set(drivername="postgresql+asyncpg"))
    try:
        async with engine.connect() as connection:
            rows = [row for table in metadata.sorted_tables for row in await connection.execute(select(table))]
    finally:
        await engine.dispose()
    return b"\n".join(value if isinstance(value, bytes) else str(value).encode() for row in rows for value in row)
