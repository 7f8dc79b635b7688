"""Where a word still stands in an installation: every file of its folder, and every row of its PostgreSQL database."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

_TABLES = text("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")


async def traces_of(word: str, *, folder: Path, database_url: str | None) -> list[str]:
    """The names of the files and tables that hold `word`, whatever its case, in the encodings that columns have."""
    found = await asyncio.to_thread(_files_with, word, folder)
    return found if database_url is None else [*found, *await _tables_with(word, database_url)]


def _files_with(word: str, folder: Path) -> list[str]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [path.name for path in files if word.lower().encode() in path.read_bytes().lower()]


async def _tables_with(word: str, database_url: str) -> list[str]:
    engine = create_async_engine(database_url)
    try:
        async with engine.connect() as connection:
            names = list((await connection.execute(_TABLES)).scalars())
            holding = []
            for name in names:
                rows = text(f'SELECT count(*) FROM "{name}" AS row WHERE row::text ILIKE :plain OR row::text LIKE :hex')
                words = {"plain": f"%{word}%", "hex": f"%{word.encode().hex()}%"}
                if (await connection.execute(rows, words)).scalar_one():
                    holding.append(name)
            return holding
    finally:
        await engine.dispose()
