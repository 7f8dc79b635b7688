"""O4: a temporary chat reads no memory, writes none, finds nothing, and leaves nothing behind."""

from __future__ import annotations

import logging
from contextlib import aclosing
from typing import Any

import pytest
from sqlalchemy import select

from souvenance.app.bots import set_level
from souvenance.app.kit import Kit
from souvenance.app.plan_temporary_turn import TemporaryTurn
from souvenance.app.query_memories import Query, query_memories
from souvenance.app.temporary_turn import temporary_turn
from souvenance.app.turn import Delta
from souvenance.domain.bot import Preset
from souvenance.domain.conversation import Role
from souvenance.domain.ids import OwnerId
from souvenance.domain.limits import Level
from souvenance.domain.memory import Scope
from souvenance.errors import (
    MemoryIsOff,
    ModelBroken,
    NoModel,
    NotFound,
    PromptTooLarge,
    TextTooLong,
    UnknownModel,
    UnusableText,
)
from souvenance.ports.store import Unit
from souvenance.storage.schema import metadata
from souvenance.testing import Hang, ScriptedModel, say
from souvenance.testing.script import Reply
from tests.flows.app.house import House, Told, called, calls
from tests.flows.app.stores import FailingStore

ONE_DATABASE = True

SECRET = "zanzibarquokka"
Said = tuple[tuple[Role, str], ...]


async def rows(house: House) -> dict[str, set[str]]:
    return await rows_of(house.kit, house.owner)


async def rows_of(kit: Kit, owner_id: OwnerId) -> dict[str, set[str]]:
    """Every row of every table."""

    def work(unit: Unit) -> dict[str, set[str]]:
        connection = unit._connection  # type: ignore[attr-defined]
        return {table.name: set(map(str, connection.execute(select(table)))) for table in metadata.sorted_tables}

    return await kit.store.read(owner_id, work, label="test.read")


async def tell(house: House, text: str, *script: Reply, **more: Any) -> Told:
    house.model.script(*script)
    async with aclosing(temporary_turn(house.kit, house.owner, TemporaryTurn(text=text, **more))) as events:
        return Told(events=tuple([event async for event in events]))


def talk(turns: int, words: str = "") -> Said:
    """So many turns, numbered."""
    return tuple(said for n in range(turns) for said in ((Role.USER, f"Q{n}{words}"), (Role.BOT, f"A{n}{words}")))


