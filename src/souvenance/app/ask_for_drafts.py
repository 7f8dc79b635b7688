"""Ask a model for drafts: once, and once more with the reason when its answer cannot be used (V5, V6)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from souvenance.app.choose_model import context_of
from souvenance.app.hear_model import hear_model
from souvenance.app.kit import Kit
from souvenance.app.off_loop import off_loop
from souvenance.domain.budget import MESSAGE_OVERHEAD, reply_room
from souvenance.domain.cost import Calibration, learn
from souvenance.domain.ids import OwnerId
from souvenance.domain.prompt import Run, Said, assemble
from souvenance.errors import PromptTooLarge, UnusableDrafts
from souvenance.ports.chat_model import ChatRequest, ModelInfo, Usage
from souvenance.ports.store import Unit
from souvenance.prompts.draft_memories import Form, Proposed, parse
from souvenance.prompts.question import BadAnswer, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What a drafting cost, as a reply's cost is told: the model's own figures, or with `reported` False estimates."""

    model: str
    tokens_in: int
    tokens_out: int
    reported: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request and its answer; estimates are as the tokenizer counts, not corrected."""

    answer: str
    estimated_in: int
    estimated_out: int
    usage: Usage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Drafts that can be used, and the requests that led to them."""

    proposed: tuple[Proposed, ...]
    model: str
    asked: tuple[Asked, ...]
    charge: Charge


async def ask_for_drafts(kit: Kit, owner_id: OwnerId, model: ModelInfo, question: Question, form: Form) -> Answered:
    """What `model` drafts. UnusableDrafts when its second answer is no better; PromptTooLarge; what models raise."""
    calibration = await kit.store.read(
        owner_id, lambda unit: unit.calibrations.get(model.name), label="calibration.read"
    )
    asked = [await _ask(kit, model, question, calibration)]
    proposed = await _parsed(asked[-1].answer, form)
    if isinstance(proposed, BadAnswer):
        asked.append(await _ask(kit, model, question.again(proposed), calibration))
        proposed = await _parsed(asked[-1].answer, form)
    charge = _charge(model.name, asked, calibration)
    if isinstance(proposed, BadAnswer):
        await kit.store.write(owner_id, lambda unit: learn_from(unit, model.name, asked), label="calibration.learnt")
        raise UnusableDrafts(
            model.name, reason=proposed.reason, tokens_in=charge.tokens_in, tokens_out=charge.tokens_out
        )
    return Answered(proposed=proposed, model=model.name, asked=tuple(asked), charge=charge)


def learn_from(unit: Unit, model: str, asked: Sequence[Asked]) -> None:
    """Learn from what the model reported of these requests, as replies do (C5)."""
    before = learnt = unit.calibrations.get(model)
    for one in asked:
        if one.usage is not None:
            learnt = learn(learnt, estimated=one.estimated_in, reported=one.usage.tokens_in)
    if learnt != before:
        unit.calibrations.save(model, learnt)


async def _parsed(answer: str, form: Form) -> tuple[Proposed, ...] | BadAnswer:
    if len(answer) > form.limits.message_characters:
        return BadAnswer(reason=f"It has more than {form.limits.message_characters} characters.")
    return await off_loop(len(answer), lambda: parse(answer, form))


async def _ask(kit: Kit, model: ModelInfo, question: Question, calibration: Calibration) -> Asked:
    said = question.system + question.user
    estimated = 2 * MESSAGE_OVERHEAD + await off_loop(len(said), lambda: kit.tokenizer.count(said))
    _check_fits(kit, model, calibration.corrected(estimated))
    text: list[str] = []
    size, usage = 0, None
    async with aclosing(hear_model(kit, _request(model, question))) as chunks:
        async for chunk in chunks:
            text.append(chunk.text)
            size += len(chunk.text)
            usage = chunk.usage or usage
            if size > kit.limits.message_characters:
                break
    answer = "".join(text)
    told = await off_loop(size, lambda: kit.tokenizer.count(answer))
    return Asked(answer=answer, estimated_in=estimated, estimated_out=told, usage=usage)


def _check_fits(kit: Kit, model: ModelInfo, needed: int) -> None:
    context = context_of(model, kit.limits)
    room = context - reply_room({}, context=context, limits=kit.limits)
    if needed > room:
        raise PromptTooLarge(needed=needed, available=room, context=context)


def _request(model: ModelInfo, question: Question) -> ChatRequest:
    fields = {"stream_options": {"include_usage": True}}
    asked = assemble(
        {"model": model.name, "stream": True, **fields},
        (
            Said(layer="system", fields={"role": "system"}, runs=(Run(text=question.system),)),
            Said(layer="newest", fields={"role": "user"}, runs=(Run(text=question.user),)),
        ),
    )
    return ChatRequest(model=model.name, messages=asked.messages, fields=fields, stream=True, body=asked.body)


def _charge(model: str, asked: Sequence[Asked], calibration: Calibration) -> Charge:
    usages = [one.usage for one in asked if one.usage is not None]
    if len(usages) == len(asked):
        tokens_in, tokens_out = sum(one.tokens_in for one in usages), sum(one.tokens_out for one in usages)
        return Charge(model=model, tokens_in=tokens_in, tokens_out=tokens_out, reported=True)
    return Charge(
        model=model,
        tokens_in=sum(calibration.corrected(one.estimated_in) for one in asked),
        tokens_out=sum(calibration.corrected(one.estimated_out) for one in asked),
        reported=False,
    )
