"""V4: before a person adds a memory by hand they see what already says it; nothing is stored."""

from __future__ import annotations

import pytest

from souvenance.app.archive_memory import archive_memory
from souvenance.app.find_similar import find_similar
from souvenance.domain.bot import Preset
from souvenance.domain.ids import BotId
from souvenance.domain.memory import Scope
from souvenance.errors import NotFound, TextTooLong
from tests.flows.app.house import House

ONE_DATABASE = True


async def test_v4_equal_ones_come_first_then_those_alike_archived_ones_too(house: House) -> None:
    bot, other = await house.bot(), await house.bot("Ottilie")
    alike = await house.remember("Drinks green tea every morning")
    archived = await house.remember("green tea is best in the morning", Scope.of_bot(bot.bot_id))
    await archive_memory(house.kit, house.owner, archived.memory_id, archived=True)
    equal = await house.remember("Drinks green tea in the morning", Scope.of_bot(bot.bot_id))
    await house.remember("drinks green tea in the morning", Scope.of_bot(other.bot_id))
    await house.remember("afraid of the morning post", Scope.of_bot(bot.bot_id))
    before = await house.memories()
    found = await find_similar(house.kit, house.owner, "drinks green tea in the morning.", target=bot.bot_id)
    assert (found[0].view.memory.memory_id, found[0].equal) == (equal.memory_id, True)
    assert {one.view.memory.memory_id for one in found[1:]} == {alike.memory_id, archived.memory_id}
    assert [one.view.archived for one in found if one.view.memory.memory_id == archived.memory_id] == [True]
    assert not any(one.equal for one in found[1:])
    assert await house.memories() == before


async def test_v4_in_a_notebook_the_key_alone_is_identity_and_no_other_store_is_looked_at(house: House) -> None:
    bot = await house.bot(preset=Preset.NOTEBOOK)
    scope = Scope.of_bot(bot.bot_id)
    entry = await house.remember("Alice", scope, key="name")
    await house.remember("is called Renko")
    (found,) = await find_similar(house.kit, house.owner, "Renko", target=scope, key="name")
    assert (found.view.memory.memory_id, found.equal) == (entry.memory_id, True)


async def test_v4_what_could_not_be_stored_is_refused_here_too(house: House) -> None:
    with pytest.raises(TextTooLong, match=r"501 .* 500"):
        await find_similar(house.kit, house.owner, "x" * 501)
    with pytest.raises(NotFound):
        await find_similar(house.kit, house.owner, "tea", target=BotId("bot_nobody"))
