"""I3: which conversation a client means that only re-sends its history."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from souvenance.app.browse import list_conversations
from souvenance.app.chat_turn import acknowledge
from souvenance.app.delete_message import delete_message
from souvenance.app.query_memories import Query, query_memories
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Role
from souvenance.domain.ids import ConversationId
from souvenance.errors import ModelError
from souvenance.testing import HalfStream, ScriptedModel, say
from tests.flows.app.house import House, Told, client

History = list[tuple[Role, str]]


class Client:
    """What an ordinary client does: it keeps the history itself and sends all of it each time."""

    def __init__(self, house: House, bot: Bot | None, *, key: str = "key", ref: str = "") -> None:
        self._house, self._bot, self._key, self._ref = house, bot, key, ref
        self.history: History = []

    async def send(self, text: str, *script: object, lost: bool = False, acknowledges: bool = True) -> Told:
        """One request; `lost`: the answer does not reach the client."""
        self._house.model.script(*script)  # type: ignore[arg-type]
        told = await self._house.turn(
            client(self._bot, history=self.history, key=self._key, ref=self._ref),
            text,
            request_hash=f"{self.history} {text}",
        )
        if lost:
            return told
        if acknowledges and told.done.turn is not None:
            await acknowledge(self._house.kit, self._house.owner, told.done.turn.turn_id)
        self.history += [(Role.USER, text), (Role.BOT, told.text)]
        return told


async def _count(house: House) -> int:
    return len((await list_conversations(house.kit, house.owner)).items)


async def _said(house: House, conversation_id: ConversationId) -> History:
    return await house.said(conversation_id)


async def test_i3_a_history_that_goes_on_is_the_same_conversation(house: House) -> None:
    one = Client(house, await house.bot())
    told = [await one.send(f"message {number}") for number in range(5)]
    assert len({each.conversation_id for each in told}) == 1
    assert await _said(house, told[0].conversation_id) == one.history
    assert await _count(house) == 1


async def test_i3_the_same_first_message_after_an_answer_that_arrived_opens_a_new_conversation(house: House) -> None:
    bot = await house.bot()
    first = await Client(house, bot).send("Hello")
    second = await Client(house, bot).send("Hello")
    assert first.conversation_id != second.conversation_id


async def test_i3_the_same_first_bytes_whose_answer_never_arrived_are_the_same_turn(house: House) -> None:
    bot = await house.bot()
    one = Client(house, bot)
    first = await one.send("Hello", say("Good day"), lost=True)
    second = await one.send("Hello")
    assert second.conversation_id == first.conversation_id
    assert second.text == first.text == "Good day"
    assert len(house.prompts) == 1
    assert await _count(house) == 1


async def test_i3_a_later_message_whose_answer_never_arrived_is_the_same_turn(house: House) -> None:
    one = Client(house, await house.bot())
    await one.send("Hello")
    first = await one.send("How are you?", say("Fine"), lost=True)
    second = await one.send("How are you?")
    assert second.text == first.text == "Fine"
    assert await _said(house, first.conversation_id) == one.history


async def test_i3_the_same_first_bytes_of_another_key_are_another_conversation(house: House) -> None:
    bot = await house.bot()
    first = await Client(house, bot, key="one").send("Hello", lost=True)
    second = await Client(house, bot, key="two").send("Hello")
    assert first.conversation_id != second.conversation_id


async def test_i3_equal_histories_of_several_conversations_open_a_new_one(house: House) -> None:
    """Never a guess."""
    bot = await house.bot()
    one, two = Client(house, bot), Client(house, bot)
    first = await one.send("Hello", say("Good day"))
    second = await two.send("Hello", say("Good day"))
    third = await one.send("And now?", say("Well"))
    assert third.conversation_id not in {first.conversation_id, second.conversation_id}
    assert await _said(house, third.conversation_id) == one.history
    assert await _count(house) == 3


async def test_i3_a_history_of_nobodys_is_adopted_once_and_in_order(house: House) -> None:
    one = Client(house, await house.bot())
    one.history = [
        (Role.BOT, "I am Mira. What do you want?"),
        (Role.USER, "A story about a lighthouse"),
        (Role.BOT, "Once upon a time"),
        (Role.BOT, "there was Odalric."),
        (Role.USER, "Go on"),
        (Role.USER, "Please"),
        (Role.BOT, "He lit the lamp."),
    ]
    adopted = list(one.history)
    told = await one.send("And then?", say("The end"))
    assert await _said(house, told.conversation_id) == [*adopted, (Role.USER, "And then?"), (Role.BOT, "The end")]
    roles = {Role.USER: "user", Role.BOT: "assistant"}
    assert house.prompt.window == [(roles[role], text) for role, text in adopted]
    again = await one.send("More")
    assert again.conversation_id == told.conversation_id
    assert await _said(house, told.conversation_id) == one.history
    hits = await query_memories(house.kit, house.owner, Query(text="Odalric", messages=True))
    assert [hit.message.text for hit in hits.messages] == ["there was Odalric."]


async def test_i3_a_history_that_the_client_changed_is_a_new_conversation_with_that_history(house: House) -> None:
    one = Client(house, await house.bot())
    first = await one.send("Hello", say("Good day"))
    one.history[1] = (Role.BOT, "Good evening")
    second = await one.send("And now?", say("Well"))
    assert second.conversation_id != first.conversation_id
    assert await _said(house, second.conversation_id) == one.history


async def test_i3_white_space_around_a_message_and_line_ends_make_no_difference(house: House) -> None:
    one = Client(house, await house.bot())
    first = await one.send("Hello", say("Good\nday\n"))
    one.history[1] = (Role.BOT, "Good\r\nday")
    second = await one.send("And now?")
    assert second.conversation_id == first.conversation_id


async def test_i3_v2_text_calls_and_the_saved_line_do_not_break_recognition(house: House) -> None:
    one = Client(house, await house.bot(settings={"text_calls": True}))
    told = [await one.send("I am Renko", say('Hello remember("name", "Renko")'))]
    told.append(await one.send("Nine", say('remember("age", "9")')))
    assert one.history[-1] == (Role.BOT, "1 saved")
    told.append(await one.send("And now?"))
    assert len({each.conversation_id for each in told}) == 1


async def test_i3_v3_commands_in_the_history_do_not_break_recognition(house: House) -> None:
    one = Client(house, await house.bot())
    first = await one.send("Hello")
    await one.send("/remember likes tea")
    await one.send("/memories")
    second = await one.send("And now?")
    assert second.conversation_id == first.conversation_id
    assert len(await _said(house, first.conversation_id)) == 4
    assert "/remember" not in house.prompt.text


async def test_i3_v3_a_history_that_begins_with_a_command_is_recognised_too(house: House) -> None:
    one = Client(house, await house.bot())
    await one.send("/remember likes tea")
    first = await one.send("Hello")
    second = await one.send("And now?")
    assert second.conversation_id == first.conversation_id


async def test_i3_a_name_that_the_client_chose_is_its_conversation_whatever_the_history_says(house: House) -> None:
    bot = await house.bot()
    one = Client(house, bot, ref="my chat")
    first = await one.send("Hello")
    one.history = []
    second = await one.send("Something else")
    assert second.conversation_id == first.conversation_id
    assert len(house.prompt.window) == 2


async def test_i3_a_name_is_scoped_to_its_key(house: House) -> None:
    bot = await house.bot()
    first = await Client(house, bot, key="one", ref="chat").send("Hello")
    second = await Client(house, bot, key="two", ref="chat").send("Hello")
    assert first.conversation_id != second.conversation_id


async def test_i3_under_a_name_the_same_message_whose_answer_never_arrived_is_the_same_turn(house: House) -> None:
    one = Client(house, await house.bot(), ref="chat")
    first = await one.send("Hello", say("Good day"), lost=True)
    second = await one.send("Hello")
    assert second.text == first.text
    assert len(await _said(house, first.conversation_id)) == 2
    await one.send("Hello")
    assert len(await _said(house, first.conversation_id)) == 4, "said twice on purpose"


async def test_i3_under_a_name_two_processes_at_once_open_one_conversation(house: House) -> None:
    bot = await house.bot()
    houses = [house, house.with_model(ScriptedModel())]
    await asyncio.gather(
        *(one.turn(client(bot, ref="chat"), f"from {at}", request_hash=str(at)) for at, one in enumerate(houses))
    )
    assert await _count(house) == 1


async def test_i3_two_continuations_of_one_history_at_once_never_mix(house: House) -> None:
    """A client that regenerates in two windows: each history is one conversation's own."""
    one = Client(house, await house.bot())
    await one.send("Hello")
    houses = [house, house.with_model(ScriptedModel())]
    texts = ["left", "right"]
    told = await asyncio.gather(*(_go_on(a, one.history, text) for a, text in zip(houses, texts, strict=True)))
    assert len({each.conversation_id for each in told}) == 2
    for each, text in zip(told, texts, strict=True):
        assert await _said(house, each.conversation_id) == [
            *one.history,
            (Role.USER, text),
            (Role.BOT, f"You said: {text}"),
        ]


