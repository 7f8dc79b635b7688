"""The tools of the client's own beside those of memory (I3)."""

from __future__ import annotations

from typing import Any

import pytest

from souvenance.app.browse import read_turn
from souvenance.app.chat_turn import acknowledge
from souvenance.domain.conversation import Role, TurnState
from souvenance.errors import ModelBroken
from souvenance.testing import Call, HalfStream, say
from tests.flows.app.house import House, Told, called, calls, client

ONE_DATABASE = True

OURS = ["remember", "update_memory", "forget", "memory_query"]
WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {"name": "weather", "description": "The weather.", "parameters": {"type": "object", "properties": {}}},
}


async def test_i3_the_clients_own_tools_go_along_with_ours_and_come_back_to_it(house: House) -> None:
    bot = await house.bot()
    told = await _ask_weather(house, bot)
    assert house.prompt.tools == ["weather", *OURS]
    assert told.passed == ["weather"]
    assert told.done.finish == "tool_calls"
    assert told.done.turn is not None
    assert told.done.turn.state is TurnState.OPEN


async def _ask_weather(house: House, bot: Any, *more: Call) -> Told:
    house.model.script(calls(called("weather", "call_w"), *more, text=["I look. "]))
    return await house.turn(client(bot), "What is the weather?", tools=(WEATHER,), request_hash="first")


def _tail() -> tuple[dict[str, Any], ...]:
    asked = {
        "role": "assistant",
        "content": "I look. ",
        "tool_calls": [{"id": "call_w", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
    }
    return (asked, {"role": "tool", "tool_call_id": "call_w", "content": "rain"})


async def test_i3_the_results_of_the_clients_tools_go_on_with_the_same_turn(house: House) -> None:
    bot = await house.bot()
    first = await _ask_weather(house, bot)
    assert first.done.turn is not None
    await acknowledge(house.kit, house.owner, first.done.turn.turn_id)
    house.model.script(say("It rains."))
    told = await house.turn(client(bot), "What is the weather?", tools=(WEATHER,), tail=_tail(), request_hash="second")
    assert told.done.turn is not None
    assert told.done.turn.turn_id == first.done.turn.turn_id
    assert told.done.turn.state is TurnState.WHOLE
    assert house.prompt.messages[-2:] == list(_tail())
    assert await house.said(told.conversation_id) == [
        (Role.USER, "What is the weather?"),
        (Role.BOT, "I look. "),
        (Role.BOT, "It rains."),
    ]
    history = [(Role.USER, "What is the weather?"), (Role.BOT, "I look. "), (Role.BOT, "It rains.")]
    await acknowledge(house.kit, house.owner, told.done.turn.turn_id)
    third = await house.turn(client(bot, history=history), "Thank you", request_hash="third")
    assert third.conversation_id == told.conversation_id


async def test_i3_the_request_for_the_clients_tools_sent_again_is_answered_anew_and_nothing_is_doubled(
    house: House,
) -> None:
    bot = await house.bot()
    remembers = called("remember", "call_m", text="asks for the weather")
    first = await _ask_weather(house, bot, remembers)
    second = await _ask_weather(house, bot, remembers)
    assert second.conversation_id == first.conversation_id
    assert await house.said(first.conversation_id) == [(Role.USER, "What is the weather?"), (Role.BOT, "I look. ")]
    (memory,) = await house.memories()
    assert len(await house.sources(memory)) == 1


async def test_i3_the_results_sent_again_get_the_same_answer(house: House) -> None:
    bot = await house.bot()
    first = await _ask_weather(house, bot)
    house.model.script(say("It rains."))
    for _ in range(2):
        told = await house.turn(client(bot), "What is the weather?", tools=(WEATHER,), tail=_tail())
        assert told.text == "It rains."
    assert len(house.prompts) == 2
    assert len(await house.said(first.conversation_id)) == 3


async def test_i3_an_answer_to_results_that_was_cut_off_leaves_what_was_said_before_them(house: House) -> None:
    bot = await house.bot()
    first = await _ask_weather(house, bot)
    house.model.script(HalfStream(chunks=("It ra",)), say("It rains."))
    with pytest.raises(ModelBroken):
        await house.turn(client(bot), "What is the weather?", tools=(WEATHER,), tail=_tail())
    told = await house.turn(client(bot), "What is the weather?", tools=(WEATHER,), tail=_tail())
    said = [(Role.USER, "What is the weather?"), (Role.BOT, "I look. "), (Role.BOT, "It rains.")]
    assert await house.said(first.conversation_id) == said
    assert told.done.turn is not None
    await acknowledge(house.kit, house.owner, told.done.turn.turn_id)
    third = await house.turn(client(bot, history=said), "Thank you", request_hash="third")
    assert third.conversation_id == first.conversation_id


async def test_i3_the_results_go_on_in_a_conversation_that_the_client_named(house: House) -> None:
    bot = await house.bot()
    house.model.script(calls(called("weather", "call_w"), text=["I look. "]), say("It rains."))
    first = await house.turn(client(bot, ref="chat"), "What is the weather?", tools=(WEATHER,))
    assert first.done.turn is not None
    await acknowledge(house.kit, house.owner, first.done.turn.turn_id)
    await house.turn(client(bot, ref="chat"), "What is the weather?", tools=(WEATHER,), tail=_tail())
    said = await house.said(first.conversation_id)
    assert [role for role, _ in said] == [Role.USER, Role.BOT, Role.BOT]


async def test_i3_beside_a_clients_call_ours_is_carried_out_and_hidden(house: House) -> None:
    bot = await house.bot()
    told = await _ask_weather(house, bot, called("remember", "call_m", text="asks for the weather"))
    assert told.passed == ["weather"]
    assert told.kinds == ["remembered"]
    assert await house.texts() == ["asks for the weather"]
    turn, _ = await read_turn(house.kit, house.owner, told.done.turn.turn_id)  # type: ignore[union-attr]
    assert turn.state is TurnState.OPEN


async def test_i3_a_clients_tool_of_the_same_name_as_ours_is_the_clients(house: House) -> None:
    bot = await house.bot()
    theirs = {"type": "function", "function": {"name": "remember", "description": "Mine.", "parameters": {}}}
    house.model.script(calls(called("remember", text="something")))
    told = await house.turn(client(bot), "Hello", tools=(theirs,), request_hash="first")
    assert house.prompt.tools == ["remember", "update_memory", "forget", "memory_query"]
    assert told.passed == ["remember"]
    assert await house.texts() == []
