"""What was erased or deleted while something else was under way stands in no table afterwards (M14, D1, T7)."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import select

from souvenance.app.browse import read_turn
from souvenance.app.delete_bot import Memories, delete_bot
from souvenance.app.delete_conversation import delete_conversation
from souvenance.app.delete_message import delete_message
from souvenance.app.draft_memories import Description, draft_memories
from souvenance.app.edit_message import edit_message
from souvenance.app.erase import erase_memories
from souvenance.app.purge_ended import purge_ended
from souvenance.app.rewind import rewind
from souvenance.app.save_from_conversation import How, Selection, draft_from_messages
from souvenance.domain.bot import Preset
from souvenance.domain.memory import Scope
from souvenance.errors import Conflict, ModelError
from souvenance.storage.schema import metadata
from souvenance.testing import HalfStream, Hang, say
from souvenance.testing.script import Reply
from tests.flows.app.house import House, called, calls
from tests.flows.app.test_drafts import written
from tests.flows.app.test_regenerate import again, turn_of

MARKER = "zanzibarquokka"


async def tables_with(house: House, marker: str = MARKER) -> list[str]:
    """The tables of which a row holds these words."""

    def work(unit: object) -> list[str]:
        connection = unit._connection  # type: ignore[attr-defined]
        rows = {table.name: connection.execute(select(table)).all() for table in metadata.sorted_tables}
        return [name for name, found in rows.items() if marker in " ".join(map(_readable, found))]

    return await house.read(work)


def _readable(row: object) -> str:
    values: list[object] = list(row)  # type: ignore[call-overload]
    return " ".join(value.decode(errors="replace") if isinstance(value, bytes) else str(value) for value in values)


def _remembers(text: str = f"Has a {MARKER}") -> tuple[Reply, ...]:
    return calls(called("remember", "one", text=text)), say("Noted.")


async def test_m14_a_notebook_erased_while_it_speaks_leaves_no_word_in_what_was_sent(house: House) -> None:
    bot = await house.bot("Notes", preset=Preset.NOTEBOOK)
    await house.remember(MARKER, Scope.of_bot(bot.bot_id), key="animal")
    turn = asyncio.create_task(house.say(await house.chat(bot), "Hello", Hang(after=("Well",))))
    await house.model.hanging.wait()
    assert MARKER in house.prompt.text
    await delete_bot(house.kit, house.owner, bot.bot_id, memories=Memories.ERASE)
    house.model.released.set()
    assert (await turn).stored.text == "Well"
    assert await tables_with(house) == []


@pytest.mark.parametrize("undone", ["rewound", "edited", "asked again"])
async def test_d1_erase_takes_what_was_taken_back_before_too(house: House, undone: str) -> None:
    chat = await house.chat(await house.bot())
    first = await house.say(chat, "Hello")
    told = await house.say(chat, "Guess", *_remembers())
    if undone == "rewound":
        await rewind(house.kit, house.owner, chat.conversation_id, after=turn_of(first))
    elif undone == "edited":
        await edit_message(house.kit, house.owner, told.stored.message_id, "Something else.")
    else:
        await again(house, turn_of(told), say("Something else."))
    assert ("memories" in await tables_with(house)) == (undone == "asked again"), "a variant may be chosen again"
    await delete_conversation(house.kit, house.owner, chat.conversation_id, memories=Memories.ERASE)
    assert await tables_with(house) == []


async def test_d1_erase_takes_the_drafts_that_say_what_it_takes(house: House) -> None:
    bot = await house.bot()
    chat = await house.chat(bot)
    await house.say(chat, "Guess", *_remembers())
    house.model.script(written(f"Has a {MARKER}"))
    await draft_memories(house.kit, house.owner, Description(text="which animal", target=bot.bot_id))
    await delete_conversation(house.kit, house.owner, chat.conversation_id, memories=Memories.ERASE)
    assert await tables_with(house) == []


async def test_v2_a_text_call_beside_a_tool_call_is_in_no_later_round_and_goes_with_its_memory(house: House) -> None:
    chat = await house.chat(await house.bot("Notes", preset=Preset.NOTEBOOK))
    both = calls(called("remember", "one", key="a", value="b"), text=("Well,", f'remember("animal", "{MARKER}")'))
    told = await house.say(chat, "Guess", both, say("yes."))
    assert told.text == "Well,yes."
    assert [one["content"] for one in house.prompt.messages if one["role"] == "assistant"] == ["Well,"]
    memories = await house.memories()
    assert [memory.key for memory in memories] == ["animal", "a"]
    await erase_memories(house.kit, house.owner, [memory.memory_id for memory in memories])
    house.clock.advance(seconds=11)
    await purge_ended(house.kit)
    assert await tables_with(house) == []


@pytest.mark.parametrize("edited", [False, True])
async def test_t7_no_draft_is_kept_of_a_message_that_was_changed_while_a_model_drafted(
    house: House, edited: bool
) -> None:
    told = await house.say(await house.chat(await house.bot()), MARKER, say("I see."))
    assert told.opened.message is not None
    message_id = told.opened.message.message_id
    house.model.script(Hang(after=('{"memories": [', f'{{"text": "Has a {MARKER}"}}]}}')))
    selection = Selection(message_ids=(message_id,), how=How.DRAFT)
    drafting = asyncio.create_task(draft_from_messages(house.kit, house.owner, selection))
    await house.model.hanging.wait()
    if edited:
        await edit_message(house.kit, house.owner, message_id, "Never mind")
    else:
        await delete_message(house.kit, house.owner, message_id)
    house.model.released.set()
    with pytest.raises(Conflict, match=message_id):
        await drafting
    assert "drafts" not in await tables_with(house)


async def test_t7_what_was_sent_for_a_turn_goes_with_its_last_message(house: House) -> None:
    chat = await house.chat(await house.bot())
    with pytest.raises(ModelError):
        await house.say(chat, MARKER, HalfStream(chunks=()))
    turn = await house.read(lambda unit: unit.turns.last(chat.conversation_id))
    assert turn is not None
    _, (message,) = await read_turn(house.kit, house.owner, turn.turn_id)
    await delete_message(house.kit, house.owner, message.message_id)
    assert await house.read(lambda unit: unit.prompts.of_conversation(chat.conversation_id, limit=9)) == []
    assert await tables_with(house, turn.turn_id) == []
