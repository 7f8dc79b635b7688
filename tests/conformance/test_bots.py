"""Bots, personas and levels on both databases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from souvenance.domain.bot import PRESETS, Preset
from souvenance.domain.ids import BotId, PersonaId
from souvenance.domain.limits import Level
from souvenance.errors import NameTaken, NotFound, StaleEdit
from souvenance.ports.store import Store, Unit
from tests.conformance import rows
from tests.conformance.rows import ALICE, BOB, each


async def test_a_bot_reads_back_as_it_was_written(store: Store) -> None:
    bot = rows.bot(
        preset=Preset.NOTEBOOK,
        settings=replace(PRESETS[Preset.NOTEBOOK], learn=False),
        system_prompt="Sei freundlich \x00 – 友好 '; DROP TABLE bots",
        model="llama3",
        enterprise=True,
    )
    await store.write(ALICE, lambda unit: unit.bots.put(bot), label="bot.made")
    assert await store.read(ALICE, lambda unit: unit.bots.get(bot.bot_id), label="bot.read") == bot


async def test_notebooks_are_told_from_other_bots(store: Store) -> None:
    bots = [rows.bot("bot_1", name="One"), rows.bot("bot_2", name="Two", preset=Preset.NOTEBOOK)]
    await store.write(ALICE, each(lambda unit: unit.bots.put, bots), label="bot.made")
    asked = [BotId("bot_1"), BotId("bot_2"), BotId("bot_3")]
    assert await store.read(ALICE, lambda unit: unit.bots.notebooks(asked), label="bot.read") == {"bot_2"}
    assert await store.read(BOB, lambda unit: unit.bots.notebooks(asked), label="bot.read") == set()


async def test_a_bot_is_found_by_its_name_after_folding(store: Store) -> None:
    bot = rows.bot(name="Élodie  Sørensen")
    await store.write(ALICE, lambda unit: unit.bots.put(bot), label="bot.made")
    assert await store.read(ALICE, lambda unit: unit.bots.find("elodie sørensen"), label="bot.found") == bot
    assert await store.read(ALICE, lambda unit: unit.bots.find("Elodie"), label="bot.found") is None
    assert await store.read(ALICE, lambda unit: unit.bots.find("\ud800"), label="bot.found") is None


async def test_a_name_is_taken_once_for_each_owner(store: Store) -> None:
    await store.write(ALICE, lambda unit: unit.bots.put(rows.bot(name="Ilse")), label="bot.made")
    await store.write(BOB, lambda unit: unit.bots.put(rows.bot(name="Ilse")), label="bot.made")
    with pytest.raises(NameTaken):
        await store.write(ALICE, lambda unit: unit.bots.put(rows.bot("bot_2", name="ILSE")), label="bot.made")
    with pytest.raises(NotFound):
        await store.read(ALICE, lambda unit: unit.bots.get(BotId("bot_2")), label="bot.read")


async def test_a_bot_may_be_renamed_to_its_own_name_but_not_to_another_s(store: Store) -> None:
    ilse, renko = rows.bot("bot_1", name="Ilse"), rows.bot("bot_2", name="Renko")
    await store.write(ALICE, each(lambda unit: unit.bots.put, [ilse, renko]), label="bot.made")
    louder = replace(ilse, name="ILSE", version=2)
    await store.write(ALICE, lambda unit: unit.bots.save(louder), label="bot.saved")
    assert await store.read(ALICE, lambda unit: unit.bots.get(ilse.bot_id), label="bot.read") == louder
    with pytest.raises(NameTaken):
        await store.write(ALICE, lambda unit: unit.bots.save(replace(renko, name="Ilse", version=2)), label="bot.saved")


async def test_an_edit_of_a_bot_that_has_changed_meanwhile_is_refused_with_both_names(store: Store) -> None:
    bot = rows.bot(name="Ilse")
    await store.write(ALICE, lambda unit: unit.bots.put(bot), label="bot.made")
    await store.write(ALICE, lambda unit: unit.bots.save(replace(bot, name="Inge", version=2)), label="bot.saved")
    with pytest.raises(StaleEdit) as refused:
        await store.write(ALICE, lambda unit: unit.bots.save(replace(bot, name="Ida", version=2)), label="bot.saved")
    assert (refused.value.details["theirs"], refused.value.details["yours"]) == ("Inge", "Ida")


async def test_a_bot_of_another_owner_is_not_found(store: Store) -> None:
    await store.write(ALICE, lambda unit: unit.bots.put(rows.bot()), label="bot.made")
    with pytest.raises(NotFound):
        await store.read(BOB, lambda unit: unit.bots.get(BotId("bot_1")), label="bot.read")
    with pytest.raises(NotFound):
        await store.write(BOB, lambda unit: unit.bots.save(rows.bot(version=2)), label="bot.saved")
    assert await store.read(BOB, lambda unit: unit.bots.page(after=None, limit=10), label="bot.listed") == []


async def test_bots_come_in_pages_in_the_order_of_their_ids(store: Store) -> None:
    made = [rows.bot(f"bot_{n}", name=f"Bot {n}") for n in range(5)]
    await store.write(ALICE, each(lambda unit: unit.bots.put, made[::-1]), label="bot.made")
    first = await store.read(ALICE, lambda unit: unit.bots.page(after=None, limit=2), label="bot.listed")
    rest = await store.read(ALICE, lambda unit: unit.bots.page(after=first[-1].bot_id, limit=9), label="bot.listed")
    assert first + rest == made


async def test_a_persona_is_kept_changed_and_deleted(store: Store) -> None:
    persona = rows.persona(description="Wears a red coat")
    await store.write(ALICE, lambda unit: unit.personas.put(persona), label="persona.made")
    changed = replace(persona, name="Admiral", version=2)
    await store.write(ALICE, lambda unit: unit.personas.save(changed), label="persona.saved")
    listed = await store.read(ALICE, lambda unit: unit.personas.page(after=None, limit=5), label="persona.listed")
    assert listed == [changed]
    with pytest.raises(StaleEdit):
        await store.write(ALICE, lambda unit: unit.personas.save(changed), label="persona.saved")
    with pytest.raises(NotFound):
        await store.write(BOB, lambda unit: unit.personas.delete(persona.persona_id), label="persona.deleted")
    await store.write(ALICE, lambda unit: unit.personas.delete(persona.persona_id), label="persona.deleted")
    with pytest.raises(NotFound):
        await store.read(ALICE, lambda unit: unit.personas.get(PersonaId("per_1")), label="persona.read")


async def test_the_level_is_kept_per_account_and_bot(store: Store) -> None:
    one, other = BotId("bot_1"), BotId("bot_2")
    await store.write(ALICE, lambda unit: unit.levels.set(one, Level.KEY_EVENTS), label="level.set")
    await store.write(ALICE, lambda unit: unit.levels.set(one, Level.DETAILED), label="level.set")
    await store.write(BOB, lambda unit: unit.levels.set(one, Level.BALANCED), label="level.set")
    levels = await store.read(ALICE, lambda unit: (unit.levels.get(one), unit.levels.get(other)), label="level.read")
    assert levels == (Level.DETAILED, None)


async def test_many_bots_come_in_the_order_asked_without_those_that_are_not_there(store: Store) -> None:
    bots = [rows.bot("bot_1", name="One"), rows.bot("bot_2", name="Two")]
    await store.write(ALICE, each(lambda unit: unit.bots.put, bots), label="bot.made")
    asked = [BotId("bot_2"), BotId("bot_3"), BotId("bot_1")]
    assert await store.read(ALICE, lambda unit: unit.bots.many(asked), label="bot.read") == bots[::-1]
    assert await store.read(BOB, lambda unit: unit.bots.many(asked), label="bot.read") == []


async def test_a_removed_bot_takes_its_level_with_it_and_frees_its_name(store: Store) -> None:
    def make(unit: Unit) -> None:
        unit.bots.put(rows.bot("bot_1", name="Ilse"))
        unit.levels.set(BotId("bot_1"), Level.DETAILED)

    for owner in (ALICE, BOB):
        await store.write(owner, make, label="bot.made")
    await store.write(ALICE, lambda unit: unit.bots.remove(BotId("bot_1")), label="bot.removed")
    assert await store.read(ALICE, lambda unit: unit.bots.find("Ilse"), label="bot.found") is None
    assert await store.read(ALICE, lambda unit: unit.levels.get(BotId("bot_1")), label="level.read") is None
    assert await store.read(BOB, lambda unit: unit.levels.get(BotId("bot_1")), label="level.read") is Level.DETAILED
