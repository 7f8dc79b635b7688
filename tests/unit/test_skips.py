from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_IN_A_TEST = "import pytest\ndef test_one(): pytest.skip('no such thing here')\n"
_IN_A_MODULE = "import pytest\npytest.importorskip('no_such_module')\ndef test_one(): pass\n"


@pytest.mark.parametrize("source", [_IN_A_TEST, _IN_A_MODULE], ids=["test", "module"])
def test_a_skip_fails_in_ci_and_gives_its_reason(source: str, tmp_path: Path) -> None:
    done = _run(source, tmp_path, ci="true")
    assert done.returncode in {1, 2}
    assert "In CI every test must run" in done.stdout
    assert "no such" in done.stdout or "no_such" in done.stdout


def test_a_skip_is_allowed_outside_ci(tmp_path: Path) -> None:
    assert _run(_IN_A_TEST, tmp_path, ci="").returncode == 0


def _run(source: str, folder: Path, *, ci: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_skipping.py").write_text(source, encoding="utf-8")
    plugins = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder)]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, str(folder)],
        cwd=_ROOT,
        env={**os.environ, "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )
