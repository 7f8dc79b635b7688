"""T6: a reply that was cut off is gone on with."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from souvenance.app.browse import read_turn
from souvenance.app.conversations import read_conversation
from souvenance.app.fork import fork
from souvenance.app.go_on import go_on
from souvenance.app.read_prompts import prompts_of_message
from souvenance.app.reopen_turn import AskedAgain
from souvenance.domain.conversation import Conversation, Message, MessageState, Role
from souvenance.domain.ids import TurnId
from souvenance.errors import ModelError, NotFound, NothingToContinue, NotLastTurn, TurnSuperseded
from souvenance.prompts.go_on import GO_ON
from souvenance.testing import EmptyReply, HalfStream, ScriptedModel, say
from tests.flows.app.house import House, Told, client
from tests.flows.app.test_regenerate import again, rest, turn_of

ONE_DATABASE = True


async def _cut_off(house: House, *chunks: str, text_calls: bool = False) -> tuple[Conversation, TurnId]:
    """A conversation whose only reply broke off after these chunks."""
    chat = await house.chat(await house.bot(settings={"text_calls": text_calls}))
    with pytest.raises(ModelError):
        await house.say(chat, "Tell me", HalfStream(chunks=chunks))
    (turn,) = await house.read(lambda unit: unit.turns.after(chat.conversation_id, -1))
    return chat, turn.turn_id


async def _go_on(house: House, turn_id: TurnId, *script: object) -> Told:
    house.model.script(*script)  # type: ignore[arg-type]
    async with aclosing(go_on(house.kit, house.owner, AskedAgain(turn_id=turn_id))) as events:
        return Told(events=tuple(await rest(events)))


async def _replies(house: House, turn_id: TurnId) -> list[Message]:
    _, messages = await read_turn(house.kit, house.owner, turn_id)
    return list(messages[1:])


async def test_t6_what_comes_is_added_to_the_same_message_which_is_whole_then(house: House) -> None:
    chat, turn_id = await _cut_off(house, "Once upon ", "a ti")
    (before,) = await _replies(house, turn_id)
    told = await _go_on(house, turn_id, say("me there was", " a fox."))
    assert told.text == "me there was a fox."
    (after,) = await _replies(house, turn_id)
    assert after.message_id == before.message_id
    assert (after.text, after.state) == ("Once upon a time there was a fox.", MessageState.WHOLE)
    assert told.stored == after
    assert after.tokens > before.tokens
    assert (await read_conversation(house.kit, house.owner, chat.conversation_id)).messages == 2
    assert len(await prompts_of_message(house.kit, house.owner, after.message_id)) == 2


async def test_t6_the_model_sees_what_it_said_and_a_note_to_go_on(house: House) -> None:
    _, turn_id = await _cut_off(house, "Once upon")
    await _go_on(house, turn_id, say(" a time"))
    assert [(m["role"], m["content"]) for m in house.prompt.messages[-3:]] == [
        ("user", "Tell me"),
        ("assistant", "Once upon"),
        ("user", GO_ON),
    ]


async def test_t6_the_writes_of_both_halves_hang_on_the_reply(house: House) -> None:
    _, turn_id = await _cut_off(house, 'Hi remember("name", "Renko") and', text_calls=True)
    await _go_on(house, turn_id, say(' so remember("age", "9") on'))
    assert await house.pairs() == {"name": "Renko", "age": "9"}
    (reply,) = await _replies(house, turn_id)
    assert (reply.text, reply.noted) == ("Hi and so on", 2)
    await again(house, turn_id, say("Well"))
    assert await house.pairs() == {}


async def test_t4_a_fork_of_the_first_half_holds_what_that_wrote_and_nothing_of_the_rest(house: House) -> None:
    _, turn_id = await _cut_off(house, 'Hi remember("name", "Renko") and', text_calls=True)
    (first_half,) = await _replies(house, turn_id)
    await fork(house.kit, house.owner, first_half.message_id)
    await _go_on(house, turn_id, say(' so remember("age", "9") on'))
    await again(house, turn_id, say("Well"))
    assert await house.pairs() == {"name": "Renko"}


async def test_t6_one_that_breaks_off_again_is_longer_by_what_came(house: House) -> None:
    _, turn_id = await _cut_off(house, "Once ")
    with pytest.raises(ModelError):
        await _go_on(house, turn_id, HalfStream(chunks=("upon ",)))
    (reply,) = await _replies(house, turn_id)
    assert (reply.text, reply.state) == ("Once upon ", MessageState.CUT_OFF)
    for nothing in (EmptyReply(), HalfStream(chunks=())):
        with pytest.raises(ModelError):
            await _go_on(house, turn_id, nothing)
    assert await _replies(house, turn_id) == [reply]
    await _go_on(house, turn_id, say("a time"))
    assert [m.text for m in await _replies(house, turn_id)] == ["Once upon a time"]


async def test_t6_a_whole_reply_and_an_earlier_one_are_not_gone_on_with(house: House) -> None:
    chat, turn_id = await _cut_off(house, "Once ")
    told = await house.say(chat, "Never mind")
    with pytest.raises(NotLastTurn):
        await _go_on(house, turn_id)
    with pytest.raises(NothingToContinue):
        await _go_on(house, turn_of(told))
    with pytest.raises(NotFound):
        await _go_on(house, TurnId("trn_nobody"))


async def test_t6_of_two_processes_that_go_on_at_once_one_is_stored(house: House) -> None:
    _, turn_id = await _cut_off(house, "Once ")
    other = house.with_model(ScriptedModel())
    house.model.script(say("upon a time"))
    async with aclosing(go_on(house.kit, house.owner, AskedAgain(turn_id=turn_id))) as events:
        await anext(events)
        await _go_on(other, turn_id, say("more"))
        with pytest.raises(TurnSuperseded):
            await rest(events)
    assert [m.text for m in await _replies(house, turn_id)] == ["Once more"]


async def test_t6_a_client_is_recognised_by_the_reply_as_it_is_then(house: House) -> None:
    bot = await house.bot()
    house.model.script(HalfStream(chunks=("Once",)))
    with pytest.raises(ModelError):
        await house.turn(client(bot), "Tell me")
    page = await house.read(lambda unit: unit.conversations.page(bot_id=bot.bot_id, before=None, limit=1))
    (turn,) = await house.read(lambda unit: unit.turns.after(page[0].conversation_id, -1))
    await _go_on(house, turn.turn_id, say(" more"))
    more = await house.turn(client(bot, history=[(Role.USER, "Tell me"), (Role.BOT, "Once more")]), "Thanks")
    assert more.conversation_id == page[0].conversation_id
