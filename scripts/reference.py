"""Writes the reference pages that are made from the code: the table of limits."""

from __future__ import annotations

import sys
from pathlib import Path

from souvenance.domain.limits import Figure, Limits, figures

LIMITS_PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "limits.md"


def limits_page() -> str:
    """The page of limits; a test compares it with the one in docs/."""
    return "\n".join(
        [
            "# Limits",
            "",
            "Every default figure, made from `souvenance.domain.limits` by `make docs`.",
            "",
            "| limit | default | unit | what it bounds | rule |",
            "| --- | ---: | --- | --- | --- |",
            *map(_row, figures(Limits())),
            "",
        ]
    )


def _row(figure: Figure) -> str:
    value = f"{figure.value:,}" if isinstance(figure.value, int) else f"{figure.value:g}"
    return f"| `{figure.name}` | {value} | {figure.unit} | {figure.says} | {figure.rule} |"


def main() -> int:
    LIMITS_PAGE.parent.mkdir(parents=True, exist_ok=True)
    LIMITS_PAGE.write_text(limits_page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
