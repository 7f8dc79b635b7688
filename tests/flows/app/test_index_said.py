"""HOUSE 11, T6: what a user said is found once its turn settled, however that went, and is indexed once."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from souvenance.app.chat_turn import chat_turn
from souvenance.app.query_memories import Query, query_memories
from souvenance.app.turn import InConversation, TurnRequest
from souvenance.domain.conversation import Conversation
from souvenance.errors import ModelError
from souvenance.ports.memories import Kind
from souvenance.testing import say
from souvenance.testing.script import Fault
from tests.flows.app.house import House

ONE_DATABASE = True

KEEPER = "The lighthouse keeper is Odalric"


async def _found(house: House) -> list[str]:
    hits = await query_memories(house.kit, house.owner, Query(text="lighthouse keeper", messages=True))
    return [hit.message.text for hit in hits.messages]


async def _indexed(house: House) -> int:
    """How many messages the text index counts."""
    nothing = await house.read(
        lambda unit: unit.index.find_messages(["none"], conversation_id=None, leave_out=None, leave_out_from=0)
    )
    return nothing.items


async def _crash(house: House, chat: Conversation, text: str) -> None:
    """Leave a turn as a crash leaves it: the message is acknowledged, and the model was never asked."""
    request = TurnRequest(address=InConversation(conversation_id=chat.conversation_id), text=text)
    async with aclosing(chat_turn(house.kit, house.owner, request)) as events:
        await anext(events)


async def test_what_a_crash_left_unanswered_is_found_once_the_next_turn_settles(house: House) -> None:
    chat = await house.chat(await house.bot())
    await house.say(chat, "Hello", say("Hello yourself"))
    await _crash(house, chat, KEEPER)
    await _crash(house, chat, f"{KEEPER}, I say")
    await house.say(chat, "Are you there?", say("I am"))
    assert await _found(house) == [KEEPER, f"{KEEPER}, I say"]
    assert await _indexed(house) == 6


async def test_a_message_whose_reply_was_refused_is_found_and_indexed_once_when_it_is_answered(house: House) -> None:
    chat = await house.chat(await house.bot())
    with pytest.raises(ModelError):
        await house.say(chat, KEEPER, Fault(status=500), request_key="again")
    assert (await _found(house), await _indexed(house)) == ([KEEPER], 1)
    await house.say(chat, KEEPER, say("Good for him"), request_key="again")
    await house.say(chat, "And so on", say("Yes"))
    assert (await _found(house), await _indexed(house)) == ([KEEPER], 4)


async def test_a_message_that_waits_for_its_reply_is_not_indexed_yet(house: House) -> None:
    chat = await house.chat(await house.bot())
    await _crash(house, chat, KEEPER)
    message_id = (await house.read(lambda unit: unit.messages.from_position(chat.conversation_id, 0)))[0].message_id
    assert await house.read(lambda unit: unit.index.missing(Kind.MESSAGE, [message_id])) == {message_id}
