"""The one read of a turn: window, memories, what changed, and what was learnt, in one hop (HOUSE, journey 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from souvenance.app.gather_summary import gather_summary, live_nodes, words_of
from souvenance.app.kit import Kit
from souvenance.app.open_turn import OpenedTurn
from souvenance.app.organisation_memory import NOTHING, OrganisationMemory
from souvenance.app.summary_block import Section
from souvenance.app.turn_sizes import turn_sizes
from souvenance.domain.basis import basis, holds
from souvenance.domain.bot import Preset
from souvenance.domain.conversation import Conversation, WindowMessage
from souvenance.domain.cost import Calibration
from souvenance.domain.deal import deal
from souvenance.domain.epoch import Epoch
from souvenance.domain.ids import MemoryId
from souvenance.domain.limits import Level, Limits
from souvenance.domain.memory import Memory, Scope, ScopeKind
from souvenance.domain.memory_lines import Change, changes
from souvenance.domain.policy import Policy, read_with
from souvenance.domain.standing import summarised_to
from souvenance.domain.window import Bounds, WindowMove, advance, bounds, room_beside
from souvenance.errors import TurnSuperseded
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What is known of a prompt's size before the read: `fixed` are the tokens always sent, `room` what there is."""

    context: int
    room: int
    fixed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What is sent of the conversation itself: `messages` word for word, `summary` for those before. `bounds` are W1's
    for this `level` and model.
    """

    messages: tuple[WindowMessage, ...]
    summary: tuple[Section, ...]
    calibration: Calibration
    level: Level
    bounds: Bounds
    move: WindowMove


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What a prompt is made of. `epoch` is the one that holds, None when a new one begins with `memories`; `number` is
    the last epoch's. `numbers` are the short ids given so far to the memories at hand; `of_others` are those of these
    that belong to an organisation.
    """

    window: Window
    basis: Mapping[str, str]
    epoch: Epoch | None
    number: int
    place: int
    memories: tuple[Memory, ...]
    changes: tuple[Change, ...]
    numbers: Mapping[MemoryId, int]
    last_number: int
    of_others: frozenset[MemoryId]


def scopes_read(policy: Policy, opened: OpenedTurn) -> tuple[Scope, ...]:
    """The owner's scopes that this turn reads, in the order in which they are dealt: the speaker's, the account's, in a
    group the other members' (M6, M7).

    Organisation memory belongs to another owner and is read apart.
    """
    others = [bot for bot in opened.members if opened.bot is None or bot.bot_id != opened.bot.bot_id]
    return (*_own_scopes(policy, opened), *(Scope.of_bot(bot.bot_id) for bot in read_with(policy, others)))


def scopes_to_change(policy: Policy, opened: OpenedTurn) -> frozenset[Scope]:
    """Where the speaker's model may change what is there: only where it writes (E1). What else it reads, such as a
    companion the account's memories and those of other members, has no number to be changed by (V1, M7).
    """
    return frozenset(scope for scope in _own_scopes(policy, opened) if scope.kind in policy.write_scopes)


def _own_scopes(policy: Policy, opened: OpenedTurn) -> tuple[Scope, ...]:
    bot_id = "" if opened.bot is None else opened.bot.bot_id
    refs = {ScopeKind.ACCOUNT: "", ScopeKind.BOT: bot_id, ScopeKind.CONVERSATION: opened.conversation.conversation_id}
    return tuple(Scope(kind=kind, ref=refs[kind]) for kind in policy.reads if kind in refs)


def gather(
    unit: Unit,
    kit: Kit,
    opened: OpenedTurn,
    policy: Policy,
    sizes: Sizes,
    *,
    organisation: OrganisationMemory = NOTHING,
    place: int | None = None,
    new_epoch: bool = False,
) -> Gathered:
    """Everything that `plan_turn` needs of the store; with `new_epoch` the last one does not hold any more. A new one
    begins at `place`, None: at the owner's present one, which in a rehearsal counts what is only rehearsed.
    """
    conversation, limits = opened.conversation, kit.limits
    seen = _window(unit, kit, opened, policy, sizes)
    scopes = scopes_read(policy, opened)
    now = basis(
        window_start=seen.move.start,
        level=seen.level,
        policy=_policy_words(policy),
        speaker="" if opened.bot is None else f"{opened.bot.bot_id}.{opened.bot.version}",
        scopes={scope.key: state.epoch for scope, state in unit.scopes.read(scopes).items()},
        summary=words_of(seen.summary),
    )
    now |= organisation.basis
    bot_id = None if opened.bot is None else opened.bot.bot_id
    last = unit.epochs.get(conversation.conversation_id, bot_id)
    changed = _changes(unit, last, scopes, opened, limits) if holds(last, now) and not new_epoch else None
    memories = (*organisation.pinned, *_memories(unit, scopes, opened, limits)) if changed is None else ()
    shown = [m.memory_id for m in memories] + [c.memory.memory_id for c in changed or ()]
    return Gathered(
        window=seen,
        basis=now,
        epoch=None if changed is None else last,
        number=0 if last is None else last.number,
        place=_place(unit, place) if changed is None or last is None else last.place,
        memories=memories,
        changes=changed or (),
        numbers=unit.short_ids.of(conversation.conversation_id, shown) if policy.model_tools else {},
        last_number=unit.short_ids.last(conversation.conversation_id) if policy.model_tools else 0,
        of_others=frozenset(memory.memory_id for memory in organisation.pinned),
    )


