from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from souvenance.app.choose_variant import choose_variant
from souvenance.app.conversations import read_conversation
from souvenance.app.delete_bot import Memories
from souvenance.app.delete_conversation import delete_conversation
from souvenance.app.fork import fork
from souvenance.app.rewind import rewind
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import ConversationId, OwnerId
from souvenance.domain.memory import Scope
from souvenance.errors import NotFound
from souvenance.storage.schema import metadata
from souvenance.testing import say
from tests.flows.app.house import House, called, calls
from tests.flows.app.test_fork import keep_for_session
from tests.flows.app.test_regenerate import again


def remembers(text: str) -> tuple[object, object]:
    return calls(called("remember", "c1", text=text)), say("Noted.")


async def rows_of(house: House, chat: Conversation) -> dict[str, int]:
    """How many rows of each table name this conversation."""

    def work(unit: object) -> dict[str, int]:
        connection = unit._connection  # type: ignore[attr-defined]
        tables = [table for table in metadata.sorted_tables if "conversation_id" in table.c]
        return {
            table.name: connection.execute(
                text(f"SELECT count(*) FROM {table.name} WHERE conversation_id = :id"), {"id": chat.conversation_id}
            ).scalar_one()
            for table in tables
        }

    return await house.read(work)


def files_with(marker: str, where: Path | str) -> list[str]:
    """The names of the files of the data folder that hold these bytes; of a database elsewhere, none."""
    files = where.rglob("*") if isinstance(where, Path) else ()
    return [path.name for path in files if path.is_file() and marker.encode() in path.read_bytes()]


async def test_d1_a_deleted_conversation_is_gone_and_its_memories_stand_on_their_own(house: House) -> None:
    bot = await house.bot()
    scope = Scope.of_bot(bot.bot_id)
    chat = await house.chat(bot)
    told = await house.say(chat, "I like figs.", *remembers("Likes figs"))
    branch = await fork(house.kit, house.owner, told.stored.message_id)
    await house.say(branch, "And kites.", *remembers("Likes kites"))
    for one in (chat, branch):
        await delete_conversation(house.kit, house.owner, one.conversation_id)
        with pytest.raises(NotFound):
            await read_conversation(house.kit, house.owner, one.conversation_id)
    kept = await house.memories(scope)
    assert [memory.text for memory in kept] == ["Likes figs", "Likes kites"]
    journal = await house.read(lambda unit: unit.journal.of_memories([memory.memory_id for memory in kept]))
    assert [one.causes for done in journal.values() for one in done] == [(), ()]


async def test_t4_what_was_taken_back_stays_taken_back_when_its_last_holder_is_deleted(house: House) -> None:
    bot = await house.bot()
    scope = Scope.of_bot(bot.bot_id)
    chat = await house.chat(bot)
    told = await house.say(chat, "I like figs.", *remembers("Likes figs"))
    branch = await fork(house.kit, house.owner, told.stored.message_id)
    await delete_conversation(house.kit, house.owner, chat.conversation_id)
    assert await house.texts(scope) == ["Likes figs"]
    await rewind(house.kit, house.owner, branch.conversation_id)
    assert await house.texts(scope) == []
    await delete_conversation(house.kit, house.owner, branch.conversation_id)
    assert await house.texts(scope) == []


