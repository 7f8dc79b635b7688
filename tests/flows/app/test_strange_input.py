"""What models, clients and callers may send although nobody should: mended or refused by name, never a crash."""

from __future__ import annotations

from typing import Any

import pytest

from souvenance.app.bots import NewBot, change_bot, create_bot
from souvenance.app.conversations import NewConversation
from souvenance.app.prepare_turn import prepare, record
from souvenance.app.read_prompts import prompts_of_message, read_prompt
from souvenance.app.turn import InConversation, NewChat, TurnRequest
from souvenance.domain.bot import Preset
from souvenance.errors import BadValue, InputError, TextTooLong, UnknownModel, UnusableText
from souvenance.ports.chat_model import ModelInfo
from souvenance.testing import Call, ScriptedModel, call, say
from tests.flows.app.house import House, called, calls

ONE_DATABASE = True

HALF = "\ud83d"


@pytest.mark.parametrize("preset", [Preset.COMPANION, Preset.NOTEBOOK])
@pytest.mark.parametrize("arguments", ["[" * 200_000, '{"text":' * 100_000, "9" * 10_000, HALF, '{"text": "\\ud83d"}'])
async def test_v1_arguments_that_are_no_arguments_get_words_to_mend_them_by(
    house: House, preset: Preset, arguments: str
) -> None:
    chat = await house.chat(await house.bot(preset=preset))
    told = await house.say(chat, "Hello", call("remember", arguments), say("Hi"))
    assert told.text == "Hi"
    assert told.kinds == ["refused"]
    assert await house.memories() == []


async def test_v1_half_a_character_in_a_reply_is_shown_and_stored_as_a_replacement(house: House) -> None:
    chat = await house.chat(await house.bot())
    strange = calls(Call(name=f"launch{HALF}", arguments=f'{{"text": "{HALF}"}}', call_id=HALF))
    told = await house.say(chat, "Hello", strange, say(f"A{HALF}", f"B{HALF}"))
    assert told.text == told.stored.text == "A\ufffdB\ufffd"
    prompts = await prompts_of_message(house.kit, house.owner, told.stored.message_id)
    whole = [await read_prompt(house.kit, house.owner, prompt.prompt_id) for prompt in prompts]
    assert [b"".join(part.data for part in one.parts) for one in whole] == [p.body for p in house.model.requests]


async def test_v1_two_halves_of_a_character_in_two_chunks_are_one_character(house: House) -> None:
    chat = await house.chat(await house.bot())
    told = await house.say(chat, "Hello", say("A\ud83d", "\ude00B"))
    assert told.text == told.stored.text == "A😀B"


async def test_i1_half_a_character_in_a_recorded_reply_is_stored_as_a_replacement(house: House) -> None:
    chat = await house.chat(await house.bot())
    request = TurnRequest(address=InConversation(conversation_id=chat.conversation_id), text="Hello")
    prepared = await prepare(house.kit, house.owner, request)
    assert (await record(house.kit, house.owner, prepared, f"Hi{HALF}")).text == "Hi\ufffd"


@pytest.mark.parametrize(
    "tool", [{"type": "function", "function": None}, {"type": "web_search"}, {"function": {"name": 7}}]
)
async def test_i3_a_tool_of_the_client_that_is_no_function_goes_on_as_it_came(
    house: House, tool: dict[str, Any]
) -> None:
    small = house.with_limits(tool_rounds=1)
    chat = await small.chat(await small.bot())
    await small.say(chat, "Hello", calls(called("remember", text="is Renko")), say("Hi"), tools=(tool,))
    assert [prompt.wire["tools"][0] for prompt in small.prompts] == [tool, tool]
    assert small.prompt.wire["tools"] == [tool], "the last round offers none of ours"


@pytest.mark.parametrize(
    ("field", "wrong", "error"),
    [
        ("title", HALF, UnusableText),
        ("title", "x\0", UnusableText),
        ("title", "x" * 257, TextTooLong),
        ("model", HALF, UnusableText),
        ("model", "x" * 257, TextTooLong),
    ],
)
async def test_i1_a_conversation_of_an_unusable_title_or_model_is_refused(
    house: House, field: str, wrong: str, error: type[InputError]
) -> None:
    bot = await house.bot()
    new: dict[str, Any] = {"bot_id": bot.bot_id, field: wrong}
    with pytest.raises(error, match=field):
        await house.turn(NewChat(conversation=NewConversation(**new)), "Hello")
    with pytest.raises(error, match=field):
        await house.chat(bot, **{field: wrong})


async def test_i3_a_model_of_a_name_too_long_to_be_kept_is_not_offered(house: House) -> None:
    names = ["x" * 257, f"half{HALF}", "good"]
    strange = house.with_model(ScriptedModel(models=tuple(ModelInfo(name=name, provider="testing") for name in names)))
    told = await strange.say(await strange.chat(await strange.bot()), "Hello")
    assert told.done.model == "good"
    with pytest.raises(UnknownModel):
        await strange.say(await strange.chat(await strange.bot("Two")), "Hello", model="x" * 257)


async def test_e1_a_bots_model_may_have_a_long_name_but_not_any(house: House) -> None:
    longest = "x" * 256
    assert (await create_bot(house.kit, house.owner, NewBot(name="Mira", model=longest))).model == longest
    with pytest.raises(TextTooLong, match="model"):
        await create_bot(house.kit, house.owner, NewBot(name="Renko", model=longest + "x"))


@pytest.mark.parametrize("changes", [{"name": None}, {"name": 7}, {"system_prompt": None}, {"model": 7}])
async def test_e1_a_change_of_a_bot_to_what_is_no_text_is_refused(house: House, changes: dict[str, object]) -> None:
    bot = await house.bot(model="scripted")
    with pytest.raises(BadValue, match=next(iter(changes))):
        await change_bot(house.kit, house.owner, bot.bot_id, changes=changes)
    assert (await change_bot(house.kit, house.owner, bot.bot_id, changes={"model": None})).model is None
