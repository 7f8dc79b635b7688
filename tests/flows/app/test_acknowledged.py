"""T6: what is committed when, replies that were cut off, requests that come twice, and a store that fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import pytest

from souvenance.app.browse import list_conversations, read_turn
from souvenance.app.chat_turn import chat_turn
from souvenance.app.conversations import NewConversation
from souvenance.app.turn import Delta, Done, InConversation, NewChat, Opened, TurnEvent, TurnRequest
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation, MessageState, Role, TurnState
from souvenance.errors import ModelBroken, ModelError, ModelRefused, StoreUnavailable, TurnSuperseded
from souvenance.testing import EmptyReply, Fault, HalfStream, Hang, ScriptedModel, Text, say
from tests.flows.app.house import House, Told, called, calls, client
from tests.flows.app.stores import FailingStore


async def _chat(house: House, **settings: bool) -> Conversation:
    return await house.chat(await house.bot(settings=settings))


@asynccontextmanager
async def _hanging(house: House, request: TurnRequest) -> AsyncIterator[list[TurnEvent]]:
    """A turn whose model hangs; at the end of the block the caller goes away."""
    events: list[TurnEvent] = []
    note = events.append

    async def listen() -> None:
        async with aclosing(chat_turn(house.kit, house.owner, request)) as coming:
            async for event in coming:
                note(event)

    task = asyncio.create_task(listen())
    await house.model.hanging.wait()
    try:
        yield events
    finally:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def _request(chat: Conversation, text: str, key: str = "") -> TurnRequest:
    return TurnRequest(address=InConversation(conversation_id=chat.conversation_id), text=text, request_key=key)


async def test_t6_the_users_message_is_committed_before_the_first_event_and_the_reply_before_the_last(
    house: House,
) -> None:
    chat = await _chat(house)
    store = FailingStore(house.kit.store)
    watched = house.with_store(store)
    committed: dict[type[TurnEvent], list[str]] = {}
    async with aclosing(chat_turn(watched.kit, house.owner, _request(chat, "Hello"))) as events:
        async for event in events:
            committed.setdefault(type(event), list(store.done))
            if isinstance(event, Opened):
                assert await house.said(chat.conversation_id) == [(Role.USER, "Hello")]
            if isinstance(event, Done):
                assert [role for role, _ in await house.said(chat.conversation_id)] == [Role.USER, Role.BOT]
    assert committed == {
        Opened: ["turn.opened"],
        Delta: ["turn.opened", "turn.gathered"],
        Done: ["turn.opened", "turn.gathered", "turn.settled"],
    }


async def test_a_turn_is_one_write_one_read_one_write(house: House) -> None:
    chat = await _chat(house)
    store = FailingStore(house.kit.store)
    await house.with_store(store).say(chat, "Hello")
    assert store.done == ["turn.opened", "turn.gathered", "turn.settled"]


async def test_t6_no_transaction_is_open_while_the_model_speaks(house: House) -> None:
    chat = await _chat(house)
    house.model.script(Hang(after=("Once ", "upon")))
    async with _hanging(house, _request(chat, "Tell me a story")):
        await house.remember("written meanwhile")
    assert await house.texts() == ["written meanwhile"]


async def test_t6_a_reply_whose_reader_leaves_is_kept_as_cut_off_and_the_model_is_told(house: House) -> None:
    chat = await _chat(house)
    house.model.script(Hang(after=("Once ", "upon")))
    async with _hanging(house, _request(chat, "Tell me a story")):
        pass
    assert house.model.cancelled == 1
    assert await house.said(chat.conversation_id) == [(Role.USER, "Tell me a story"), (Role.BOT, "Once upon")]
    await house.say(chat, "Go on")
    assert house.prompt.window == [("user", "Tell me a story"), ("assistant", "Once upon")]


async def test_t6_closing_the_turn_after_its_first_words_does_the_same(house: House) -> None:
    chat = await _chat(house)
    house.model.script(say("Once ", "upon ", "a time"))
    async with aclosing(chat_turn(house.kit, house.owner, _request(chat, "Tell me a story"))) as events:
        async for event in events:
            if isinstance(event, Delta):
                break
    assert house.model.cancelled == 1
    assert (await house.said(chat.conversation_id))[-1] == (Role.BOT, "Once ")


async def test_t6_complete_calls_of_a_reply_that_was_cut_off_count_and_half_ones_do_not(house: House) -> None:
    chat = await _chat(house, text_calls=True)
    house.model.script(Hang(after=('Hi remember("name", "Renko") and remember("age", "9',)))
    async with _hanging(house, _request(chat, "I am Renko, nine")):
        pass
    assert await house.pairs() == {"name": "Renko"}
    assert (await house.said(chat.conversation_id))[-1] == (Role.BOT, "Hi and")


async def test_t6_with_nothing_said_the_turn_stays_open_and_the_same_request_answers_it(house: House) -> None:
    chat = await _chat(house)
    house.model.script(Hang())
    async with _hanging(house, _request(chat, "Hello", "key")) as events:
        pass
    (opened,) = events
    assert isinstance(opened, Opened)
    assert opened.turn is not None
    turn, messages = await read_turn(house.kit, house.owner, opened.turn.turn_id)
    assert turn.state is TurnState.OPEN
    assert [message.text for message in messages] == ["Hello"]
    told = await house.say(chat, "Hello", say("Here I am"), request_key="key")
    assert told.done.turn is not None
    assert told.done.turn.turn_id == turn.turn_id
    assert await house.said(chat.conversation_id) == [(Role.USER, "Hello"), (Role.BOT, "Here I am")]


async def test_t6_a_reply_that_was_cut_off_is_answered_anew_by_the_same_request_and_its_writes_are_undone(
    house: House,
) -> None:
    chat = await _chat(house, text_calls=True)
    house.model.script(Hang(after=('Hi remember("name", "Wrong") there',)))
    async with _hanging(house, _request(chat, "Hello", "key")):
        pass
    assert await house.pairs() == {"name": "Wrong"}
    await house.say(chat, "Hello", say('Good day remember("age", "9")'), request_key="key")
    assert await house.said(chat.conversation_id) == [(Role.USER, "Hello"), (Role.BOT, "Good day")]
    assert await house.pairs() == {"age": "9"}
    await house.say(chat, "And?")
    assert house.prompt.window == [("user", "Hello"), ("assistant", "Good day")]


@pytest.mark.parametrize("fault", [HalfStream(chunks=("Half ", "a")), Fault(status=429), EmptyReply()])
async def test_t6_a_model_that_fails_leaves_the_turn_answerable(house: House, fault: HalfStream | Fault) -> None:
    chat = await _chat(house)
    with pytest.raises(ModelError):
        await house.say(chat, "Hello", fault, request_key="key")
    kept = [(Role.BOT, "Half a")] if isinstance(fault, HalfStream) else []
    assert await house.said(chat.conversation_id) == [(Role.USER, "Hello"), *kept]
    told = await house.say(chat, "Hello", say("Whole"), request_key="key")
    assert told.stored.state is MessageState.WHOLE
    assert await house.said(chat.conversation_id) == [(Role.USER, "Hello"), (Role.BOT, "Whole")]


async def test_an_upstreams_refusal_comes_through_with_its_own_words(house: House) -> None:
    chat = await _chat(house)
    with pytest.raises(ModelRefused) as refused:
        await house.say(chat, "Hello", Fault(status=429, body=b'{"error":"slow down"}'))
    assert (refused.value.status, refused.value.body) == (429, b'{"error":"slow down"}')


async def test_t6_the_same_request_key_twice_is_one_turn_with_the_same_reply(house: House) -> None:
    chat = await _chat(house)
    first = await house.say(chat, "Hello", say("Good ", "day"), request_key="key")
    second = await house.say(chat, "Hello", request_key="key")
    assert second.text == first.text == "Good day"
    assert second.stored == first.stored
    assert len(house.prompts) == 1
    assert len(await house.said(chat.conversation_id)) == 2


async def test_t6_the_same_request_key_twice_at_once_is_one_turn_with_the_same_reply(house: House) -> None:
    chat = await _chat(house)
    told = await asyncio.gather(*(house.say(chat, "Hello", request_key="key") for _ in range(5)))
    assert {one.text for one in told} == {"You said: Hello"}
    assert len({one.stored.message_id for one in told}) == 1
    assert len(house.prompts) == 1
    assert len(await house.said(chat.conversation_id)) == 2


async def test_t6_a_new_chat_with_the_same_request_key_is_opened_once(house: House) -> None:
    bot = await house.bot()
    told = [one for one in await _open_twice(house, house, bot) if isinstance(one, Told)]
    assert len(told) == 2
    assert len({one.conversation_id for one in told}) == 1
    assert len((await list_conversations(house.kit, house.owner)).items) == 1


async def test_t6_a_new_chat_with_the_same_request_key_in_two_processes_at_once_is_opened_once(house: House) -> None:
    bot = await house.bot()
    other = house.with_model(ScriptedModel())
    results = await _open_twice(house, other, bot)
    assert any(isinstance(one, Told) for one in results)
    assert all(isinstance(one, Told | TurnSuperseded) for one in results)
    (conversation,) = (await list_conversations(house.kit, house.owner)).items
    assert [role for role, _ in await house.said(conversation.conversation_id)] == [Role.USER, Role.BOT]


async def _open_twice(one: House, other: House, bot: Bot) -> list[Told | BaseException]:
    address = NewChat(conversation=NewConversation(bot_id=bot.bot_id))
    turns = (house.turn(address, "Hello", request_key="key") for house in (one, other))
    return list(await asyncio.gather(*turns, return_exceptions=True))


async def test_t6_of_two_attempts_in_two_processes_the_older_is_superseded_and_nothing_is_doubled(
    house: House,
) -> None:
    chat = await _chat(house, text_calls=True)
    other = house.with_model(ScriptedModel(say('The newer remember("by", "newer")')))
    house.model.script(Hang(after=('The older remember("by", "older")',)))
    older = asyncio.create_task(house.say(chat, "Hello", request_key="key"))
    await house.model.hanging.wait()
    newer = await other.say(chat, "Hello", request_key="key")
    house.model.released.set()
    with pytest.raises(TurnSuperseded):
        await older
    assert newer.text == "The newer"
    assert await house.said(chat.conversation_id) == [(Role.USER, "Hello"), (Role.BOT, "The newer")]
    assert await house.pairs() == {"by": "newer"}


async def test_t6_an_older_attempt_whose_reader_leaves_keeps_nothing_once_it_is_superseded(house: House) -> None:
    chat = await _chat(house)
    other = house.with_model(ScriptedModel(say("The newer")))
    house.model.script(Hang(after=("The older",)))
    async with _hanging(house, _request(chat, "Hello", "key")):
        await other.say(chat, "Hello", request_key="key")
    assert await house.said(chat.conversation_id) == [(Role.USER, "Hello"), (Role.BOT, "The newer")]


async def test_two_messages_to_one_conversation_at_once_are_answered_one_after_the_other(house: House) -> None:
    chat = await _chat(house)
    await asyncio.gather(*(house.say(chat, f"message {number}") for number in range(4)))
    said = await house.said(chat.conversation_id)
    assert [role for role, _ in said] == [Role.USER, Role.BOT] * 4
    assert all(answer == f"You said: {asked}" for (_, asked), (_, answer) in zip(said[::2], said[1::2], strict=True))


async def test_two_processes_on_one_conversation_lose_no_message(house: House) -> None:
    chat = await _chat(house)
    houses = [house, house.with_model(ScriptedModel())]
    await asyncio.gather(*(one.say(chat, f"message {n} of {at}") for n in range(4) for at, one in enumerate(houses)))
    said = await house.said(chat.conversation_id)
    assert len(said) == len(set(said)) == 16


@pytest.mark.parametrize("unit", ["turn.opened", "turn.gathered", "turn.settled"])
async def test_t6_a_store_that_fails_costs_the_memory_not_the_chat(house: House, unit: str) -> None:
    chat = await house.chat(await house.bot())
    broken = house.with_store(FailingStore(house.kit.store, unit))
    told = await broken.say(chat, "Hello", say("Good ", "day"))
    assert told.text == "Good day"
    assert told.done.memory_unavailable
    assert told.done.message is None
    assert broken.prompt.newest == "Hello"
    expected = [] if unit == "turn.opened" else [(Role.USER, "Hello")]
    assert await house.said(chat.conversation_id) == expected


@pytest.mark.parametrize("unit", ["turn.opened", "turn.gathered"])
async def test_t6_without_memory_the_client_s_own_history_system_and_tools_still_go_along(
    house: House, unit: str
) -> None:
    bot = await house.bot()
    tool = {"type": "function", "function": {"name": "weather", "description": "", "parameters": {}}}
    broken = house.with_store(FailingStore(house.kit.store, unit))
    history = [(Role.USER, "One"), (Role.BOT, "Two")]
    told = await broken.turn(
        client(bot, history=history),
        "Three",
        system=({"role": "system", "content": "Be brief."},),
        tools=(tool,),
        fields={"temperature": 0.5},
    )
    assert told.done.memory_unavailable
    assert [one["content"] for one in house.prompt.messages] == ["Be brief.", "One", "Two", "Three"]
    assert house.prompt.tools == ["weather"]
    assert house.prompt.wire["temperature"] == 0.5


async def test_t6_when_only_reading_fails_the_bot_still_speaks_as_itself(house: House) -> None:
    """What the first write brought back is at hand: the bot's words and its model."""
    bot = await house.bot(system_prompt="You are a pirate.")
    broken = house.with_store(FailingStore(house.kit.store, "turn.gathered"))
    await broken.say(await house.chat(bot), "Hello")
    assert house.prompt.system == "You are a pirate."