async def test_d1_erase_takes_what_was_drawn_from_nothing_else(house: House) -> None:
    bot = await house.bot()
    scope = Scope.of_bot(bot.bot_id)
    chat, other = await house.chat(bot), await house.chat(bot)
    await house.say(chat, "I like figs.", *remembers("Likes figs"))
    await house.say(chat, "I like kites.", *remembers("Likes kites"))
    told = await house.say(chat, "I like tea.", *remembers("Likes tea"))
    await house.say(other, "Kites, as I said.", *remembers("Likes kites"))
    await house.remember("Likes tea", scope)
    await house.say(chat, "I like owls.", *remembers("Likes owls"))
    branch = await fork(house.kit, house.owner, told.stored.message_id)
    await house.say(branch, "Hm.")

    gone = await delete_conversation(house.kit, house.owner, chat.conversation_id, memories=Memories.ERASE)

    assert gone.erased == 1
    assert await house.texts(scope) == ["Likes figs", "Likes kites", "Likes tea"]
    stones = await house.read(lambda unit: unit.erasures.tombstones(text="likes owls", key=None))
    assert [stone.scope for stone in stones] == [scope]
    await delete_conversation(house.kit, house.owner, branch.conversation_id, memories=Memories.ERASE)
    assert await house.texts(scope) == ["Likes kites", "Likes tea"]


async def test_m1_session_memory_ends_with_its_conversation_and_a_fork_keeps_its_own(house: House) -> None:
    chat = await house.chat(await house.bot())
    told = await house.say(chat, "We play chess.")
    kept = await keep_for_session(house, chat, told, "They play chess")
    branch = await fork(house.kit, house.owner, told.stored.message_id)
    gone = await delete_conversation(house.kit, house.owner, chat.conversation_id)
    assert gone.erased == 1
    assert await house.read(lambda unit: unit.journal.of_memory(kept.memory_id)) == []
    assert await house.texts(Scope.of_conversation(branch.conversation_id)) == ["They play chess"]
    assert await house.read(lambda unit: unit.erasures.tombstones(text="They play chess", key=None)) == []


async def test_d1_no_row_and_no_byte_of_a_deleted_conversation_is_left(house: House, where: Path | str) -> None:
    marker = "zanzibarquokka"
    bot = await house.bot()
    chat, other = await house.chat(bot), await house.chat(bot)
    told = await house.say(chat, f"{marker}!")
    for n in range(5):
        await house.say(chat, f"{marker} at the lighthouse {n}", *remembers(f"A lighthouse of {marker} {n}"))
    await keep_for_session(house, chat, told, f"Session of {marker}")
    await house.say(other, "What of it?", calls(called("memory_query", "c1", query="lighthouse")), say("Nothing."))
    assert marker in house.prompt.text
    assert files_with(marker, where) or isinstance(where, str)
    await delete_conversation(house.kit, house.owner, chat.conversation_id, memories=Memories.ERASE)
    left = await rows_of(house, chat)
    assert {name: count for name, count in left.items() if count and name != "evidence"} == {}
    assert files_with(marker, where) == []


async def test_d1_nobody_deletes_what_is_not_theirs(house: House) -> None:
    chat = await house.chat(await house.bot())
    await house.say(chat, "Hello")
    for owner, conversation_id in (
        (OwnerId("own_other"), chat.conversation_id),
        (house.owner, ConversationId("cnv_none")),
    ):
        with pytest.raises(NotFound):
            await delete_conversation(house.kit, owner, conversation_id)
    assert len(await house.said(chat.conversation_id)) == 2


async def test_t3_erase_lets_nothing_stand_that_a_fork_holds_as_a_reply_it_has_not_chosen(house: House) -> None:
    bot = await house.bot()
    scope = Scope.of_bot(bot.bot_id)
    chat = await house.chat(bot)
    told = await house.say(chat, "I like something", *remembers("Likes tea"))
    branch = await fork(house.kit, house.owner, told.stored.message_id)
    turn = await house.read(lambda unit: unit.turns.last(branch.conversation_id))
    assert turn is not None
    await again(house, turn.turn_id, *remembers("Likes rum"))
    assert await house.texts(scope) == ["Likes tea", "Likes rum"]
    await delete_conversation(house.kit, house.owner, chat.conversation_id, memories=Memories.ERASE)
    assert await house.texts(scope) == ["Likes rum"]
    await choose_variant(house.kit, house.owner, turn.turn_id, part=1, variant=0)
    assert await house.texts(scope) == ["Likes tea"]
