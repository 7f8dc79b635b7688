"""Counting tokens before a model reports them."""

from __future__ import annotations

from typing import Protocol


class Tokenizer(Protocol):
    """Estimates how many tokens a text takes (C5): never a model call, never the network."""

    def count(self, text: str) -> int:
        """Tokens in `text`; 0 for the empty text."""
        ...
