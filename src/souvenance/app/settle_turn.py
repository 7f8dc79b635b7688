"""The last write of a turn: reply, memory changes, epoch, short ids, sent prompts and what is learnt, all or nothing.

The last chunk leaves a door only after this commit (T6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from souvenance.app.change_memories import Cause, Changed, Outcome, carry_out
from souvenance.app.due_work import Work, make_due
from souvenance.app.gather_turn import scopes_read
from souvenance.app.history_chain import hash_after
from souvenance.app.index_said import index_said
from souvenance.app.keep_prompts import Sent, keep_prompts, sent_prompt
from souvenance.app.kit import Kit
from souvenance.app.mark_stale import mark_stale
from souvenance.app.off_loop import off_loop
from souvenance.app.open_turn import OpenedTurn
from souvenance.app.plan_turn import Plan
from souvenance.app.reply import Reply
from souvenance.app.stand_in import exchange, left_by
from souvenance.app.turn_sizes import turn_sizes
from souvenance.domain.basis import scope_words
from souvenance.domain.conversation import Conversation, Message, MessageState, Role, Turn, TurnState
from souvenance.domain.ids import BotId, MessageId, OwnerId
from souvenance.domain.journal import Actor, Anchor
from souvenance.domain.memory import ScopeKind
from souvenance.domain.sent import SentPrompt
from souvenance.domain.terms import terms
from souvenance.domain.window import compaction_due
from souvenance.errors import NotFound, NotLastTurn, TurnSuperseded
from souvenance.ports.memories import Kind
from souvenance.ports.store import Unit

_SAVED = "{} saved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What the write left behind. `message` is None when there was nothing to keep."""

    turn: Turn
    message: Message | None
    outcomes: tuple[Outcome, ...]

    @property
    def saved(self) -> int:
        return _saved(self.outcomes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """All that the write needs, worked out before the store is held."""

    plan: Plan
    reply: Reply
    state: MessageState
    message_id: MessageId
    prompts: tuple[SentPrompt, ...]
    tokens: int
    now: datetime
    leaves_little_room: bool
    terms: Sequence[str] = field(repr=False)
    terms_asked: Sequence[str] = field(repr=False)

    @property
    def is_aside(self) -> bool:
        """Whether it is kept beside the reply that it was to replace: a new variant that breaks off is readable and can
        be chosen, and the old one stays (T1).
        """
        return bool(self.plan.opened.replaces) and self.state is MessageState.CUT_OFF


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    turn: Turn
    part: int
    variant: int


async def settle_turn(kit: Kit, owner_id: OwnerId, plan: Plan, reply: Reply, *, cut_off: bool = False) -> Settled:
    """Store the reply as it stands in `reply`; TurnSuperseded when another attempt took the turn meanwhile."""
    size = len(reply.text) + len(plan.opened.message.text)
    result = await off_loop(size, lambda: _worked_out(kit, plan, reply, cut_off=cut_off))
    return await kit.store.write(owner_id, lambda unit: _settle(unit, result), label="turn.settled")


def _worked_out(kit: Kit, plan: Plan, reply: Reply, *, cut_off: bool) -> _Result:
    now = kit.clock.now()
    before = "" if plan.opened.continues is None else plan.opened.continues.text
    tokens = kit.tokenizer.count(_SAVED.format(1) if reply.is_calls_only and not before else before + reply.text)
    return _Result(
        plan=plan,
        reply=reply,
        state=MessageState.CUT_OFF if cut_off else MessageState.WHOLE,
        message_id=MessageId(kit.ids.new("msg")),
        prompts=tuple(sent_prompt(kit, plan, told, number, now) for number, told in enumerate(reply.rounds)),
        tokens=tokens,
        now=now,
        leaves_little_room=_leaves_little_room(kit, plan, tokens),
        terms=terms(before + reply.text),
        terms_asked=terms(plan.opened.message.text),
    )


def _leaves_little_room(kit: Kit, plan: Plan, tokens: int) -> bool:
    """Whether the oldest turns are to be summarised once this reply of so many tokens stands (S1, W6)."""
    gathered = plan.gathered
    turns = turn_sizes(
        gathered.window.messages, gathered.window.calibration, summarised_to=plan.opened.conversation.summarised_to
    )
    newest = turns[-1]
    grown = replace(
        newest, messages=newest.messages + 1, tokens=newest.tokens + gathered.window.calibration.corrected(tokens)
    )
    return compaction_due([*turns[:-1], grown], gathered.window.bounds, kit.limits)


def _still_there(unit: Unit, opened: OpenedTurn) -> tuple[Conversation, Turn]:
    """The conversation, held, and the turn; TurnSuperseded when a person took either away meanwhile (T2)."""
    try:
        return unit.conversations.lock(opened.conversation.conversation_id), unit.turns.get(opened.turn.turn_id)
    except NotFound as e:
        raise TurnSuperseded(opened.turn.turn_id) from e


def _settle(unit: Unit, result: _Result) -> Settled:
    plan, reply = result.plan, result.reply
    unit.owners.hold()
    conversation, turn = _still_there(unit, plan.opened)
    earlier = unit.messages.of_turn(turn.turn_id)
    left = left_by(plan.opened, earlier) if reply.is_worth_keeping else []
    _refuse_late(conversation, turn, result, left)
    moved = _scopes_moved(unit, result)
    exchange(unit, leaves=left, comes=(), now=result.now)
    outcomes = tuple(carry_out(unit, wish, _cause(actor, result)) for wish, actor in reply.wishes)
    message = None
    if reply.is_worth_keeping:
        place = _place(turn, earlier, left)
        message = _kept(unit, place, result, outcomes)
    _index(unit, turn, earlier, result, message)
    if message is not None and result.is_aside:
        exchange(unit, leaves=[message], comes=left, now=result.now)
        message, left = replace(message, chosen=False), []
    else:
        _keep_epoch(unit, conversation, result, moved=moved)
    if reply.given:
        unit.short_ids.put(conversation.conversation_id, reply.given)
    keep_prompts(unit, _what_was_sent(result, message, outcomes, moved=moved))
    turn = _close(turn, result, message)
    unit.turns.save(turn)
    now_said = _said_now(earlier, left, message)
    came = len(now_said) - sum(m.chosen for m in earlier)
    _grow(unit, _counted(conversation, turn, came), turn, result, said=now_said)
    return Settled(turn=turn, message=message, outcomes=outcomes)


def _counted(conversation: Conversation, turn: Turn, came: int) -> Conversation:
    """With so many more chosen messages; those of a turn that left the window before and has no node wait (W4)."""
    waits = conversation.summarised_to < turn.position < conversation.window_start
    return replace(
        conversation,
        messages=conversation.messages + came,
        waiting=conversation.waiting + (came if waits else 0),
    )


def _grow(unit: Unit, conversation: Conversation, turn: Turn, result: _Result, *, said: Sequence[Message]) -> None:
    """Keep the conversation as it is after the reply, and let its oldest turns be summarised when little room is left;
    `said` is the whole turn as it is now (S1).
    """
    grown = _grown(unit, conversation, turn, result, said=said)
    unit.conversations.save(grown)
    if said and turn.position <= grown.summarised_to:
        # It was summarised without this reply (S9).
        mark_stale(unit, said, result.now)
    if result.plan.policy.stored and (result.leaves_little_room or grown.waiting):
        make_due(unit, Work.SUMMARY, grown.conversation_id, unit.owner_id, result.now)


def _refuse_late(conversation: Conversation, turn: Turn, result: _Result, left: Sequence[Message]) -> None:
    """TurnSuperseded when this reply comes too late: the turn has one by now, or another attempt took it. NotLastTurn
    when the conversation went on past a reply that a person asked for again.
    """
    opened = result.plan.opened
    adds = bool(left or opened.heard or opened.continues)
    answered = turn.state is TurnState.WHOLE and result.reply.is_worth_keeping and not adds
    if answered or turn.attempt != opened.turn.attempt:
        raise TurnSuperseded(turn.turn_id)
    if (opened.replaces or opened.continues) and turn.position != conversation.last_position:
        raise NotLastTurn(turn.turn_id)


def _said_now(earlier: Sequence[Message], left: Sequence[Message], message: Message | None) -> list[Message]:
    """The chosen messages of the turn after this write, in order."""
    gone = {m.message_id for m in left} | ({message.message_id} if message is not None else set())
    stays = [m for m in earlier if m.chosen and m.message_id not in gone]
    came = [message] if message is not None and message.chosen else []
    return sorted([*stays, *came], key=lambda m: m.part)


def _cause(actor: Actor, result: _Result) -> Cause:
    anchor = Anchor(message=result.message_id, said=result.plan.opened.message.origin_id)
    return Cause(actor=actor, at=result.now, anchors=(anchor,))


def _place(turn: Turn, earlier: Sequence[Message], left: Sequence[Message]) -> _Place:
    """Where the new reply stands: in place of what it stands in for, else behind all that was said."""
    parts = [m.part for m in left]
    part = min(parts) if parts else max((m.part for m in earlier if m.chosen), default=0) + 1
    return _Place(turn=turn, part=part, variant=max((m.variant + 1 for m in earlier if m.part == part), default=0))


def _kept(unit: Unit, place: _Place, result: _Result, outcomes: Sequence[Outcome]) -> Message:
    """The stored reply: a message of its own, or the one that it goes on with, grown."""
    if result.plan.opened.continues is not None:
        return _grown_message(unit, result.plan.opened.continues, result, outcomes)
    message = _message(place, result, outcomes)
    unit.messages.put(message)
    return message


def _grown_message(unit: Unit, before: Message, result: _Result, outcomes: Sequence[Outcome]) -> Message:
    """The reply that was cut off with what came now; TurnSuperseded when it is not any more what was gone on with.

    It has a new origin, on which both halves hang: a fork that holds the first half alone must not hold what the second
    one wrote (T4).
    """
    if unit.messages.get(before.message_id) != before:
        raise TurnSuperseded(before.turn_id)
    message = replace(
        before,
        origin_id=result.message_id,
        text=before.text + result.reply.text,
        state=result.state,
        tokens=result.tokens,
        noted=before.noted + _saved(outcomes),
    )
    unit.messages.save(message)
    unit.journal.hand_on(before.origin_id, message.origin_id, conversation_id=message.conversation_id)
    unit.index.put(Kind.MESSAGE, message.message_id, result.terms)
    return message


def _message(place: _Place, result: _Result, outcomes: Sequence[Outcome]) -> Message:
    opened, turn = result.plan.opened, place.turn
    return Message(
        message_id=result.message_id,
        conversation_id=turn.conversation_id,
        turn_id=turn.turn_id,
        position=turn.position,
        part=place.part,
        variant=place.variant,
        role=Role.BOT,
        bot_id=None if opened.bot is None else opened.bot.bot_id,
        origin_id=result.message_id,
        state=result.state,
        text=_text(result, outcomes),
        tokens=result.tokens,
        noted=_saved(outcomes),
        model="" if opened.model is None else opened.model.name,
        time_zone=opened.conversation.time_zone,
        created_at=result.now,
    )


def _saved(outcomes: Sequence[Outcome]) -> int:
    return sum(isinstance(outcome, Changed) for outcome in outcomes)


def _index(unit: Unit, turn: Turn, said: Sequence[Message], result: _Result, message: Message | None) -> None:
    is_new = message is not None and message.message_id == result.message_id
    index_said(
        unit,
        said,
        [m for m in result.plan.gathered.window.messages if m.position < turn.position],
        replies={result.message_id: result.terms} if is_new else {},
        known={result.plan.opened.message.text: result.terms_asked},
    )


def _text(result: _Result, outcomes: Sequence[Outcome]) -> str:
    """What a person sees of the reply: of one that was text calls only, how many of them were stored (V2)."""
    if not result.reply.is_calls_only or result.state is MessageState.CUT_OFF:
        return result.reply.text
    return _SAVED.format(len({o.memory.memory_id for o in outcomes if isinstance(o, Changed)}))


def _close(turn: Turn, result: _Result, message: Message | None) -> Turn:
    """Whole once it is answered; a reply that waits for the client's own tools leaves it open. One that says nothing,
    comes after others', or is of a turn that was whole before changes nothing.
    """
    opened = result.plan.opened
    if opened.continues is None and (opened.heard or opened.replaces):
        return turn
    if result.reply.their_calls and opened.continues is None:
        return replace(turn, state=TurnState.OPEN)
    return turn if message is None else replace(turn, state=TurnState.WHOLE)


def _what_was_sent(result: _Result, message: Message | None, outcomes: Sequence[Outcome], *, moved: bool) -> Sent:
    return Sent(
        plan=result.plan,
        reply=result.reply,
        prompts=result.prompts,
        outcomes=outcomes,
        message_id=None if message is None else message.message_id,
        moved=moved,
    )


def _keep_epoch(unit: Unit, conversation: Conversation, result: _Result, *, moved: bool) -> None:
    """Keep the epoch that this prompt began, unless the world has moved since it was read: then
    the next prompt begins one of its own, and nothing erased meanwhile is written again (M14).
    """
    shown = result.plan.shown
    alone = conversation.version == result.plan.opened.conversation.version
    if shown.new_epoch and shown.epoch is not None and alone and not moved:
        unit.epochs.save(shown.epoch)


def _scopes_moved(unit: Unit, result: _Result) -> bool:
    """Whether a person edited, pinned or erased something that this prompt read, or deleted a bot that remembered it,
    since it was read.
    """
    states = unit.scopes.read(scopes_read(result.plan.policy, result.plan.opened))
    now = scope_words({scope.key: state.epoch for scope, state in states.items()})
    if any(result.plan.scopes_seen.get(key) != epoch for key, epoch in now.items()):
        return True
    # A deleted bot's scope reads as one in which nothing was ever written.
    unwritten = [BotId(scope.ref) for scope, one in states.items() if scope.kind is ScopeKind.BOT and not one.version]
    return bool(unwritten) and len(unit.bots.many(unwritten)) < len(unwritten)


def _grown(
    unit: Unit, conversation: Conversation, turn: Turn, result: _Result, *, said: Sequence[Message]
) -> Conversation:
    """The conversation after the reply: its window where this prompt had it, its history's hash; `said` is the
    whole turn as it is now.
    """
    move = result.plan.gathered.window.move
    moved = move.start > conversation.window_start
    hashed = conversation.history_hash
    if turn.position == conversation.last_position:
        hashed = hash_after(unit, turn.opened_hash, ((m.role, m.text) for m in said))
    return replace(
        conversation,
        window_start=max(conversation.window_start, move.start),
        waiting=conversation.waiting + (_leaving(unit, conversation, move.start) if moved else 0),
        history_hash=hashed,
        updated_at=result.now,
        version=conversation.version + 1,
    )


def _leaving(unit: Unit, conversation: Conversation, start: int) -> int:
    """How many messages leave the window when it begins at `start`: counted anew, since another reply may have moved it
    on while this one was spoken.
    """
    window = unit.messages.window(conversation.conversation_id, conversation.window_start)
    return sum(conversation.summarised_to < message.position < start for message in window)
