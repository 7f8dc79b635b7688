"""Ask a model for words of a summary (S1, S2, S5, S9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from souvenance.app.ask_twice import Asking, ask_twice
from souvenance.app.due_work import Work
from souvenance.app.kit import Kit
from souvenance.domain.ids import OwnerId
from souvenance.errors import UnusableSummary
from souvenance.ports.chat_model import ModelInfo
from souvenance.ports.tokenizer import Tokenizer
from souvenance.prompts.numbered import Summary
from souvenance.prompts.question import BadAnswer, Question

Parse = Callable[[str], Summary | BadAnswer]

_CHARACTERS_A_TOKEN = 16
"""More than a token of an answer takes, with the JSON around it."""
_REASONING_CHARACTERS = 60_000
"""What a model may think aloud in front of its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A summary that can be used, and what its `calls` cost: as the model `reported`, else estimates."""

    summary: Summary
    model: str
    calls: int
    spent_in: int
    spent_out: int
    reported: bool


async def ask_summary(
    kit: Kit,
    owner_id: OwnerId,
    model: ModelInfo,
    question: Question,
    parse: Parse,
    *,
    most_tokens: int,
    work: Work = Work.SUMMARY,
) -> Answered:
    """What `model` writes, in texts of `most_tokens` together at most; the caller counts what it cost (C4).

    Raises UnusableSummary when its second answer is no better, PromptTooLarge, and what models raise; what was spent
    until then is counted under `work`.
    """
    asking = Asking(
        model=model,
        question=question,
        parse=lambda answer: _read(answer, parse, question, kit.tokenizer, most_tokens),
        unusable=UnusableSummary,
        reply_tokens=max(kit.limits.reply_tokens, most_tokens),
        most_characters=_REASONING_CHARACTERS + _CHARACTERS_A_TOKEN * most_tokens,
        purpose=work,
    )
    answered = await ask_twice(kit, owner_id, asking)
    charge = answered.charge
    return Answered(
        summary=answered.said,
        model=charge.model,
        calls=charge.calls,
        spent_in=charge.tokens_in,
        spent_out=charge.tokens_out,
        reported=charge.reported,
    )


def _read(answer: str, parse: Parse, question: Question, tokenizer: Tokenizer, most_tokens: int) -> Summary | BadAnswer:
    summary = parse(answer)
    if isinstance(summary, BadAnswer):
        return summary
    texts = [item.text for item in summary.items]
    if any(map(question.repeated_in, texts)):
        return BadAnswer(reason="It repeats the task instead of doing it.")
    tokens = tokenizer.count("\n".join(texts))
    if tokens > most_tokens:
        return BadAnswer(reason=f"Its texts have {tokens} tokens; the limit is {most_tokens}. Say less.")
    return summary
