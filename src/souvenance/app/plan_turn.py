"""From what was gathered to what is sent: the epoch, what fits, and the messages in their order (W7, C6, M12, K2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from souvenance.app.choose_model import context_of
from souvenance.app.gather_turn import Gathered, Sizes, gather, is_notebook
from souvenance.app.kit import Kit
from souvenance.app.lay_out import Layout, fixed_tokens, lay_out
from souvenance.app.open_turn import OpenedTurn
from souvenance.app.turn import TurnRequest
from souvenance.domain.budget import MESSAGE_OVERHEAD, reply_room
from souvenance.domain.deal import is_recent
from souvenance.domain.epoch import Epoch, EpochLine
from souvenance.domain.fit import Fitted, Item, Layer, fit
from souvenance.domain.ids import MemoryId, OwnerId
from souvenance.domain.memory import Memory
from souvenance.domain.memory_lines import Change, change_line, lines
from souvenance.domain.policy import Policy, circumstances, policy


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A turn ready to be asked: `layout` makes the request's bytes, the rest is what the last write needs."""

    opened: OpenedTurn
    policy: Policy
    gathered: Gathered
    shown: Shown
    fitted: Fitted
    layout: Layout


async def plan_turn(
    kit: Kit, owner_id: OwnerId, request: TurnRequest, opened: OpenedTurn, *, offer_tools: bool = True
) -> Plan:
    """Read what is needed and decide what is sent; PromptTooLarge when not even the newest message fits."""
    chosen = policy_of(opened, offer_tools=offer_tools)
    context = context_of(opened.model, kit.limits)
    room = context - reply_room(request.fields, context=context, limits=kit.limits)
    fixed = fixed_tokens(kit, request, opened, chosen)
    sizes = Sizes(context=context, room=room, fixed=fixed)
    gathered = await kit.store.read(
        owner_id, lambda unit: gather(unit, kit, opened, chosen, sizes), label="turn.gathered"
    )
    shown = _show(kit, opened, chosen, gathered)
    fitted = _fit(kit, opened, gathered, shown, sizes)
    return Plan(
        opened=opened,
        policy=chosen,
        gathered=gathered,
        shown=shown,
        fitted=fitted,
        layout=lay_out(kit, request, opened, chosen, gathered, shown, frozenset(item.item for item in fitted.kept)),
    )


def policy_of(opened: OpenedTurn, *, offer_tools: bool) -> Policy:
    can = offer_tools and opened.model is not None and opened.model.can_call_tools
    return policy(circumstances(opened.conversation, opened.bot, can_call_tools=can, plan_has_deeper=True))


def _show(kit: Kit, opened: OpenedTurn, chosen: Policy, gathered: Gathered) -> Shown:
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
    numbers, given, last = _number(chosen, gathered)
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


def _number(chosen: Policy, gathered: Gathered) -> tuple[dict[MemoryId, int], dict[MemoryId, int], int]:
    """Short ids for all that a model may change here: those given before, and new ones in the order of showing."""
    numbers, given, last = dict(gathered.numbers), {}, gathered.last_number
    if chosen.model_tools:
        for memory in (*gathered.memories, *(c.memory for c in gathered.changes if not c.gone)):
            if not memory.pinned and memory.memory_id not in numbers:
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


def _fit(kit: Kit, opened: OpenedTurn, gathered: Gathered, shown: Shown, sizes: Sizes) -> Fitted:
    """W7 over this prompt; an item is a memory's id, or a turn's position."""
    count, corrected = kit.tokenizer.count, gathered.calibration.corrected
    items = [
        Item(
            layer=Layer.PINNED if line.pinned else Layer.UNPINNED,
            item=line.memory_id,
            tokens=corrected(count(line.text) + 1),
            age=age,
        )
        for age, line in enumerate(shown.lines)
    ]
    items += [
        Item(
            layer=Layer.PINNED if entry.pinned else Layer.UNPINNED,
            item=entry.memory_id,
            tokens=corrected(count(f"- {entry.key}: {entry.text}\n")),
            age=-entry.changed,
        )
        for entry in shown.entries
    ]
    items += [
        Item(layer=Layer.UNPINNED, item=f"since {memory_id}", tokens=corrected(count(text) + 1), age=-1 - n)
        for n, (memory_id, text) in enumerate(shown.since)
    ]
    newest = opened.turn.position
    turns: dict[int, int] = {}
    for message in gathered.messages:
        if message.position < newest:
            turns[message.position] = turns.get(message.position, 0) + message.tokens + MESSAGE_OVERHEAD
    items += [
        Item(layer=Layer.WINDOW, item=str(position), tokens=corrected(tokens), age=newest - position)
        for position, tokens in turns.items()
    ]
    keep = (str(max(turns)),) if turns else ()
    return fit(items, fixed=corrected(sizes.fixed), room=sizes.room, context=sizes.context, keep=keep)
