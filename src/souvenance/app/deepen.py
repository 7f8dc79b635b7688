"""Deeper memory: what was summarised for the first time is read once more for lasting details (V8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from souvenance.app.ask_twice import Asking, Charge, ask_twice
from souvenance.app.change_memories import Cause, Remove, Replace, Store, Wish, carry_out
from souvenance.app.choose_summariser import summariser_of
from souvenance.app.due_work import Stepped, Work, end_step
from souvenance.app.kit import Kit
from souvenance.app.look_at_summary import members_in
from souvenance.app.pen import lines_of
from souvenance.app.spend import add_spending, check_spending
from souvenance.app.who_said import Names
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation, Message, Role
from souvenance.domain.due import Due
from souvenance.domain.ids import ConversationId, MemoryId, MessageId
from souvenance.domain.journal import Actor, Anchor, Content
from souvenance.domain.limits import Limits
from souvenance.domain.memory import Evidence, Memory, MemoryState, Origin, Scope
from souvenance.domain.policy import circumstances, policy, writes_to
from souvenance.domain.terms import terms
from souvenance.errors import NotFound, UnusableAnswer
from souvenance.ports.chat_model import ModelInfo
from souvenance.ports.store import Unit
from souvenance.prompts.deepen import Add, Change, Forget, Known, Update, ask, parse

MOST_MESSAGES = 60
"""Read at once; what lies behind them is read by the next step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """`said` are whole turns that are summarised and were not read yet; `memories` what the bot keeps, pinned first.
    In a group it is the first member's, and `names` has all of them.
    """

    conversation: Conversation
    bot: Bot | None
    names: Names
    scope: Scope
    said: tuple[Message, ...]
    memories: tuple[Memory, ...]

    @property
    def last(self) -> int:
        return self.said[-1].position if self.said else self.conversation.summarised_to


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What is to be changed, each with what it was drawn from, and what finding it cost."""

    wishes: tuple[tuple[Wish, Cause], ...]
    charge: Charge


async def deepen(kit: Kit, due: Due) -> Stepped:
    """Read the next batch and store at most three changes, each undone with the messages it was drawn from (T2).

    Raises LeaseLost, UnusableAnswer, SpendCapReached, and what models raise; then the batch is read later.
    """
    batch = await kit.store.read(due.owner_id, lambda unit: _batch(unit, kit.limits, due), label="deeper.batch_read")
    if batch is None:
        return await _rest(kit, due, "the conversation is gone")
    here, reason = batch.conversation.conversation_id, _why_not(kit, batch)
    if reason:
        return await _rest(kit, due, reason, passed=here)
    if len(batch.said) < kit.limits.deeper_messages:
        return await _rest(kit, due, "it joins the next batch")
    model = await summariser_of(kit, due, conversation=batch.conversation, bot=batch.bot, said=batch.said)
    if model is None:
        return await _rest(kit, due, "there is no model", passed=here)
    await check_spending(kit, due.owner_id)
    found = await _read(kit, due, batch, model)
    now = kit.clock.now()
    return await kit.store.write(due.owner_id, lambda unit: _store(unit, due, batch, found, now), label="deeper.stored")


def _batch(unit: Unit, limits: Limits, due: Due) -> _Batch | None:
    assert due.conversation_id is not None
    try:
        conversation = unit.conversations.get(due.conversation_id)
    except NotFound:
        return None
    members = unit.bots.many(members_in(conversation))
    bot = members[0] if members else None
    scope = writes_to(bot)
    return _Batch(
        conversation=conversation,
        bot=bot,
        names={member.bot_id: member.name for member in members},
        scope=scope,
        said=_unread(unit, conversation),
        memories=(*unit.memories.pinned(scope), *unit.memories.newest_unpinned(scope, limit=limits.room_unpinned)),
    )


def _unread(unit: Unit, conversation: Conversation) -> tuple[Message, ...]:
    """Whole turns, as many as are read at once; at least one."""
    ahead = unit.messages.oldest(conversation.conversation_id, conversation.deepened_to + 1, limit=MOST_MESSAGES + 1)
    said = [message for message in ahead if message.position <= conversation.summarised_to]
    if len(ahead) > MOST_MESSAGES and said and said[0].position < said[-1].position:
        said = [message for message in said if message.position < said[-1].position]
    return tuple(said)


def _why_not(kit: Kit, batch: _Batch) -> str:
    """Why this conversation is not read; what is passed over now is never read later (V8)."""
    case = circumstances(batch.conversation, batch.bot, can_call_tools=True, plan_has_deeper=kit.deeper_memory)
    chosen = policy(case)
    if not chosen.deeper:
        return "; ".join(reason.words for reason in chosen.reasons) or "deeper memory is off for this bot"
    return "a notebook keeps keys, not details" if batch.bot is not None and batch.bot.is_notebook else ""


async def _read(kit: Kit, due: Due, batch: _Batch, model: ModelInfo) -> _Found:
    known = _known(batch.memories)
    answered = await ask_twice(
        kit,
        due.owner_id,
        Asking(
            model=model,
            question=ask(lines_of(batch.said, batch.names), known, kit.limits),
            parse=partial(parse, lines=len(batch.said), memories=known, limits=kit.limits),
            unusable=UnusableAnswer,
            reply_tokens=kit.limits.reply_tokens,
            most_characters=kit.limits.message_characters,
            purpose=Work.DEEPER,
        ),
    )
    now = kit.clock.now()
    by_number = {one.number: memory for one, memory in zip(known, batch.memories, strict=True) if one.number}
    wishes = tuple((_wish(kit, batch, change, by_number), _cause(batch, change, now)) for change in answered.said)
    return _Found(wishes=wishes, charge=answered.charge)


def _known(memories: Sequence[Memory]) -> list[Known]:
    """Pinned ones have no number: nothing may be done to them."""
    numbers = iter(range(1, len(memories) + 1))
    return [
        Known(text=memory.text, subject=memory.subject, number=None if memory.pinned else next(numbers))
        for memory in memories
    ]


def _wish(kit: Kit, batch: _Batch, change: Change, by_number: dict[int, Memory]) -> Wish:
    match change:
        case Forget(number=number):
            return Remove(memory_id=by_number[number].memory_id)
        case Update(number=number, text=text):
            content = _content(kit, batch, change, text, by_number[number].subject)
            return Replace(memory_id=by_number[number].memory_id, content=content, terms=tuple(terms(text)))
        case Add(text=text, subject=subject):
            return Store(
                memory_id=MemoryId(kit.ids.new("mem")),
                scope=batch.scope,
                content=_content(kit, batch, change, text, subject),
                terms=tuple(terms(f"{subject} {text}")),
            )


def _content(kit: Kit, batch: _Batch, change: Change, text: str, subject: str) -> Content:
    return Content(
        text=text,
        subject=subject,
        confidence=kit.limits.confidence_model,
        origin=Origin.DEEPER,
        evidence=tuple(
            Evidence(at=one.created_at, conversation_id=one.conversation_id, message_id=one.message_id)
            for one in _sources(batch, change)
        ),
    )


def _cause(batch: _Batch, change: Change, now: datetime) -> Cause:
    """Each message that it was drawn from holds it up, so that it goes only with the last of them (T2, T7)."""
    asked: dict[int, MessageId] = {one.position: one.origin_id for one in batch.said if one.role is Role.USER}
    anchors = tuple(
        Anchor(message=one.origin_id, said=None if one.role is Role.USER else asked.get(one.position))
        for one in _sources(batch, change)
    )
    return Cause(actor=Actor.DEEPER, at=now, anchors=anchors)


def _sources(batch: _Batch, change: Change) -> list[Message]:
    return [batch.said[number - 1] for number in change.lines]


def _store(unit: Unit, due: Due, batch: _Batch, found: _Found, now: datetime) -> Stepped:
    """All of it, unless what was read changed meanwhile; a memory that changed since it was shown is left alone."""
    unit.owners.hold()
    here = batch.conversation.conversation_id
    conversation = unit.conversations.lock(here)
    charge = found.charge
    add_spending(
        unit, Work.DEEPER, at=now, calls=charge.calls, tokens_in=charge.tokens_in, tokens_out=charge.tokens_out
    )
    end_step(unit, due, more=True, at=now)
    there = unit.messages.span(here, batch.said[0].position, batch.last)
    if conversation.deepened_to != batch.conversation.deepened_to or there != list(batch.said):
        return Stepped(more=True, reason="what was said changed meanwhile")
    for wish, cause in found.wishes:
        if isinstance(wish, Store) or _is_as_shown(unit, batch, wish.memory_id):
            carry_out(unit, wish, cause)
    unit.conversations.save(replace(conversation, deepened_to=batch.last))
    return Stepped(more=True)


def _is_as_shown(unit: Unit, batch: _Batch, memory_id: MemoryId) -> bool:
    shown = {memory.memory_id: memory.version for memory in batch.memories}
    found = unit.memories.many([memory_id])
    return bool(found) and found[0].state is MemoryState.LIVE and found[0].version == shown[memory_id]


async def _rest(kit: Kit, due: Due, reason: str, *, passed: ConversationId | None = None) -> Stepped:
    """Nothing to read; what is summarised of the conversation that is `passed` over never will be."""
    now = kit.clock.now()

    def work(unit: Unit) -> None:
        if passed is not None:
            conversation = unit.conversations.lock(passed)
            passed_to = max(conversation.deepened_to, conversation.summarised_to)
            unit.conversations.save(replace(conversation, deepened_to=passed_to))
        end_step(unit, due, more=False, at=now)

    await kit.store.write(due.owner_id, work, label="work.rested")
    return Stepped(reason=reason)
