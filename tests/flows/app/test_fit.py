"""W7 through whole turns: what gives way when the model's context is small, and that it is listed (C1)."""

from __future__ import annotations

from souvenance.app.read_prompts import prompts_of_message
from souvenance.domain.bot import Preset
from souvenance.domain.memory import ACCOUNT_SCOPE, Scope
from souvenance.domain.sent import SentPrompt
from souvenance.models.tokens import O200k
from souvenance.testing import say
from tests.flows.app.house import House, Told, called, calls

ONE_DATABASE = True

FACT = "keeps a notebook about the birds that pass over the lighthouse in autumn, with weather and wind"


async def _remember(house: House, count: int, *, scope: Scope = ACCOUNT_SCOPE, pinned: bool = False) -> None:
    for number in range(count):
        house.clock.advance(seconds=1)
        await house.remember(f"{'Pinned' if pinned else 'Fact'} {number:03}: {FACT}", scope, pinned=pinned)


async def _sent(house: House, told: Told) -> SentPrompt:
    (prompt,) = await prompts_of_message(house.kit, house.owner, told.stored.message_id)
    return prompt


async def test_w7_the_oldest_unpinned_memories_give_way_first_and_are_listed(house: House) -> None:
    tight = house.with_context(3_000)
    chat = await tight.chat(await tight.bot())
    await _remember(tight, 100)
    await _remember(tight, 3, pinned=True)
    told = await tight.say(chat, "Hello")
    prompt = tight.prompt
    shown = [number for number in range(100) if f"Fact {number:03}:" in prompt.system]
    assert shown == list(range(100 - len(shown), 100)), "the newest stay"
    assert 0 < len(shown) < 100
    assert all(f"Pinned {number:03}:" in prompt.system for number in range(3))
    left_out = (await _sent(tight, told)).left_out
    assert {one.layer for one in left_out} == {"unpinned"}
    assert len(left_out) == 100 - len(shown)
    memories = {memory.memory_id: memory.text for memory in await tight.memories()}
    assert [memories[one.item][:8] for one in left_out] == [f"Fact {number:03}" for number in range(len(left_out))]  # type: ignore[index]


async def test_w7_every_prompt_fits_the_context_less_the_replys_room(house: House) -> None:
    tight = house.with_context(3_000)
    chat = await tight.chat(await tight.bot(system_prompt="Speak like a sailor."))
    await _remember(tight, 100)
    for number in range(12):
        await tight.say(chat, f"message {number}: {FACT}", say(f"answer {number}: {FACT}"))
    assert max(O200k().count(prompt.text) for prompt in tight.prompts) <= 3_000 - 1_024
    assert all(prompt.system.startswith("Speak like a sailor.") for prompt in tight.prompts)


async def test_w7_the_window_gives_way_after_the_unpinned_and_before_the_pinned(house: House) -> None:
    tight = house.with_context(2_000)
    chat = await tight.chat(await tight.bot(settings={"tools": False}))
    await _remember(tight, 3)
    await _remember(tight, 20, pinned=True)
    told = await tight.say(chat, "Hello", say("Hi"))
    for number in range(9):
        told = await tight.say(chat, f"message {number}: {FACT * 2}", say(f"answer {number}: {FACT}"))
    layers = [one.layer for one in (await _sent(tight, told)).left_out]
    assert layers[:3] == ["unpinned"] * 3
    assert set(layers[3:]) == {"window"}
    assert all(f"Pinned {number:03}:" in tight.prompt.system for number in range(20))
    assert tight.prompt.window[-1][1].startswith("answer 7"), "W5: the turn before the newest stays"


async def test_w7_pinned_memories_give_way_last_of_all_oldest_first(house: House) -> None:
    tight = house.with_context(1_200)
    chat = await tight.chat(await tight.bot(settings={"tools": False}))
    await _remember(tight, 3)
    await _remember(tight, 20, pinned=True)
    told = await tight.say(chat, "Hello")
    left_out = (await _sent(tight, told)).left_out
    layers = [one.layer for one in left_out]
    assert layers == sorted(layers, reverse=True)
    assert layers.count("unpinned") == 3
    shown = [number for number in range(20) if f"Pinned {number:03}:" in tight.prompt.system]
    assert shown
    assert shown == list(range(20 - len(shown), 20))


async def test_w7_a_notebooks_entries_give_way_whole_those_changed_longest_ago_first(house: House) -> None:
    tight = house.with_context(2_500)
    notebook = await tight.bot(preset=Preset.NOTEBOOK)
    chat = await tight.chat(notebook)
    scope = Scope.of_bot(notebook.bot_id)
    for number in range(60):
        await tight.remember(f"{number:03} {FACT}", scope, key=f"key {number:03}")
    await tight.remember(f"new {FACT}", scope, key="key 000", overwrite=True)
    await tight.say(chat, "Hello")
    lines = [line for line in tight.prompt.system.splitlines() if line.startswith("- key ")]
    assert lines[0] == f"- key 000: new {FACT}", "in the order of first storing, each line whole"
    assert [line[:9] for line in lines[1:]] == [f"- key {number:03}" for number in range(61 - len(lines), 60)]
    assert 1 < len(lines) < 60


async def test_w7_the_newest_message_is_whole_even_if_nothing_else_fits(house: House) -> None:
    tight = house.with_context(2_400)
    chat = await tight.chat(await tight.bot(settings={"tools": False}))
    await _remember(tight, 50)
    await tight.say(chat, f"earlier {FACT * 10}", say("yes"))
    text = "zebra " * 900
    await tight.say(chat, text)
    assert tight.prompt.newest == text
    assert tight.prompt.window == []
    assert tight.prompt.system.count(FACT) < 5


async def test_v1_a_memory_that_gave_way_cannot_be_named_by_its_number(house: House) -> None:
    """Only short ids that stood in this prompt count."""
    roomy = house.with_context(100_000)
    bot = await roomy.bot()
    chat = await roomy.chat(bot)
    await _remember(roomy, 60, scope=Scope.of_bot(bot.bot_id))
    await roomy.say(chat, "Hello")
    oldest = next(line for line in roomy.prompt.system.splitlines() if "Fact 000:" in line)
    number = int(oldest.split("[")[1].split("]")[0])
    tight = roomy.with_context(3_000)
    told = await tight.say(chat, "Hello again", calls(called("forget", id=number)), say("I cannot"))
    assert "Fact 000:" not in tight.prompts[0].system
    assert told.kinds == ["refused"]
    assert len(await tight.memories()) == 60
