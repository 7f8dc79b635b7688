"""How memories stand in a prompt: lines in a block that holds still, and a list of what changed since (C6, M12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from souvenance.domain.block import escape, escape_key, escape_start
from souvenance.domain.epoch import Epoch, EpochLine
from souvenance.domain.ids import MemoryId
from souvenance.domain.memory import Memory, MemoryState
from souvenance.domain.prompt import Run


def line(memory: Memory, *, short: int = 0, recent: bool = False) -> str:
    """One memory as one line; `short` is the number a model may call it by, 0 for none."""
    number = f"[{short}] " if short else ""
    mark = "(recent) " if recent else ""
    about = f"about {escape_key(memory.subject)}: " if memory.subject else ""
    key = f"{escape_key(memory.key)}: " if memory.key is not None else ""
    said = key + escape(memory.text)
    return f"- {number}{mark}{about}{said if about else escape_start(said)}"


def told(memory: Memory) -> str:
    """One memory as a person is told of it: its words just as they are."""
    about = f"about {memory.subject}: " if memory.subject else ""
    return about + (memory.text if memory.key is None else f"{memory.key}: {memory.text}")


def lines(
    memories: Sequence[Memory], *, shorts: Mapping[MemoryId, int], recent: frozenset[MemoryId]
) -> tuple[EpochLine, ...]:
    """The block's lines: pinned ones first, in the order given, then the others, newest last: what is new is added at
    the end, so that the next epoch's block begins as this one does (C6).
    """
    unpinned = sorted((m for m in memories if not m.pinned), key=lambda memory: memory.updated_place)
    ordered = [m for m in memories if m.pinned] + unpinned
    return tuple(
        EpochLine(
            memory_id=m.memory_id,
            version=m.version,
            pinned=m.pinned,
            text=line(m, short=0 if m.pinned else shorts.get(m.memory_id, 0), recent=m.memory_id in recent),
            short=0 if m.pinned else shorts.get(m.memory_id, 0),
        )
        for m in ordered
    )


def block_runs(shown: Sequence[EpochLine]) -> list[Run]:
    """The two blocks, pinned and others, as runs; nothing for no lines."""
    runs: list[Run] = []
    for tag, group in (
        ("pinned_memories", [s for s in shown if s.pinned]),
        ("memories", [s for s in shown if not s.pinned]),
    ):
        if group:
            runs.append(Run(text=f"\n<{tag}>"))
            runs += [_line_run(one.text, one.memory_id) for one in group]
            runs.append(Run(text=f"\n</{tag}>"))
    return runs


@lru_cache(maxsize=4_096)
def _line_run(text: str, memory_id: MemoryId) -> Run:
    # Kept, with what it is written as: an epoch begins every few turns, and says nearly what the one before it said.
    # A line begins with its line break: half as many parts to keep of every prompt.
    return Run(text=f"\n{text}", memory_id=memory_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One memory that is no longer as the block says: `memory` as it is now, `gone` when it must not be used."""

    memory: Memory
    gone: bool
    new: bool


def changes(epoch: Epoch, changed: Sequence[Memory]) -> tuple[Change, ...]:
    """What the block no longer says rightly, in the order in which it changed.

    A memory that came and went since the epoch began was never shown, so it is not named.
    """
    shown = {one.memory_id: one for one in epoch.lines}
    found: list[Change] = []
    for memory in changed:
        before = shown.get(memory.memory_id)
        gone = memory.state is not MemoryState.LIVE or memory.archived
        if gone and before is None:
            continue
        if before is None or gone or before.version != memory.version:
            found.append(Change(memory=memory, gone=gone, new=before is None))
    return tuple(found)


def change_line(change: Change, *, short: int, shown_as: EpochLine | None) -> str:
    """One line of the "since then" list; what is gone is named by its number, or by its words in the block."""
    if not change.gone:
        return line(change.memory, short=short)
    if short:
        return f"- [{short}] no longer holds"
    return f"- no longer holds: {shown_as.text[2:]}" if shown_as is not None else ""
