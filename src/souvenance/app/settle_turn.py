"""The last write of a turn: reply, memory changes, epoch, short ids, sent prompts and what is learnt, all or nothing.

The last chunk leaves a door only after this commit (T6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from souvenance.app.change_memories import Cause, Changed, NotChanged, Outcome, Store, carry_out
from souvenance.app.gather_turn import scopes_read
from souvenance.app.index_said import index_said
from souvenance.app.kit import Kit
from souvenance.app.off_loop import off_loop
from souvenance.app.plan_turn import Plan
from souvenance.app.reply import Reply, Round
from souvenance.app.undo_writes import undo_writes
from souvenance.domain.conversation import Conversation, Message, MessageState, Role, Turn, TurnState
from souvenance.domain.cost import learn
from souvenance.domain.history import history_hash
from souvenance.domain.ids import MemoryId, MessageId, OwnerId, PromptId
from souvenance.domain.journal import Actor, Anchor
from souvenance.domain.sent import ERASED, Part, SentPrompt
from souvenance.domain.terms import terms
from souvenance.errors import TurnSuperseded
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
        return sum(isinstance(outcome, Changed) for outcome in self.outcomes)


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
    terms: Sequence[str] = field(repr=False)
    terms_asked: Sequence[str] = field(repr=False)


async def settle_turn(kit: Kit, owner_id: OwnerId, plan: Plan, reply: Reply, *, cut_off: bool = False) -> Settled:
    """Store the reply as it stands in `reply`; TurnSuperseded when another attempt took the turn meanwhile."""
    size = len(reply.text) + len(plan.opened.message.text)
    result = await off_loop(size, lambda: _worked_out(kit, plan, reply, cut_off=cut_off))
    return await kit.store.write(owner_id, lambda unit: _settle(unit, result), label="turn.settled")


def _worked_out(kit: Kit, plan: Plan, reply: Reply, *, cut_off: bool) -> _Result:
    now = kit.clock.now()
    return _Result(
        plan=plan,
        reply=reply,
        state=MessageState.CUT_OFF if cut_off else MessageState.WHOLE,
        message_id=MessageId(kit.ids.new("msg")),
        prompts=tuple(_sent(kit, plan, told, number, now) for number, told in enumerate(reply.rounds)),
        tokens=kit.tokenizer.count(_SAVED.format(1) if reply.is_calls_only else reply.text),
        now=now,
        terms=terms(reply.text),
        terms_asked=terms(plan.opened.message.text),
    )


def _settle(unit: Unit, result: _Result) -> Settled:
    plan, reply = result.plan, result.reply
    unit.owners.hold()
    conversation = unit.conversations.lock(plan.opened.conversation.conversation_id)
    turn = unit.turns.get(plan.opened.turn.turn_id)
    earlier = unit.messages.of_turn(turn.turn_id)
    left = _left(earlier, goes_on=plan.opened.goes_on) if reply.is_worth_keeping else []
    answered = turn.state is TurnState.WHOLE and reply.is_worth_keeping and not left
    if answered or turn.attempt != plan.opened.turn.attempt:
        raise TurnSuperseded(turn.turn_id)
    _take_back(unit, left, result.now)
    outcomes = tuple(carry_out(unit, wish, _cause(actor, result)) for wish, actor in reply.wishes)
    message = None
    if reply.is_worth_keeping:
        message = _put_reply(unit, turn, earlier, result, outcomes)
    _index(unit, turn, earlier, result, message)
    _keep_epoch(unit, conversation, result)
    _keep_prompts(unit, result, message, outcomes)
    turn = _close(turn, reply, message)
    unit.turns.save(turn)
    kept = [m for m in earlier if m.chosen and m not in left]
    unit.conversations.save(_grown(unit, conversation, result, message, kept=kept, left=len(left)))
    return Settled(turn=turn, message=message, outcomes=outcomes)


def _left(earlier: Sequence[Message], *, goes_on: bool) -> list[Message]:
    """What the new answer stands in for: an answer that was cut off, and one that waited for results of the client's
    own tools when the client asks from the start again.
    """
    said = [m for m in earlier if m.chosen and m.role is Role.BOT]
    return [m for m in said if m.state is MessageState.CUT_OFF or not goes_on]


def _take_back(unit: Unit, left: Sequence[Message], now: datetime) -> None:
    """An answer that is left goes with its writes (T1)."""
    for message in left:
        unit.messages.save(replace(message, chosen=False))
    if left:
        undo_writes(unit, [m.origin_id for m in left], now)


def _cause(actor: Actor, result: _Result) -> Cause:
    anchor = Anchor(message=result.message_id, said=result.plan.opened.message.origin_id)
    return Cause(actor=actor, at=result.now, anchors=(anchor,))


def _put_reply(
    unit: Unit, turn: Turn, earlier: Sequence[Message], result: _Result, outcomes: Sequence[Outcome]
) -> Message:
    opened = result.plan.opened
    left = {m.part for m in _left(earlier, goes_on=opened.goes_on)}
    part = min(left) if left else max((m.part for m in earlier if m.chosen), default=0) + 1
    message = Message(
        message_id=result.message_id,
        conversation_id=turn.conversation_id,
        turn_id=turn.turn_id,
        position=turn.position,
        part=part,
        variant=sum(m.part == part for m in earlier),
        role=Role.BOT,
        bot_id=None if opened.bot is None else opened.bot.bot_id,
        origin_id=result.message_id,
        state=result.state,
        text=_text(result, outcomes),
        tokens=result.tokens,
        noted=sum(isinstance(outcome, Changed) for outcome in outcomes),
        model="" if opened.model is None else opened.model.name,
        time_zone=opened.conversation.time_zone,
        created_at=result.now,
    )
    unit.messages.put(message)
    return message


def _index(unit: Unit, turn: Turn, said: Sequence[Message], result: _Result, message: Message | None) -> None:
    index_said(
        unit,
        said,
        [m for m in result.plan.gathered.messages if m.position < turn.position],
        replies={} if message is None else {message.message_id: result.terms},
        known={result.plan.opened.message.text: result.terms_asked},
    )


def _text(result: _Result, outcomes: Sequence[Outcome]) -> str:
    """What a person sees of the reply: of one that was text calls only, how many of them were stored (V2)."""
    if not result.reply.is_calls_only or result.state is MessageState.CUT_OFF:
        return result.reply.text
    return _SAVED.format(len({o.memory.memory_id for o in outcomes if isinstance(o, Changed)}))


def _close(turn: Turn, reply: Reply, message: Message | None) -> Turn:
    """Whole once it is answered; a reply that waits for the client's own tools leaves it open."""
    answered = message is not None and not reply.their_calls
    return replace(turn, state=TurnState.WHOLE if answered else TurnState.OPEN)


