"""An empty SQLite store at the newest revision, made once a process and copied for each test that needs one."""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from souvenance.storage import migrate
from souvenance.storage.sqlite import FILE


def migrated_folder(folder: Path) -> Path:
    """`folder`, made, with a store in it as `SqliteStore.open` leaves a new one."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copyfile(_template(), folder / FILE)
    (folder / FILE).chmod(0o600)
    return folder


@cache
def _template() -> Path:
    path = Path(tempfile.mkdtemp(prefix="souvenance-template-")) / FILE
    # In a thread of its own, since the caller may stand in a running loop.
    with ThreadPoolExecutor(1) as threads:
        threads.submit(migrate.upgrade, str(path.parent)).result()
    return path
