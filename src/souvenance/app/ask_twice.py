"""Ask a model for something in a strict form: once, and once more with the reason when its answer cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, TypeVar

from souvenance.app.choose_model import context_of
from souvenance.app.hear_model import hear_model
from souvenance.app.kit import Kit
from souvenance.app.off_loop import off_loop
from souvenance.app.spend import add_spending
from souvenance.domain.budget import MESSAGE_OVERHEAD, reply_room
from souvenance.domain.cost import Calibration, learn
from souvenance.domain.ids import OwnerId
from souvenance.domain.prompt import Run, Said, assemble
from souvenance.errors import PromptTooLarge, SouvenanceError, UnusableAnswer
from souvenance.ports.chat_model import ChatRequest, ModelInfo, Usage
from souvenance.ports.store import Unit
from souvenance.prompts.question import BadAnswer, Question

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking(Generic[T]):
    """A question, the reading of its answer, and the error that says that there is none.

    `reply_tokens` are kept free for the answer, of which no more than `most_characters` are listened to. Requests that
    led to nothing are counted under `purpose`, if it is named (C4); those that led to an answer are the caller's.
    """

    model: ModelInfo
    question: Question
    parse: Callable[[str], T | BadAnswer]
    unusable: type[UnusableAnswer]
    reply_tokens: int
    most_characters: int
    purpose: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What the requests cost, as a reply's cost is told: as the model `reported` it, else estimates."""

    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    reported: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Generic[T]):
    said: T
    charge: Charge


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """One request and its answer; estimates are as the tokenizer counts, not corrected."""

    answer: str
    estimated_in: int
    estimated_out: int
    usage: Usage | None


async def ask_twice(kit: Kit, owner_id: OwnerId, asking: Asking[T]) -> Answered[T]:
    """What the model says, read. Learns from what it reports of the requests, as replies do (C5).

    Raises the asking's own error when the second answer is no better; PromptTooLarge; what models raise.
    """
    name = asking.model.name
    calibration = await kit.store.read(owner_id, lambda unit: unit.calibrations.get(name), label="calibration.read")
    asked: list[_Asked] = []
    try:
        said = await _said(kit, asking, calibration, asked)
    except SouvenanceError:
        await _keep(kit, owner_id, asked, _charge(name, asked, calibration), asking.purpose)
        raise
    charge = _charge(name, asked, calibration)
    await _keep(kit, owner_id, asked, charge, None)
    return Answered(said=said, charge=charge)


async def _said(kit: Kit, asking: Asking[T], calibration: Calibration, asked: list[_Asked]) -> T:
    """The usable answer; each request that was answered is added to `asked`."""
    asked.append(await _ask(kit, asking, asking.question, calibration))
    said = await _parsed(asked[-1].answer, asking)
    if isinstance(said, BadAnswer):
        asked.append(await _ask(kit, asking, asking.question.again(said), calibration))
        said = await _parsed(asked[-1].answer, asking)
    if isinstance(said, BadAnswer):
        charge = _charge(asking.model.name, asked, calibration)
        raise asking.unusable(
            charge.model, reason=said.reason, tokens_in=charge.tokens_in, tokens_out=charge.tokens_out
        )
    return said


async def _keep(kit: Kit, owner_id: OwnerId, asked: Sequence[_Asked], charge: Charge, purpose: str | None) -> None:
    """Keep what was learnt of these requests and, under a purpose, what they cost."""
    now = kit.clock.now()

    def work(unit: Unit) -> None:
        _learn(unit, charge.model, asked)
        if purpose is not None:
            add_spending(
                unit, purpose, at=now, calls=charge.calls, tokens_in=charge.tokens_in, tokens_out=charge.tokens_out
            )

    if asked and (purpose is not None or any(one.usage is not None for one in asked)):
        await kit.store.write(owner_id, work, label="model.asked")


def _learn(unit: Unit, model: str, asked: Sequence[_Asked]) -> None:
    before = learnt = unit.calibrations.get(model)
    for one in asked:
        if one.usage is not None:
            learnt = learn(learnt, estimated=one.estimated_in, reported=one.usage.tokens_in)
    if learnt != before:
        unit.calibrations.save(model, learnt)


async def _parsed(answer: str, asking: Asking[T]) -> T | BadAnswer:
    if len(answer) > asking.most_characters:
        return BadAnswer(reason=f"It has more than {asking.most_characters} characters.")
    return await off_loop(len(answer), lambda: asking.parse(answer))


async def _ask(kit: Kit, asking: Asking[T], question: Question, calibration: Calibration) -> _Asked:
    said = question.system + question.user
    estimated = 2 * MESSAGE_OVERHEAD + await off_loop(len(said), lambda: kit.tokenizer.count(said))
    _check_fits(kit, asking, calibration.corrected(estimated))
    text: list[str] = []
    size, usage = 0, None
    async with aclosing(hear_model(kit, _request(asking.model, question))) as chunks:
        async for chunk in chunks:
            text.append(chunk.text)
            size += len(chunk.text)
            usage = chunk.usage or usage
            if size > asking.most_characters:
                break
    answer = "".join(text)
    told = await off_loop(size, lambda: kit.tokenizer.count(answer))
    return _Asked(answer=answer, estimated_in=estimated, estimated_out=told, usage=usage)


def _check_fits(kit: Kit, asking: Asking[T], needed: int) -> None:
    context = context_of(asking.model, kit.limits)
    room = context - reply_room({"max_tokens": asking.reply_tokens}, context=context, limits=kit.limits)
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


def _charge(model: str, asked: Sequence[_Asked], calibration: Calibration) -> Charge:
    usages = [one.usage for one in asked if one.usage is not None]
    reported = len(usages) == len(asked)
    if reported:
        tokens_in, tokens_out = sum(one.tokens_in for one in usages), sum(one.tokens_out for one in usages)
    else:
        tokens_in = sum(calibration.corrected(one.estimated_in) for one in asked)
        tokens_out = sum(calibration.corrected(one.estimated_out) for one in asked)
    return Charge(model=model, calls=len(asked), tokens_in=tokens_in, tokens_out=tokens_out, reported=reported)