async def test_t6_after_a_failed_settling_the_same_request_answers_the_turn(house: House) -> None:
    chat = await _chat(house)
    store = FailingStore(house.kit.store, "turn.settled")
    broken = house.with_store(store)
    await broken.say(chat, "Hello", say("Lost"), request_key="key")
    store.fails.clear()
    told = await broken.say(chat, "Hello", say("Kept"), request_key="key")
    assert not told.done.memory_unavailable
    assert await house.said(chat.conversation_id) == [(Role.USER, "Hello"), (Role.BOT, "Kept")]


async def test_t6_a_tool_whose_memory_fails_tells_the_model_and_the_reply_comes(house: House) -> None:
    chat = await _chat(house)
    broken = house.with_store(FailingStore(house.kit.store, "memories.queried"))
    told = await broken.say(chat, "What do I drink?", calls(called("memory_query", text="tea")), say("I do not know"))
    assert told.text == "I do not know"
    assert "unavailable" in house.prompt.messages[-1]["content"]
    assert not told.done.memory_unavailable


async def test_t6_a_model_that_breaks_while_the_store_fails_is_told_as_the_models_fault(house: House) -> None:
    chat = await _chat(house)
    broken = house.with_store(FailingStore(house.kit.store, "turn.settled"))
    with pytest.raises(ModelBroken):
        await broken.say(chat, "Hello", HalfStream(chunks=("Half",)))


async def test_a_store_that_fails_with_no_model_to_answer_is_told(house: House) -> None:
    chat = await _chat(house)
    bare = house.with_model(ScriptedModel(models=())).with_store(FailingStore(house.kit.store, "turn.opened"))
    with pytest.raises(StoreUnavailable):
        await bare.say(chat, "Hello")


async def test_a_length_finish_is_passed_on(house: House) -> None:
    told = await house.say(await _chat(house), "Hello", Text(chunks=("Long",), finish="length"))
    assert told.done.finish == "length"


async def test_nothing_of_a_locks_name_stays_behind(house: House) -> None:
    chat = await _chat(house)
    await asyncio.gather(*(house.say(chat, f"message {number}") for number in range(3)))
    assert replace(house.kit).busy is house.kit.busy
    assert vars(house.kit.busy) == {"_locks": {}}
