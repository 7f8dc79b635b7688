"""Runs the tests with their full counts and keeps the closing lines, with date and commit, in docs/proofs.md."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_PAGE = _ROOT / "docs" / "proofs.md"
# Hours are fine here, for ever is not.
_PYTEST = ["-m", "pytest", "-n", "2", "--hypothesis-profile=prove", "-o", "timeout=7200"]


def main(arguments: list[str]) -> int:
    commit = _commit()
    lines, status = _run_in_full(arguments)
    if status:
        print(f"\nNot proved: {_PAGE.relative_to(_ROOT)} stays as it was.", file=sys.stderr)
        return status
    _PAGE.write_text(_page(commit, _closing(lines)), encoding="utf-8")
    print(f"\nWritten to {_PAGE.relative_to(_ROOT)}.")
    return 0


def _run_in_full(arguments: list[str]) -> tuple[list[str], int]:
    """Run pytest, showing its output as it comes; return that output and the exit status."""
    lines: list[str] = []
    with subprocess.Popen(
        [sys.executable, *_PYTEST, *arguments],
        cwd=_ROOT,
        env={**os.environ, "CI": "true", "SOUVENANCE_PROVE": "1"},
        stdout=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout is not None
        for line in run.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip())
    return lines, run.returncode


def _closing(lines: list[str]) -> list[str]:
    """From the heading of the proofs to the end; without one, the last line alone."""
    begins = [number for number, line in enumerate(lines) if line.strip("= ") == "proofs"]
    return lines[begins[-1] :] if begins else lines[-1:]


def _commit() -> str:
    head = _git("rev-parse", "--short=12", "HEAD")
    return f"{head} with uncommitted changes" if _git("status", "--porcelain") else head


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=_ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _page(commit: str, closing: list[str]) -> str:
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    machine = f"Python {platform.python_version()} on {platform.system()}, {os.cpu_count()} cores"
    return "\n".join(
        [
            "# Proofs",
            "",
            "The closing lines of the last `make prove` (full counts of kills, state machines and fuzzes).",
            "This page is written by that command.",
            "",
            f"- Date: {when}",
            f"- Commit: {commit}",
            f"- Machine: {machine}",
            "",
            "```text",
            *closing,
            "```",
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
