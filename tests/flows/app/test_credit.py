"""C4, S7, O7: what credit does not cover is refused before it is sent; a plan without deeper memory has none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from souvenance.app.begin_rebuild import begin_rebuild
from souvenance.app.estimate_rebuild import estimate_rebuild
from souvenance.app.read_summary import read_summary
from souvenance.app.steer_rebuild import resume_rebuild
from souvenance.domain.conversation import Conversation
from souvenance.domain.summary import RebuildState
from souvenance.errors import NoCredit
from tests.flows.app.house import House
from tests.flows.app.rebuilding import last, notified, questions, small, steps, told, worker
from tests.flows.app.summarising import live, now, talk

ONE_DATABASE = True


def with_credit(house: House, tokens: int | None) -> House:
    """The same account, so much of whose credit was given in all."""
    return replace(house, kit=replace(house.kit, credit_tokens=tokens))


async def spent(house: House) -> int:
    return await house.read(lambda unit: unit.spending.in_all(but="deeper"))


async def test_c4_a_rebuild_that_credit_does_not_cover_is_refused_with_the_figures_before_anything_is_sent(
    house: House,
) -> None:
    house = small(house)
    chat = await told(house)
    asked, before = len(house.model.requests), await spent(house)
    estimate = await estimate_rebuild(house.kit, house.owner, chat.conversation_id)
    needed = estimate.tokens_in + estimate.tokens_out
    with pytest.raises(NoCredit) as refused:
        await begin_rebuild(with_credit(house, before + needed - 1).kit, house.owner, chat.conversation_id)
    figures = {"tokens_in": estimate.tokens_in, "tokens_out": estimate.tokens_out, "left": needed - 1}
    assert refused.value.details == figures
    assert len(house.model.requests) == asked
    assert not (await read_summary(house.kit, house.owner, chat.conversation_id)).rebuilding
    await begin_rebuild(with_credit(house, before + needed).kit, house.owner, chat.conversation_id)


async def test_s7_a_rebuild_whose_credit_runs_out_fails_tells_it_and_goes_on_where_it_stopped(house: House) -> None:
    house = small(house)
    chat = await told(house)
    await begin_rebuild(house.kit, house.owner, chat.conversation_id)
    await steps(house, 2)
    asked, poor = len(questions(house)), with_credit(house, await spent(house) + 10)
    await worker(poor).work_off()
    failed = await last(house, chat)
    assert (failed.state, failed.reason, failed.steps) == (RebuildState.FAILED, "no_credit", 2)
    kind, about = (await notified(house))[-1]
    assert (kind, about["reason"], about["left"]) == ("rebuild_failed", "no_credit", 10)
    assert len(questions(house)) == asked
    await resume_rebuild(house.kit, house.owner, chat.conversation_id)
    await worker(house).work_off()
    done = await last(house, chat)
    assert done.state is RebuildState.DONE
    assert len(questions(house)) == asked + done.steps_estimated - 2


async def test_c4_without_credit_compaction_waits_the_person_is_told_once_and_nothing_is_lost(house: House) -> None:
    house = small(house)
    chat = await house.chat(await house.bot())
    poor = with_credit(house, 0)
    for _ in range(3):
        await talk(house, chat, 4, worked=False)
        await worker(poor).work_off()
        house.clock.advance(seconds=7_200)
    assert questions(house) == []
    assert await live(house, chat) == []
    assert [kind for kind, _ in await notified(house)] == ["no_credit"]
    assert (await now(house, chat)).waiting > 0, "W4: counted, and summarised as soon as there is credit"
    await worker(house).work_off()
    assert (await now(house, chat)).waiting == 0
    assert await live(house, chat) != []


async def test_o7_a_plan_without_deeper_memory_reads_nothing_and_says_so(house: House) -> None:
    house = small(house)
    without = replace(house, kit=replace(house.kit, deeper_memory=False))
    chat = await without.chat(await without.bot())
    await talk(without, chat, 12)
    assert await deeper_of(house, chat) == (True, [])
    active, rules = await deeper_of(without, chat)
    assert (active, rules) == (False, ["O7"])
    assert await house.read(lambda unit: unit.spending.in_all(but="summary")) == 0, "nothing was read for it"


async def deeper_of(house: House, chat: Conversation) -> tuple[bool, list[str]]:
    deeper = (await read_summary(house.kit, house.owner, chat.conversation_id)).deeper
    return deeper.active, [reason.rule for reason in deeper.reasons]
