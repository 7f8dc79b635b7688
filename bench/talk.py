"""What people really write: turns of the demo's invented life, or of a file of long conversations."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.world import Said
from demo.life import read_life
from souvenance.domain.bot import Preset


def endless(data: Path | None) -> Iterator[Said]:
    """Turn after turn of this file, or of the demo's life; from the first one again after the last."""
    said = _of_demo() if data is None else _of_file(data)
    return itertools.cycle(said)


def _of_demo() -> list[Said]:
    talks = [talk for talk in read_life().talks if talk.preset is Preset.COMPANION]
    return [Said(user=one.said, reply=one.reply) for talk in talks for one in talk.exchanges if one.reply]


def _of_file(data: Path) -> list[Said]:
    """A list of conversations, each with lists named `session_1`, `session_2` ... of lines with a `text`: the first of
    two neighbours is the user's message, the second its reply.
    """
    told: Sequence[dict[str, Any]] = json.loads(data.read_text(encoding="utf-8"))
    texts = [
        line["text"]
        for one in told
        for name, session in one["conversation"].items()
        if name.startswith("session_") and isinstance(session, list)
        for line in session
    ]
    return [Said(user=user, reply=reply) for user, reply in zip(texts[::2], texts[1::2], strict=False)]