async def test_o4_a_temporary_turn_is_answered_and_leaves_every_table_as_it_was(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    bot = await house.bot(settings={"text_calls": True})
    await house.say(await house.chat(bot), "Something that is kept")
    before = await rows(house)
    script = say(f'Yes. bcz_remember("pet", "{SECRET}")')
    told = await tell(house, f"Hear {SECRET}", script, bot_id=bot.bot_id, history=talk(60, SECRET))
    assert told.text == f'Yes. bcz_remember("pet", "{SECRET}")', "a call in the text is only text"
    assert await rows(house) == before
    assert SECRET not in caplog.text
    opened, done = told.opened, told.done
    assert (opened.conversation, opened.turn, opened.message) == (None, None, None)
    assert (done.turn, done.message, done.saved, done.memory_unavailable) == (None, None, 0, False)
    assert (done.model, done.finish) == ("scripted", "stop")
    assert done.tokens_in > 0
    assert done.tokens_out > 0


@pytest.mark.parametrize("preset", [Preset.COMPANION, Preset.NOTEBOOK])
async def test_o4_the_bot_speaks_with_its_own_words_but_no_memory_and_no_tool(house: House, preset: Preset) -> None:
    bot = await house.bot(preset=preset, system_prompt="You are Mira.", settings={"text_calls": True})
    key = "home" if preset is Preset.NOTEBOOK else None
    await house.remember("lives in Graz", Scope.of_bot(bot.bot_id), key=key, pinned=True)
    await house.remember("keeps bees", pinned=True)
    await tell(house, "Hello", bot_id=bot.bot_id)
    assert house.prompt.messages == [
        {"role": "system", "content": "You are Mira."},
        {"role": "user", "content": "Hello"},
    ]
    assert house.prompt.tools == []


async def test_o4_it_finds_no_past_messages_and_is_not_found(house: House) -> None:
    bot = await house.bot()
    await house.say(await house.chat(bot), f"The {SECRET} sleeps")
    find = calls(called("memory_query", text=SECRET))
    told = await tell(house, "A numbat too", find, bot_id=bot.bot_id)
    assert len(house.prompts) == 2, "a call that nobody offered is not carried out"
    assert told.text == ""
    assert SECRET not in house.prompt.text
    assert (await query_memories(house.kit, house.owner, Query(text="numbat", messages=True))).messages == ()


async def test_o4_what_was_said_before_is_sent_word_for_word_and_what_passes_the_window_is_dropped_with_a_note(
    house: House,
) -> None:
    bot = await house.bot()
    told = await tell(house, "And now?", bot_id=bot.bot_id, history=talk(24))
    assert (told.opened.dropped, told.kinds) == (0, [])
    assert house.prompt.window[:2] == [("user", "Q0"), ("assistant", "A0")]
    assert len(house.prompt.window) == 48
    told = await tell(house, "And now?", bot_id=bot.bot_id, history=talk(25))
    assert told.opened.dropped == 10
    [(kind, text)] = told.notes
    assert kind == "dropped"
    assert "10 older messages" in text
    assert house.prompt.window[0] == ("user", "Q5"), "whole turns, in W6's batches"
    assert house.prompt.window[-1] == ("assistant", "A24")
    assert house.prompt.newest == "And now?"


async def test_o4_c6_the_window_of_a_growing_history_starts_at_the_same_turn_until_a_batch_leaves(
    house: House,
) -> None:
    starts = []
    for turns in range(24, 36):
        await tell(house, "Next", history=talk(turns))
        starts.append(house.prompt.window[0][1])
    assert starts == ["Q0", *["Q5"] * 5, *["Q10"] * 5, "Q15"]


async def test_o4_w1_the_speakers_level_says_how_much_is_sent(house: House) -> None:
    bot = await house.bot()
    await set_level(house.kit, house.owner, bot.bot_id, Level.DETAILED)
    assert (await tell(house, "Next", bot_id=bot.bot_id, history=talk(39))).opened.dropped == 0
    await set_level(house.kit, house.owner, bot.bot_id, Level.KEY_EVENTS)
    assert (await tell(house, "Next", bot_id=bot.bot_id, history=talk(39))).opened.dropped == 54


async def test_o4_w5_w7_the_turn_before_stays_if_it_fits_and_a_message_that_cannot_fit_is_refused(
    house: House,
) -> None:
    small = house.with_context(2_000)
    told = await tell(small, "Next", history=talk(3, " word" * 300))
    assert (told.opened.dropped, [text[:2] for _, text in small.prompt.window]) == (4, ["Q2", "A2"])
    before = await rows(small)
    with pytest.raises(PromptTooLarge):
        await tell(small, "word " * 2_000)
    assert await rows(small) == before
    assert len(small.prompts) == 1


async def test_o4_commands_are_refused_in_the_policys_words(house: House) -> None:
    bot = await house.bot()
    before = await rows(house)
    for text in ("/remember likes tea", "/forget tea", "/memories", 'remember("a", "b")'):
        with pytest.raises(MemoryIsOff, match="anonymous or temporary, nothing of it is stored"):
            await tell(house, text, bot_id=bot.bot_id)
    assert await rows(house) == before
    assert house.prompts == []


async def test_o4_a_clients_own_words_tools_and_fields_go_on_untouched(house: House) -> None:
    tool = {"type": "function", "function": {"name": "weather", "parameters": {}}}
    await tell(
        house,
        "Hello",
        model="scripted",
        system=({"role": "system", "content": "Be brief.", "name": "app"},),
        tools=(tool,),
        fields={"temperature": 0.5},
        stream=False,
    )
    assert house.prompt.messages[0] == {"role": "system", "content": "Be brief.", "name": "app"}
    assert (house.prompt.wire["tools"], house.prompt.wire["temperature"]) == ([tool], 0.5)
    assert house.prompt.wire["stream"] is False


async def test_o4_what_cannot_be_answered_is_an_error_that_names_it(house: House) -> None:
    with pytest.raises(UnknownModel):
        await tell(house, "Hello", model="nobody")
    with pytest.raises(NoModel):
        await tell(house.with_model(ScriptedModel(models=())), "Hello")
    with pytest.raises(NotFound):
        await tell(house, "Hello", bot_id="bot_nobody")
    with pytest.raises(TextTooLong):
        await tell(house.with_limits(message_characters=5), "Hello there")
    with pytest.raises(UnusableText, match=r"history\.1\.text"):
        await tell(house, "Hello", history=((Role.USER, "Hi"), (Role.BOT, "half \ud800")))
    with pytest.raises(ModelBroken):
        await tell(house, "Hello", say(""))
    assert len(house.prompts) == 1


async def test_o4_closing_it_ends_the_call_upstream(house: House) -> None:
    before = await rows(house)
    house.model.script(Hang(after=("Well",)))
    async with aclosing(temporary_turn(house.kit, house.owner, TemporaryTurn(text="Hello"))) as events:
        async for event in events:
            if isinstance(event, Delta):
                break
    assert house.model.cancelled == 1
    assert await rows(house) == before


async def test_t6_it_is_answered_though_the_store_is_down_and_says_so(house: House) -> None:
    bot = await house.bot(system_prompt="You are Mira.")
    down = house.with_store(FailingStore(house.kit.store, "temporary.read", "temporary.calibration_read"))
    told = await tell(down, "Hello", say("Hi"), bot_id=bot.bot_id)
    assert (told.text, told.done.memory_unavailable) == ("Hi", True)