def _keep_prompts(unit: Unit, result: _Result, message: Message | None, outcomes: Sequence[Outcome]) -> None:
    plan, reply = result.plan, result.reply
    gone = _erased_meanwhile(unit, result) | _refused_as_erased(reply, outcomes)
    for prompt in result.prompts:
        parts = _blanked(_of_what_was_stored(prompt.parts, reply, outcomes), gone)
        unit.prompts.put(replace(prompt, message_id=None if message is None else message.message_id, parts=parts))
    calibration = learnt = plan.gathered.calibration
    for told in reply.rounds:
        if told.usage is not None:
            learnt = learn(learnt, estimated=told.estimated_in, reported=told.usage.tokens_in)
    if learnt != calibration and plan.opened.model is not None:
        unit.calibrations.save(plan.opened.model.name, learnt)


def _keep_epoch(unit: Unit, conversation: Conversation, result: _Result) -> None:
    """Keep the epoch that this prompt began and the numbers it gave, unless the world has moved since it was read: then
    the next prompt begins one of its own, and nothing erased meanwhile is written again (M14).
    """
    shown = result.plan.shown
    alone = conversation.version == result.plan.opened.conversation.version
    if shown.new_epoch and shown.epoch is not None and alone and not _scopes_moved(unit, result):
        unit.epochs.save(shown.epoch)
    if result.reply.given:
        unit.short_ids.put(conversation.conversation_id, result.reply.given)


