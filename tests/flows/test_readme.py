"""What the README shows is what happens (HOUSE: README snippets run as tests)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

_README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def _block(name: str) -> str:
    found = re.search(rf"<!-- {name} -->\n```\w+\n(.*?)```\n<!-- /{name} -->", _README, re.DOTALL)
    assert found is not None, f"the README has no block {name}"
    return found.group(1)


def test_the_first_memory_prints_what_the_readme_says(tmp_path: Path) -> None:
    """With no model at all, from an empty folder, in a process of its own."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    environment = {**kept, "HOME": str(tmp_path), "PYTHONUTF8": "1", "SOUVENANCE_DETECT_LOCAL": "false"}
    ran = subprocess.run(
        [sys.executable, "-c", _block("first-memory")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == _block("first-memory-output").strip()


def test_every_link_of_the_readme_leads_somewhere() -> None:
    root = Path(__file__).resolve().parents[2]
    links = re.findall(r"\]\((?!https?:)([^)#]+)", _README)
    assert links
    assert [link for link in links if not (root / link).exists()] == []
