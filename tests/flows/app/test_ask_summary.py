"""S1, S5: a model is asked for a summary twice at most; what cannot be used is set aside, and what it cost counted."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest

from souvenance.app.ask_summary import Answered, ask_summary
from souvenance.app.choose_summariser import choose_summariser
from souvenance.app.spend import hour_of
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation
from souvenance.domain.limits import Level
from souvenance.errors import ModelUnreachable, PromptTooLarge, UnknownModel, UnusableSummary
from souvenance.ports.chat_model import ModelInfo, Usage
from souvenance.prompts.numbered import Line, Room
from souvenance.prompts.summarise import ask, parse
from souvenance.testing import ScriptedModel, say
from tests.flows.app.house import House

ONE_DATABASE = True

SCRIPTED = ModelInfo(name="scripted", provider="testing", context=128_000)
LINES = [Line(number=1, who="user", text="I moved to Oslo.")]
QUESTION = ask(LINES, Room(level=Level.BALANCED, tokens=100), rules=[])
TASK = QUESTION.system.split(". ")[1]


def written(*texts: str) -> str:
    lines = [{"text": text, "about": "", "first": 1, "last": 1} for text in texts]
    parts = ("promises", "references", "timeline", "rules", "taken_back")
    return json.dumps({"state": lines} | {part: [] for part in parts})


GOOD = written("The user lives in Oslo")


async def asked(house: House, model: ModelInfo = SCRIPTED, *, most: int = 100) -> Answered:
    read = partial(parse, lines=1, rules=0)
    return await ask_summary(house.kit, house.owner, model, QUESTION, read, most_tokens=most)


async def spent(house: House) -> int:
    hour = hour_of(house.kit.clock.now())
    return await house.read(lambda unit: unit.spending.in_hour(hour))


def usage(tokens_in: int, tokens_out: int) -> Usage:
    return Usage(tokens_in=tokens_in, tokens_out=tokens_out)


async def test_s1_the_answer_comes_with_what_it_cost_and_the_caller_counts_it(house: House) -> None:
    house.model.script(replace(say(GOOD), usage=usage(900, 40)))
    found = await asked(house)
    assert [item.text for item in found.summary.items] == ["The user lives in Oslo"]
    assert (found.model, found.calls, found.spent_in, found.spent_out, found.reported) == ("scripted", 1, 900, 40, True)
    assert await spent(house) == 0
    calibration = await house.read(lambda unit: unit.calibrations.get("scripted"))
    assert calibration.corrected(1_000) != 1_000


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "The user lives in Oslo.",
        "<think>They live in Oslo.</think>",
        GOOD[:-9],
        written(f"{TASK}. Use only"),
        written(*(f"fact {n} of a great many" for n in range(40))),
        QUESTION.system,
    ],
    ids=["empty", "prose", "only reasoning", "half", "repeats the task", "twice the budget", "the task itself"],
)
async def test_s1_a_bad_answer_is_asked_for_once_more_with_the_reason_then_set_aside(house: House, bad: str) -> None:
    house.model.script(say(bad), say(GOOD))
    assert (await asked(house)).calls == 2
    assert "could not be used" in house.prompt.newest
    assert await spent(house) == 0
    house.model.script(replace(say(bad), usage=usage(900, 40)), replace(say(bad), usage=usage(950, 60)))
    with pytest.raises(UnusableSummary) as refused:
        await asked(house)
    assert len(house.prompts) == 4
    assert (refused.value.details["tokens_in"], refused.value.details["tokens_out"]) == (1850, 100)
    assert str(refused.value.details["reason"]) in house.prompt.newest
    assert await spent(house) == 1950


async def test_c4_an_answer_that_was_for_nothing_counts_when_the_second_call_fails(house: House) -> None:
    house.model.script(replace(say("no"), usage=usage(900, 40)), ModelUnreachable("scripted", reason="it is off"))
    with pytest.raises(ModelUnreachable):
        await asked(house)
    assert await spent(house) == 940


async def test_s1_a_model_that_never_stops_is_listened_to_no_further_than_an_answer_can_be_long(house: House) -> None:
    house.model.script(*[say(*["spam " * 1_000] * 30)] * 2)
    with pytest.raises(UnusableSummary) as refused:
        await asked(house)
    assert "more than 61600 characters" in str(refused.value.details["reason"])
    assert house.model.cancelled == 2


async def test_s1_a_question_that_does_not_fit_the_model_is_not_asked(house: House) -> None:
    with pytest.raises(PromptTooLarge):
        await asked(house, ModelInfo(name="small", context=512))
    assert house.prompts == []


async def chosen(house: House, bot: Bot | None, conversation: Conversation, **kit: object) -> str | None:
    changed = replace(house.kit, **kit)  # type: ignore[arg-type]
    found = await choose_summariser(changed, conversation=conversation, bot=bot)
    return None if found is None else found.name


async def test_s11_the_setting_names_the_model_that_summarises_else_the_one_that_answers_else_none(
    house: House,
) -> None:
    bot = await house.bot(model="clever")
    chat, bare = await house.chat(bot), await house.chat(None, model="plain")
    known = ScriptedModel(models=(SCRIPTED, replace(SCRIPTED, name="quick")))
    assert await chosen(house, bot, chat, models=known, summary_model="quick") == "quick"
    assert await chosen(house, bot, chat, models=known) == "clever"
    assert await chosen(house, None, bare, models=known) == "plain"
    default = replace(bot, model=None)
    assert await chosen(house, default, chat, models=known, default_model="quick") == "quick"
    assert await chosen(house, default, chat, models=ScriptedModel(models=())) is None
    assert await chosen(house, None, replace(bare, model=None), models=ScriptedModel(models=())) is None
    with pytest.raises(UnknownModel):
        await chosen(house, bot, chat, models=known, summary_model="gone")
