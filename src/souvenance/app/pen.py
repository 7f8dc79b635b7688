"""Who writes the words of a summary node, and what comes of it (S3, S11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from souvenance.app.ask_summary import Answered, Parse, ask_summary
from souvenance.app.credit import check_credit_for
from souvenance.app.due_work import Work
from souvenance.app.hear_rules import Closing, FoundRule
from souvenance.app.kit import Kit
from souvenance.app.spend import add_spending, check_spending
from souvenance.app.who_said import Names, who_said
from souvenance.domain.conversation import Message
from souvenance.domain.ids import OwnerId
from souvenance.domain.limits import Level
from souvenance.domain.node_text import one_line
from souvenance.domain.rebuild_plan import answer_tokens
from souvenance.domain.summary import Item, Spot
from souvenance.errors import PromptTooLarge
from souvenance.ports.chat_model import ModelInfo
from souvenance.ports.store import Unit
from souvenance.prompts.numbered import Line, Old, Told
from souvenance.prompts.question import Question

EXTRACTED = "extracted"
"""The prompt version of a node that no model wrote."""

_DAY_CHARACTERS = 40

Range = tuple[Spot, Spot]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pen:
    """`model` is None where there is none: then words are found, not written. `level` says how much is kept."""

    kit: Kit
    owner_id: OwnerId
    model: ModelInfo | None
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Items with their ranges, rules heard and taken back, and what it cost; `model` is empty for extracted ones."""

    items: tuple[Item, ...]
    rules: tuple[FoundRule, ...] = ()
    closings: tuple[Closing, ...] = ()
    model: str = ""
    prompt_version: str = EXTRACTED
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


def by_model(
    answered: Answered,
    items: Sequence[Item],
    version: str,
    *,
    rules: Sequence[FoundRule] = (),
    closings: Sequence[Closing] = (),
) -> Written:
    return Written(
        items=tuple(items),
        rules=tuple(rules),
        closings=tuple(closings),
        model=answered.model,
        prompt_version=version,
        calls=answered.calls,
        tokens_in=answered.spent_in,
        tokens_out=answered.spent_out,
    )


async def answer_of(pen: Pen, question: Question, parse: Parse, most: int) -> Answered | None:
    """The model's answer of about `most` tokens; None where there is no model, or one that cannot take the question.

    SpendCapReached, NoCredit, UnusableSummary, and what models raise.
    """
    if pen.model is None:
        return None
    kit = pen.kit
    await check_spending(kit, pen.owner_id)
    await check_credit_for(kit, pen.owner_id, pen.model, question, answer_tokens(most, kit.limits))
    try:
        at_most = int(most * kit.limits.answer_share)
        return await ask_summary(kit, pen.owner_id, pen.model, question, parse, most_tokens=at_most)
    except PromptTooLarge:
        return None


def spend(unit: Unit, work: Work, written: Written, at: datetime) -> None:
    """Count what these words cost, in the transaction that keeps them (C4)."""
    if written.calls:
        add_spending(unit, work, at=at, calls=written.calls, tokens_in=written.tokens_in, tokens_out=written.tokens_out)


def items_told(told: Sequence[Told], ranges: Sequence[Range]) -> tuple[Item, ...]:
    """What a model told, each item drawn from all that lies between the numbers it named."""
    return tuple(_item(one, ranges[one.first - 1 : one.last]) for one in told)


def _item(told: Told, named: Sequence[Range]) -> Item:
    return Item(
        part=told.part,
        text=one_line(told.text),
        first=min(first for first, _ in named),
        last=max(last for _, last in named),
        kept=told.kept,
        day=one_line(told.day)[:_DAY_CHARACTERS],
        about=one_line(told.about)[:_DAY_CHARACTERS],
    )


def spot_of(message: Message) -> Spot:
    return Spot(message.position, message.part)


def lines_of(said: Sequence[Message], names: Names) -> list[Line]:
    return [
        Line(number=number, who=who_said(message, names), text=message.text, day=_day(message))
        for number, message in enumerate(said, 1)
    ]


def olds_of(items: Sequence[Item]) -> list[Old]:
    return [Old(number=number, item=item) for number, item in enumerate(items, 1)]


def _day(message: Message) -> str:
    return message.created_at.astimezone(ZoneInfo(message.time_zone)).date().isoformat()