def _window(unit: Unit, kit: Kit, opened: OpenedTurn, policy: Policy, sizes: Sizes) -> Window:
    conversation, limits = opened.conversation, kit.limits
    messages = unit.messages.window(conversation.conversation_id, conversation.window_start)
    if all(message.position != opened.turn.position for message in messages):
        # A person took it out since it was opened, in another process (T2): nobody waits for its reply.
        raise TurnSuperseded(opened.turn.turn_id)
    calibration = unit.calibrations.get("" if opened.model is None else opened.model.name)
    level = _level(unit, opened, policy)
    within = bounds(level, limits, sizes.context)
    # The newest message is both of the window and fixed, and counts once.
    newest = calibration.corrected(opened.message.tokens)
    most = max(0, sizes.room - calibration.corrected(sizes.fixed) + newest)
    live = live_nodes(unit, conversation)
    turns = turn_sizes(messages, calibration, summarised_to=summarised_to(live))
    move = advance(turns, within, limits, most_tokens=most)
    beside = room_beside([turn for turn in turns if turn.position >= move.start], within, limits)
    return Window(
        messages=tuple(m for m in messages if m.position >= move.start),
        summary=gather_summary(unit, conversation.conversation_id, live, opened.members, beside),
        calibration=calibration,
        level=level,
        bounds=within,
        move=move,
    )


def _place(unit: Unit, before: int | None) -> int:
    return unit.owners.get().place if before is None else before


def _level(unit: Unit, opened: OpenedTurn, policy: Policy) -> Level:
    """W2: the first member's, whoever speaks."""
    if policy.level_fixed is not None:
        return policy.level_fixed
    first = opened.conversation.bot_id
    return (None if first is None else unit.levels.get(first)) or Level.BALANCED


def _policy_words(policy: Policy) -> str:
    return f"{','.join(policy.reads)} tools={policy.model_tools} calls={policy.text_calls}"


def _changes(
    unit: Unit, epoch: Epoch | None, scopes: Sequence[Scope], opened: OpenedTurn, limits: Limits
) -> tuple[Change, ...] | None:
    """What changed since the epoch began, None when it is too much for the list. A notebook has no list (K2).

    The list comes on top of a full block: were each write to begin an epoch, a full scope would pay for the whole
    prompt with every write (C6). What it displaces leaves with the next epoch (M6).
    """
    assert epoch is not None
    if is_notebook(opened):
        return None
    most = limits.since_then_entries
    changed = unit.memories.changed_since(scopes, epoch.place, limit=4 * most + 1)
    if len(changed) > 4 * most:
        return None
    found = changes(epoch, changed)
    if _is_assistant(opened):
        lines = {line.memory_id for line in epoch.lines}
        own = _own(unit, [c.memory for c in found], opened.conversation)
        found = tuple(c for c in found if c.memory.memory_id in lines | own)
    return found if len(found) <= most else None


def _memories(unit: Unit, scopes: Sequence[Scope], opened: OpenedTurn, limits: Limits) -> tuple[Memory, ...]:
    """What a new epoch shows: pinned ones and at most 100 others (M6); an assistant's, what is its conversation's own
    (P1's profile comes with extraction); a notebook's, all in their order (K2).
    """
    if is_notebook(opened):
        return tuple(m for scope in scopes for m in unit.memories.by_place(scope) if not m.archived)
    pinned = [m for scope in scopes for m in unit.memories.pinned(scope)]
    newest = [(scope, unit.memories.newest_unpinned(scope, limit=limits.room_unpinned)) for scope in scopes]
    if _is_assistant(opened):
        own = _own(unit, [m for _, found in newest for m in found], opened.conversation)
        newest = [(scope, [m for m in found if m.memory_id in own]) for scope, found in newest]
    return (*pinned, *deal(newest, most=limits.unpinned_in_prompt))


def is_notebook(opened: OpenedTurn) -> bool:
    return opened.bot is not None and opened.bot.is_notebook


def _is_assistant(opened: OpenedTurn) -> bool:
    return opened.bot is None or opened.bot.preset is Preset.ASSISTANT


def _own(unit: Unit, memories: Sequence[Memory], conversation: Conversation) -> set[MemoryId]:
    """Those of these that an assistant's conversation shows: pinned, of its session, or drawn from it."""
    here = conversation.conversation_id
    always = {m.memory_id for m in memories if m.pinned or m.scope.ref == here}
    return always | unit.memories.drawn_from(here, [m.memory_id for m in memories if m.memory_id not in always])
