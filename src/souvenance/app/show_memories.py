"""The memory part of a prompt: the block that holds still, the list of what changed since, and their short ids (C6)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from souvenance.app.gather_turn import Gathered, is_notebook, scopes_to_change
from souvenance.app.kit import Kit
from souvenance.app.open_turn import OpenedTurn
from souvenance.domain.deal import is_recent
from souvenance.domain.epoch import Epoch, EpochLine
from souvenance.domain.ids import MemoryId
from souvenance.domain.memory import Memory
from souvenance.domain.memory_lines import Change, change_line, lines
from souvenance.domain.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The memory part of a prompt: the block's lines, the "since then" list, and the short ids they carry.

    `by_number` is what a model may name in this prompt; `given` are the numbers that are new with it.
    """

    epoch: Epoch | None
    new_epoch: bool
    lines: tuple[EpochLine, ...]
    entries: tuple[Memory, ...]
    since: tuple[tuple[MemoryId, str], ...]
    by_number: Mapping[int, MemoryId]
    given: Mapping[MemoryId, int]
    last_number: int


def show_memories(kit: Kit, opened: OpenedTurn, chosen: Policy, gathered: Gathered) -> Shown:
    """What is shown of what was gathered; a notebook shows all its entries, always as they are (K2)."""
    if is_notebook(opened):
        return Shown(
            epoch=None,
            new_epoch=False,
            lines=(),
            entries=gathered.memories,
            since=(),
            by_number={},
            given={},
            last_number=gathered.last_number,
        )
    numbers, given, last = _number(opened, chosen, gathered)
    epoch = gathered.epoch or _begin(kit, opened, gathered, numbers)
    since = _since(gathered, epoch, numbers)
    named = {line.short: line.memory_id for line in epoch.lines if line.short}
    named |= {
        numbers[c.memory.memory_id]: c.memory.memory_id for c in gathered.changes if c.memory.memory_id in numbers
    }
    return Shown(
        epoch=epoch,
        new_epoch=gathered.epoch is None,
        lines=epoch.lines,
        entries=(),
        since=since,
        by_number=named,
        given=given,
        last_number=last,
    )


def only_kept(shown: Shown, kept: Collection[str]) -> Shown:
    """What is left once something gave way (W7): what does not stand in the prompt cannot be named by its number."""
    gone = {line.memory_id for line in shown.lines if line.memory_id not in kept}
    gone |= {memory_id for memory_id, _ in shown.since if f"since {memory_id}" not in kept}
    gone -= {memory_id for memory_id, _ in shown.since if f"since {memory_id}" in kept}
    named = {number: memory_id for number, memory_id in shown.by_number.items() if memory_id not in gone}
    return replace(shown, by_number=named)


def _number(
    opened: OpenedTurn, chosen: Policy, gathered: Gathered
) -> tuple[dict[MemoryId, int], dict[MemoryId, int], int]:
    """Short ids for all that a model may change here: those given before, and new ones in the order of showing."""
    written = scopes_to_change(chosen, opened)
    changed = [change.memory for change in gathered.changes]
    there = [memory for memory in (*gathered.memories, *changed) if memory.scope in written]
    numbers = {m.memory_id: gathered.numbers[m.memory_id] for m in there if m.memory_id in gathered.numbers}
    gone = {change.memory.memory_id for change in gathered.changes if change.gone}
    given, last = {}, gathered.last_number
    if chosen.model_tools:
        for memory in there:
            if not memory.pinned and memory.memory_id not in numbers and memory.memory_id not in gone:
                last += 1
                numbers[memory.memory_id] = given[memory.memory_id] = last
    return numbers, given, last


def _begin(kit: Kit, opened: OpenedTurn, gathered: Gathered, numbers: Mapping[MemoryId, int]) -> Epoch:
    now = kit.clock.now()
    recent = frozenset(m.memory_id for m in gathered.memories if is_recent(m, now, kit.limits))
    return Epoch(
        conversation_id=opened.conversation.conversation_id,
        bot_id=None if opened.bot is None else opened.bot.bot_id,
        number=gathered.number + 1,
        place=gathered.place,
        basis=gathered.basis,
        lines=lines(gathered.memories, shorts=numbers, recent=recent),
    )


def _since(gathered: Gathered, epoch: Epoch, numbers: Mapping[MemoryId, int]) -> tuple[tuple[MemoryId, str], ...]:
    shown = {line.memory_id: line for line in epoch.lines}

    def written(change: Change) -> str:
        memory_id = change.memory.memory_id
        short = 0 if change.memory.pinned and not change.gone else numbers.get(memory_id, 0)
        return change_line(change, short=short, shown_as=shown.get(memory_id))

    return tuple((change.memory.memory_id, written(change)) for change in gathered.changes)
