"""Bring a database to the schema's newest revision, once, whoever else starts at the same time."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError

from souvenance.errors import StoreTooNew, StoreUnavailable
from souvenance.storage import faults
from souvenance.storage.planner import plant_figures

if TYPE_CHECKING:
    # Asked for on PostgreSQL only: it brings all of SQLAlchemy's object mapper with it.
    from sqlalchemy.ext.asyncio import AsyncEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrations:
    """A folder that Alembic reads, and the revisions in it, oldest first."""

    folder: Path
    revisions: tuple[str, ...]

    @property
    def newest(self) -> str:
        return self.revisions[-1]


CURRENT = Migrations(folder=Path(__file__).parent / "migrations", revisions=("0001", "0002"))
"""Named here too, so that opening a store which is up to date need not import Alembic."""


def upgrade(place: str | Path) -> None:
    """Bring the database at a URL, or the SQLite file at a path, to the newest revision."""
    if "://" in str(place):
        asyncio.run(_upgrade_postgres(str(place)))
    else:
        from souvenance.storage.sqlite import SqliteStore

        async def open_and_close() -> None:
            store = await SqliteStore.open(place)
            await store.close()

        asyncio.run(open_and_close())


async def _upgrade_postgres(url: str) -> None:
    from souvenance.storage.postgres import make_engine

    engine = make_engine(url)
    try:
        await prepare_postgres(engine, CURRENT)
    finally:
        await engine.dispose()


def prepare_sqlite(engine: Engine, path: Path, migrations: Migrations) -> None:
    """Migrate the file if it is older, after a backup beside it; raises StoreTooNew when it is newer."""
    tries = 0
    while True:
        tries += 1
        try:
            with engine.connect() as connection:
                if not _is_current(connection, str(path), migrations):
                    with connection.begin():
                        connection.exec_driver_sql("BEGIN IMMEDIATE")
                        _migrate_file(connection, path, migrations)
                return
        except (DBAPIError, sqlite3.Error) as error:
            if faults.of_sqlite(error) is not faults.Fault.AGAIN or tries == faults.TRIES:
                raise
        time.sleep(faults.pause(tries))


async def prepare_postgres(engine: AsyncEngine, migrations: Migrations) -> None:
    """Migrate the database if it is empty or older; raises StoreTooNew when it is newer."""
    place = engine.url.render_as_string(hide_password=True)
    tries = 0
    while True:
        tries += 1
        try:
            async with engine.connect() as connection:
                if await connection.run_sync(_is_current, place, migrations):
                    return
            async with engine.begin() as connection:
                await connection.run_sync(_migrate_database, place, migrations)
            return
        except (IntegrityError, ProgrammingError):
            # Two processes made the version table at once: the other one has it now.
            if tries == faults.TRIES:
                raise
        await asyncio.sleep(faults.pause(tries))


def revision_of(connection: Connection) -> str | None:
    """The revision a database stands at, None when there is nothing in it yet."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return revision


def _is_current(connection: Connection, place: str, migrations: Migrations) -> bool:
    with connection.begin():
        found = revision_of(connection)
    return not _is_older(found, place, migrations)


def _is_older(found: str | None, place: str, migrations: Migrations) -> bool:
    if found is not None and found not in migrations.revisions:
        raise StoreTooNew(place, found=found, known=migrations.newest)
    return found != migrations.newest


def _migrate_file(connection: Connection, path: Path, migrations: Migrations) -> None:
    found = revision_of(connection)
    if _is_older(found, str(path), migrations):
        if found is not None:
            back_up(path, found)
        _run(connection, migrations)
        plant_figures(connection)


def _migrate_database(connection: Connection, place: str, migrations: Migrations) -> None:
    connection.execute(text("SET LOCAL statement_timeout = 0"))
    connection.execute(
        text(
            "CREATE TABLE IF NOT EXISTS alembic_version "
            "(version_num VARCHAR(32) NOT NULL CONSTRAINT alembic_version_pkc PRIMARY KEY)"
        )
    )
    connection.execute(text("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE"))
    if _is_older(revision_of(connection), place, migrations):
        _run(connection, migrations)


def _run(connection: Connection, migrations: Migrations) -> None:
    """Run Alembic inside the transaction that is open: all of it takes effect, or nothing."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations.folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, migrations.newest)
    except DBAPIError as error:
        raise StoreUnavailable(f"it could not be migrated to {migrations.newest}: {faults.reason(error)}") from error


def back_up(path: Path, revision: str) -> Path:
    """Copy a SQLite file as its last commit left it to `<file>.backup-<revision>-<time>`, safe from a power cut."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    target = path.with_name(f"{path.name}.backup-{revision}-{stamp}")
    unfinished = target.with_name(target.name + ".part")
    os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(unfinished)) as copy:
        source.backup(copy)
    _sync(unfinished)
    unfinished.rename(target)
    _sync(target.parent)
    return target


def backups_of(path: Path) -> list[Path]:
    """The copies that `back_up` made beside a SQLite file, unfinished ones too."""
    return sorted(path.parent.glob(f"{escape(path.name)}.backup-*"))


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
