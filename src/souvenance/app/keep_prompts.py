"""Keep what was sent for a reply, so that it can be read back, and learn from what the model counted (C1, C5).

Words that a person erased while the model spoke are kept from the first as erased: no purge will come past them (M14).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from souvenance.app.change_memories import NotChanged, Outcome, Store
from souvenance.app.kit import Kit
from souvenance.app.plan_turn import Plan
from souvenance.app.reply import Reply, Round
from souvenance.domain.cost import learn
from souvenance.domain.ids import MemoryId, MessageId, PromptId
from souvenance.domain.sent import ERASED, Part, SentPrompt
from souvenance.ports.store import Unit


def sent_prompt(kit: Kit, plan: Plan, told: Round, number: int, now: datetime) -> SentPrompt:
    """One request of a reply, `number` counts its rounds from 0."""
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
        estimated_in=plan.gathered.window.calibration.corrected(told.estimated_in),
        estimated_out=plan.gathered.window.calibration.corrected(kit.tokenizer.count("".join(told.text))),
        reported_in=None if usage is None else usage.tokens_in,
        reported_out=None if usage is None else usage.tokens_out,
        round=number,
        epoch=0 if plan.shown.epoch is None else plan.shown.epoch.number,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A reply's requests, with what became of its wishes. `message_id` is the reply's, None when nothing of it was
    kept; `moved` says that something that they read was edited, pinned or erased meanwhile.
    """

    plan: Plan
    reply: Reply
    prompts: Sequence[SentPrompt]
    outcomes: Sequence[Outcome]
    message_id: MessageId | None
    moved: bool


def keep_prompts(unit: Unit, sent: Sent) -> None:
    """Store them in the present transaction."""
    plan, reply = sent.plan, sent.reply
    gone = (_erased_meanwhile(unit, sent) if sent.moved else frozenset()) | _refused_as_erased(reply, sent.outcomes)
    for prompt in sent.prompts:
        parts = _blanked(_of_what_was_stored(prompt.parts, reply, sent.outcomes), gone)
        unit.prompts.put(replace(prompt, message_id=sent.message_id, parts=parts))
    calibration = learnt = plan.gathered.window.calibration
    for told in reply.rounds:
        if told.usage is not None:
            learnt = learn(learnt, estimated=told.estimated_in, reported=told.usage.tokens_in)
    if learnt != calibration and plan.opened.model is not None:
        unit.calibrations.save(plan.opened.model.name, learnt)


def _erased_meanwhile(unit: Unit, sent: Sent) -> frozenset[MemoryId]:
    """The memories in this prompt that were purged while the model spoke: no purge will come past them again."""
    named = {part.memory_id for prompt in sent.prompts for part in prompt.parts if part.memory_id is not None}
    there = {memory.memory_id for memory in unit.memories.many(sorted(named))}
    wished = {wish.memory_id for wish, _ in sent.reply.wishes if isinstance(wish, Store)}
    of_others = sent.plan.gathered.of_others | sent.reply.of_others
    return frozenset(named - there - wished - of_others)


def _refused_as_erased(reply: Reply, outcomes: Sequence[Outcome]) -> frozenset[MemoryId]:
    """What calls name that wished to bring back what a person erased: their words would outlive every purge (M14)."""
    return frozenset(
        wish.memory_id
        for (wish, _), outcome in zip(reply.wishes, outcomes, strict=True)
        if isinstance(outcome, NotChanged) and outcome.reason == "erased"
    )


def _blanked(parts: Sequence[Part], gone: frozenset[MemoryId]) -> tuple[Part, ...]:
    if not gone:
        return tuple(parts)
    return tuple(replace(part, data=ERASED) if part.memory_id in gone else part for part in parts)


def _of_what_was_stored(parts: Sequence[Part], reply: Reply, outcomes: Sequence[Outcome]) -> tuple[Part, ...]:
    """The parts of a prompt, those that hold what the model wished to store naming the memory that holds it now."""
    became = {
        wish.memory_id: outcome.memory.memory_id
        for (wish, _), outcome in zip(reply.wishes, outcomes, strict=True)
        if isinstance(wish, Store) and outcome.memory is not None
    }
    if not became:
        return tuple(parts)
    return tuple(
        replace(part, memory_id=became[part.memory_id]) if part.memory_id in became else part for part in parts
    )
