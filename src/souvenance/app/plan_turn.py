"""From what was gathered to what is sent: the epoch, what fits, and the messages in their order (W7, C6, M12, K2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from souvenance.app.choose_model import context_of
from souvenance.app.gather_turn import Gathered, Sizes, gather, is_notebook, scopes_read
from souvenance.app.kit import Kit
from souvenance.app.lay_out import Draft, Layout, fixed_tokens, lay_out
from souvenance.app.open_turn import OpenedTurn
from souvenance.app.organisation_memory import read_organisation
from souvenance.app.show_memories import Shown, only_kept, show_memories
from souvenance.app.stand_in import see
from souvenance.app.turn import TurnRequest
from souvenance.domain.basis import scope_words
from souvenance.domain.budget import MESSAGE_OVERHEAD, reply_room
from souvenance.domain.fit import Fitted, Item, Layer, fit
from souvenance.domain.ids import OwnerId
from souvenance.domain.limits import Limits
from souvenance.domain.policy import Policy, circumstances, policy
from souvenance.ports.store import Unit

# Named once: Python 3.11 looks a member up by a call, and a prompt has hundreds of items.
_PINNED, _UNPINNED, _WINDOW = Layer.PINNED, Layer.UNPINNED, Layer.WINDOW


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A turn ready to be asked: `layout` makes the request's bytes, the rest is what the last write needs.

    `scopes_seen` are the epochs of the scopes that were read, as they stood; `gathered.basis` has those that they will
    have once what this answer stands in for is undone.
    """

    opened: OpenedTurn
    policy: Policy
    gathered: Gathered
    shown: Shown
    fitted: Fitted
    layout: Layout
    scopes_seen: Mapping[str, str]


async def plan_turn(
    kit: Kit, owner_id: OwnerId, request: TurnRequest, opened: OpenedTurn, *, offer_tools: bool = True
) -> Plan:
    """Read what is needed and decide what is sent; PromptTooLarge when not even the newest message fits."""
    chosen = policy_of(kit, opened, offer_tools=offer_tools)
    sizes = sizes_of(kit, request, opened, chosen)
    organisation = await read_organisation(kit, chosen, opened)

    async def read(*, new_epoch: bool) -> tuple[Gathered, Shown]:
        def work(unit: Unit) -> Gathered:
            place = None if before is None else before.place
            return gather(unit, kit, opened, chosen, sizes, organisation=organisation, place=place, new_epoch=new_epoch)

        gathered = await see(kit, owner_id, opened, work, label="turn.gathered")
        return gathered, show_memories(kit, opened, chosen, gathered)

    before = await _before_taking_back(kit, owner_id, opened, chosen)
    gathered, shown = await read(new_epoch=False)
    if sum(kit.tokenizer.count(text) for _, text in shown.since) > kit.limits.since_then_tokens:
        gathered, shown = await read(new_epoch=True)
    fitted = _fit(kit, opened, gathered, shown, sizes)
    kept = frozenset(item.item for item in fitted.kept)
    shown = only_kept(shown, kept)
    draft = Draft(
        opened=opened,
        policy=chosen,
        messages=gathered.window.messages,
        summary=gathered.window.summary,
        shown=shown,
        kept=kept,
    )
    return Plan(
        opened=opened,
        policy=chosen,
        gathered=gathered,
        shown=shown,
        fitted=fitted,
        layout=lay_out(kit, request, draft),
        scopes_seen=gathered.basis if before is None else before.scopes,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Before:
    """The scopes' epochs, and the owner's place: what others write while a reply is rehearsed comes after this one."""

    scopes: Mapping[str, str]
    place: int


async def _before_taking_back(kit: Kit, owner_id: OwnerId, opened: OpenedTurn, chosen: Policy) -> _Before | None:
    """Where things stood before anything is taken back for this attempt; None for a first one, which takes nothing."""
    if opened.turn.attempt == 1:
        return None
    scopes = scopes_read(chosen, opened)

    def work(unit: Unit) -> _Before:
        epochs = {scope.key: state.epoch for scope, state in unit.scopes.read(scopes).items()}
        return _Before(scopes=scope_words(epochs), place=unit.owners.get().place)

    return await kit.store.read(owner_id, work, label="turn.scopes_read")


def sizes_of(kit: Kit, request: TurnRequest, opened: OpenedTurn, chosen: Policy) -> Sizes:
    context = context_of(opened.model, kit.limits)
    room = context - reply_room(request.fields, context=context, limits=kit.limits)
    return Sizes(context=context, room=room, fixed=fixed_tokens(kit, request, opened, chosen))


def policy_of(kit: Kit, opened: OpenedTurn, *, offer_tools: bool) -> Policy:
    can = offer_tools and opened.model is not None and opened.model.can_call_tools
    return policy(circumstances(opened.conversation, opened.bot, can_call_tools=can, plan_has_deeper=kit.deeper_memory))


def _fit(kit: Kit, opened: OpenedTurn, gathered: Gathered, shown: Shown, sizes: Sizes) -> Fitted:
    """W7 over this prompt; an item is a memory's id, or a turn's position."""
    corrected = gathered.window.calibration.corrector()
    newest = opened.turn.position
    turns: dict[int, int] = {}
    for message in gathered.window.messages:
        if message.position < newest:
            turns[message.position] = turns.get(message.position, 0) + message.tokens + MESSAGE_OVERHEAD
    items = _memory_items(kit, shown, corrected)
    items += [
        Item(layer=one.layer, item=one.item, tokens=corrected(kit.tokenizer.count(one.text)), age=-place)
        for place, one in enumerate(gathered.window.summary)
    ]
    items += [
        Item(layer=_WINDOW, item=str(position), tokens=corrected(tokens), age=newest - position)
        for position, tokens in turns.items()
    ]
    keep = (str(max(turns)),) if turns else ()
    step = 1 if is_notebook(opened) else _step(items, kit.limits)
    return fit(items, fixed=corrected(sizes.fixed), room=sizes.room, context=sizes.context, keep=keep, step=step)


def _step(items: Sequence[Item], limits: Limits) -> int:
    """How many unpinned memories give way at once: few of few ones."""
    return max(1, min(limits.give_way_memories, sum(item.layer is _UNPINNED for item in items) // 4))


def _memory_items(kit: Kit, shown: Shown, corrected: Callable[[int], int]) -> list[Item]:
    count = kit.tokenizer.count
    items = [
        Item(
            layer=_PINNED if line.pinned else _UNPINNED,
            item=line.memory_id,
            tokens=corrected(count(line.text) + 1),
            age=-place,
        )
        for place, line in enumerate(shown.lines)
    ]
    items += [
        Item(
            layer=_PINNED if entry.pinned else _UNPINNED,
            item=entry.memory_id,
            tokens=corrected(count(f"- {entry.key}: {entry.text}\n")),
            age=-entry.changed,
        )
        for entry in shown.entries
    ]
    items += [
        Item(layer=_UNPINNED, item=f"since {memory_id}", tokens=corrected(count(text) + 1), age=-1 - n)
        for n, (memory_id, text) in enumerate(shown.since)
    ]
    return items
