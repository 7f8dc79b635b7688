"""What a bot stored from words that are gone goes with them (T2, T7, D1, M14)."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from souvenance.app.choose_variant import choose_variant
from souvenance.app.delete_bot import Memories
from souvenance.app.delete_conversation import delete_conversation
from souvenance.app.delete_message import delete_message
from souvenance.app.edit_message import edit_message
from souvenance.app.fork import fork
from souvenance.app.regenerate import regenerate
from souvenance.app.reopen_turn import AskedAgain
from souvenance.app.rewind import rewind
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import TurnId
from souvenance.domain.memory import Scope
from souvenance.storage.schema import metadata
from souvenance.testing import say
from tests.flows.app.house import House, Told, called, calls


def remembers(text: str) -> tuple[object, object]:
    return calls(called("remember", "c1", text=text)), say("Noted.")


def turn_of(told: Told) -> TurnId:
    assert told.opened.turn is not None
    return told.opened.turn.turn_id


async def tables_with(house: House, word: str) -> list[str]:
    """The tables in any row of which this word stands."""

    def work(unit: object) -> list[str]:
        connection = unit._connection  # type: ignore[attr-defined]
        return [
            table.name
            for table in metadata.sorted_tables
            if any(word in str(tuple(row)) for row in connection.execute(select(table)))
        ]

    return await house.read(work)


async def take_back(house: House, chat: Conversation, how: str, first: Told, told: Told) -> None:
    kit, owner = house.kit, house.owner
    match how:
        case "rewound":
            await rewind(kit, owner, chat.conversation_id, after=turn_of(first))
        case "sent again":
            await house.say(chat, "I like dates.", replaces=turn_of(told))
        case "deleted":
            await delete_message(kit, owner, told.stored.message_id)
        case "edited":
            await edit_message(kit, owner, told.stored.message_id, "Never mind.")


@pytest.mark.parametrize("how", ["rewound", "sent again", "deleted", "edited"])
async def test_t7_what_was_drawn_from_words_that_are_gone_is_in_no_table(house: House, how: str) -> None:
    bot = await house.bot()
    chat, other = await house.chat(bot), await house.chat(bot)
    first = await house.say(chat, "Hello")
    told = await house.say(chat, "As I said.", *remembers("Likes zanzibarfigs"))
    await house.say(other, "What do I like?")
    assert "zanzibarfigs" in house.prompt.text
    assert {"memories", "operations", "epochs", "prompt_parts"} <= set(await tables_with(house, "zanzibarfigs"))
    await take_back(house, chat, how, first, told)
    assert await tables_with(house, "zanzibarfigs") == []
    gone = await delete_conversation(house.kit, house.owner, chat.conversation_id, memories=Memories.ERASE)
    assert (gone.erased, await tables_with(house, "zanzibarfigs")) == (0, [])


async def test_t2_what_a_fork_holds_stays_until_it_goes_too(house: House) -> None:
    bot = await house.bot()
    scope = Scope.of_bot(bot.bot_id)
    chat = await house.chat(bot)
    told = await house.say(chat, "As I said.", *remembers("Likes zanzibarfigs"))
    branch = await fork(house.kit, house.owner, told.stored.message_id)
    await rewind(house.kit, house.owner, chat.conversation_id)
    assert await house.texts(scope) == ["Likes zanzibarfigs"]
    await rewind(house.kit, house.owner, branch.conversation_id)
    assert await tables_with(house, "zanzibarfigs") == []


async def test_t2_the_words_of_a_later_turn_go_and_those_of_a_variant_that_may_return_stay(house: House) -> None:
    chat = await house.chat(await house.bot())
    first = await house.say(chat, "As I said.", *remembers("Likes tea"))
    house.model.script(say("Hm."))
    asked = AskedAgain(turn_id=turn_of(first))
    assert [event async for event in regenerate(house.kit, house.owner, asked)]
    assert await tables_with(house, "Likes tea") != []
    await house.say(chat, "And?", *remembers("Likes zanzibarfigs"))
    await rewind(house.kit, house.owner, chat.conversation_id, after=turn_of(first))
    assert await tables_with(house, "zanzibarfigs") == []
    assert "operations" in await tables_with(house, "Likes tea")
    await rewind(house.kit, house.owner, chat.conversation_id)
    assert await tables_with(house, "Likes tea") == []


async def test_t2_one_that_may_return_keeps_only_the_words_that_it_may_return_with(house: House) -> None:
    chat = await house.chat(await house.bot())
    kit, owner = house.kit, house.owner
    first = await house.say(chat, "As I said.", *remembers("Likes tea"))
    house.model.script(say("Hm."))
    assert [event async for event in regenerate(kit, owner, AskedAgain(turn_id=turn_of(first)))]
    await choose_variant(kit, owner, turn_of(first), part=1, variant=0)
    await house.say(chat, "No.", calls(called("update_memory", "c1", id=1, text="Likes zanzibarfigs")), say("Noted."))
    assert "memories" in await tables_with(house, "zanzibarfigs")
    await choose_variant(kit, owner, turn_of(first), part=1, variant=1)
    await rewind(kit, owner, chat.conversation_id, after=turn_of(first))
    assert {"memories", "operations"}.isdisjoint(await tables_with(house, "zanzibarfigs"))
    assert "memories" in await tables_with(house, "Likes tea")
