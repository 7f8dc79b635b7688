"""What commands print: data on stdout, words about it on stderr; tables only where a person looks at them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence

# What a terminal would obey instead of showing: escape sequences begin with one of these.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def visible(text: str) -> str:
    """The text with every control character but line breaks and tabs made a visible mark."""
    return _CONTROLS.sub("\ufffd", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    return visible(" ".join(text.split()))


def is_terminal() -> bool:
    return sys.stdout.isatty()


def say(text: str) -> None:
    """A word to the person, on stderr."""
    sys.stderr.write(f"{visible(text)}\n")


def line(text: str) -> None:
    """One line of data."""
    sys.stdout.write(f"{visible(text)}\n")


def json_line(value: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on a terminal; elsewhere a line for each row with tabs between its cells."""
    if not is_terminal():
        for row in rows:
            sys.stdout.write("\t".join(map(one_line, row)) + "\n")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        # Text, not str: what was remembered is no markup.
        drawn.add_row(*(Text(one_line(cell)) for cell in row))
    Console().print(drawn)
