"""What a person erased is in no file, however often pages of the database were split and joined meanwhile (M14)."""

from __future__ import annotations

from pathlib import Path

from souvenance.app.erase import erase_memories
from souvenance.app.purge_ended import purge_ended
from souvenance.domain.memory import ACCOUNT_SCOPE, Scope
from souvenance.storage.sqlite import SqliteStore
from tests.flows.app.house import House

_MANY = 60


async def test_m14_of_dozens_of_erased_memories_no_file_holds_a_word(house: House, where: Path | str) -> None:
    bot = await house.bot()
    chat = await house.chat(bot)
    words = [f"QX{number:03}ZEPHYR{number * 7919:06}" for number in range(_MANY)]
    ids = []
    for number, word in enumerate(words):
        scope = Scope.of_bot(bot.bot_id) if number % 2 else ACCOUNT_SCOPE
        ids.append((await house.remember(f"the secret number {number} is {word}", scope)).memory_id)
        if number % 3 == 0:
            await house.say(chat, f"and so on {number}")
    await erase_memories(house.kit, house.owner, ids)
    await house.say(chat, "go on")
    house.clock.advance(seconds=11)
    assert await purge_ended(house.kit) == _MANY
    await house.say(chat, "go on again")
    if isinstance(where, Path):
        assert _held(where, words) == []
        assert isinstance(house.kit.store, SqliteStore)
        assert await house.kit.store.scrub(deleted=False)


def _held(folder: Path, words: list[str]) -> list[str]:
    """Those of the words that stand in any file of the folder."""
    held = b"".join(file.read_bytes() for file in folder.iterdir())
    return [word for word in words if word.encode() in held]