def _scopes_moved(unit: Unit, result: _Result) -> bool:
    """Whether a person edited, pinned or erased something that this prompt read, since it was read."""
    scopes = scopes_read(result.plan.policy, result.plan.opened)
    now = {f"scope {scope.key}": str(state.epoch) for scope, state in unit.scopes.read(scopes).items()}
    return any(result.plan.gathered.basis.get(key) != epoch for key, epoch in now.items())


def _erased_meanwhile(unit: Unit, result: _Result) -> frozenset[MemoryId]:
    """The memories in this prompt that were purged while the model spoke: no purge will come past them again."""
    if not _scopes_moved(unit, result):
        return frozenset()
    named = {part.memory_id for prompt in result.prompts for part in prompt.parts if part.memory_id is not None}
    there = {memory.memory_id for memory in unit.memories.many(sorted(named))}
    wished = {wish.memory_id for wish, _ in result.reply.wishes if isinstance(wish, Store)}
    return frozenset(named - there - wished)


def _refused_as_erased(reply: Reply, outcomes: Sequence[Outcome]) -> frozenset[MemoryId]:
    """What calls name that wished to bring back what a person erased: their words would outlive every purge (M14)."""
    return frozenset(
        wish.memory_id
        for (wish, _), outcome in zip(reply.wishes, outcomes, strict=True)
        if isinstance(outcome, NotChanged) and outcome.reason == "erased"
    )


def _blanked(parts: Sequence[Part], gone: frozenset[MemoryId]) -> tuple[Part, ...]:
    return tuple(replace(part, data=ERASED) if part.memory_id in gone else part for part in parts)


def _of_what_was_stored(parts: Sequence[Part], reply: Reply, outcomes: Sequence[Outcome]) -> tuple[Part, ...]:
    """The parts of a prompt, those that hold what the model wished to store naming the memory that holds it now."""
    became = {
        wish.memory_id: outcome.memory.memory_id
        for (wish, _), outcome in zip(reply.wishes, outcomes, strict=True)
        if isinstance(wish, Store) and outcome.memory is not None
    }
    return tuple(
        replace(part, memory_id=became[part.memory_id]) if part.memory_id in became else part for part in parts
    )


def _grown(
    unit: Unit,
    conversation: Conversation,
    result: _Result,
    message: Message | None,
    *,
    kept: Sequence[Message],
    left: int,
) -> Conversation:
    """The conversation after the reply: counted (`left` answers less), its window where this prompt had it, its
    history's hash; `kept` is what stays of the turn.
    """
    plan = result.plan
    move = plan.gathered.move
    moved = move.start > conversation.window_start
    hashed = conversation.history_hash
    newest = plan.opened.turn.position == conversation.last_position
    if message is not None and message.text.strip() and newest:
        said = [(m.role, m.text) for m in kept if m.role is Role.BOT and m.text.strip()]
        hashed = history_hash([*said, (Role.BOT, message.text)], unit.keyed_hash, after=plan.opened.turn.opened_hash)
    return replace(
        conversation,
        window_start=max(conversation.window_start, move.start),
        waiting=conversation.waiting + (move.waiting if moved else 0),
        messages=conversation.messages + (message is not None) - left,
        history_hash=hashed,
        updated_at=result.now,
        version=conversation.version + 1,
    )


def _sent(kit: Kit, plan: Plan, told: Round, number: int, now: datetime) -> SentPrompt:
    opened, usage = plan.opened, told.usage
    return SentPrompt(
        prompt_id=PromptId(kit.ids.new("prm")),
        conversation_id=opened.conversation.conversation_id,
        turn_id=opened.turn.turn_id,
        message_id=None,
        model="" if opened.model is None else opened.model.name,
        at=now,
        parts=told.asked.parts,
        layers=plan.layout.layers,
        left_out=plan.fitted.left_out,
        estimated_in=plan.gathered.calibration.corrected(told.estimated_in),
        estimated_out=plan.gathered.calibration.corrected(kit.tokenizer.count("".join(told.text))),
        reported_in=None if usage is None else usage.tokens_in,
        reported_out=None if usage is None else usage.tokens_out,
        round=number,
        epoch=0 if plan.shown.epoch is None else plan.shown.epoch.number,
    )
