"""One command of the command line, run in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Souvenance = Callable[..., "Ran"]


class Ran:
    """What one command left behind."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def first(self) -> str:
        """The first word of the output: an id."""
        return self.out.split("\t")[0]