async def _go_on(house: House, history: Sequence[tuple[Role, str]], text: str) -> Told:
    bot = (await house.read(lambda unit: unit.bots.page(after=None, limit=1)))[0]
    return await house.turn(client(bot, history=history), text, request_hash=text)


async def test_i3_a_long_history_is_adopted_whole_and_its_window_kept_within_w4(house: House) -> None:
    small = house.with_limits(balanced_messages=10)
    one = Client(small, await small.bot())
    one.history = [(Role.USER if at % 2 == 0 else Role.BOT, f"said {at}") for at in range(120)]
    told = await one.send("And now?")
    assert len(house.prompt.window) <= 15
    assert len(await _said(house, told.conversation_id)) == 122


async def test_i3_a_client_s_own_parts_of_a_message_go_on_untouched(house: House) -> None:
    bot = await house.bot()
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:,x"}}]
    message = {"role": "user", "content": parts, "name": "renko"}
    await house.turn(client(bot), "What is this?", user_message=message, fields={"seed": 7, "unknown": {"a": [1]}})
    assert house.prompt.messages[-1] == message
    assert house.prompt.wire["seed"] == 7
    assert house.prompt.wire["unknown"] == {"a": [1]}


async def test_i3_t7_a_message_that_was_deleted_while_its_reply_is_cut_off_may_be_sent_again(house: House) -> None:
    one = Client(house, await house.bot())
    with pytest.raises(ModelError):
        await one.send("Hello", HalfStream(chunks=("Hi, I am",)))
    (chat,) = (await list_conversations(house.kit, house.owner)).items
    first, _ = await house.read(lambda unit: unit.messages.from_position(chat.conversation_id, 0))
    await delete_message(house.kit, house.owner, first.message_id)
    told = await one.send("Hello", say("Hi."))
    assert house.prompt.newest == "Hello"
    assert await _said(house, told.conversation_id) == [(Role.USER, "Hello"), (Role.BOT, "Hi.")]
