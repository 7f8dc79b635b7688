"""Counting tokens as the newest OpenAI models cut text; for other models an estimate (C5)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

ENCODING = "o200k_base"
# One core needs 0.4 s for this many characters at worst; nothing that is sent to a model is longer.
LONGEST_COUNTED = 1_000_000
# What a turn sends is nearly all what the one before it sent: lines of memories and messages, hundreds of them.
KEPT_COUNTS = 4_096
LONGEST_KEPT = 2_000


class O200k:
    """A `Tokenizer` that knows the o200k vocabulary by heart: no file, no network.

    Special tokens that stand in a text (`<|endoftext|>`) count as the ordinary text they are. Past LONGEST_COUNTED
    characters the count is extrapolated from those. A lone surrogate raises UnicodeEncodeError: the doors refuse it.
    The first count of a process loads the vocabulary (0.9 s and 60 MB, holding the interpreter); `load` does it early.
    """

    def count(self, text: str) -> int:
        if not text:
            return 0
        if len(text) <= LONGEST_KEPT:
            return _known(text)
        counted = text[:LONGEST_COUNTED]
        tokens = _counted(counted)
        return tokens if len(counted) == len(text) else -(-tokens * len(text) // len(counted))

    def load(self) -> None:
        """Make the first count as quick as the others."""
        self.count("a")


def _counted(text: str) -> int:
    return _counter()([text], ENCODING, 1)[0]


_known = functools.lru_cache(maxsize=KEPT_COUNTS)(_counted)


@functools.cache
def _counter() -> Callable[[Sequence[str], str, int], list[int]]:
    import toktok  # type: ignore[import-untyped]  # a compiled module without annotations

    batch_count: Callable[[Sequence[str], str, int], list[int]] = toktok.batch_count
    return batch_count
