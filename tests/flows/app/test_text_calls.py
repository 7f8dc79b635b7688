"""V2 through whole turns: what a model writes as calls in its text is stored, not shown, and not sent later."""

from __future__ import annotations

import pytest

from souvenance.app.turn import Delta
from souvenance.domain.bot import Bot, Preset
from souvenance.domain.conversation import Conversation
from souvenance.domain.memory import ACCOUNT_SCOPE, Scope
from souvenance.testing import say
from tests.flows.app.house import House

ONE_DATABASE = True


@pytest.fixture(params=["notebook", "companion", "assistant"])
def preset(request: pytest.FixtureRequest) -> Preset:
    return Preset(request.param)


async def _chat(house: House, preset: Preset) -> tuple[Bot, Conversation]:
    bot = await house.bot(preset=preset, settings={"text_calls": True})
    return bot, await house.chat(bot)


async def test_v2_a_call_is_stored_and_shown_neither_now_nor_later(house: House, preset: Preset) -> None:
    _, chat = await _chat(house, preset)
    told = await house.say(chat, "I am Renko", say('Hello! bcz_remember("name", "Renko") How are you?'))
    assert told.text == told.stored.text == "Hello! How are you?"
    assert await house.pairs() == {"name": "Renko"}
    assert told.done.saved == 1
    assert told.stored.noted == 1
    await house.say(chat, "Fine")
    assert house.prompt.window == [("user", "I am Renko"), ("assistant", "Hello! How are you?")]
    assert "bcz_remember" not in house.prompt.text


@pytest.mark.parametrize("size", [1, 2, 3, 7])
async def test_v2_a_call_may_be_cut_anywhere_by_the_stream(house: House, size: int) -> None:
    _, chat = await _chat(house, Preset.COMPANION)
    text = 'Hello!\nremember("name", "Renko")\nHow are you?'
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    told = await house.say(chat, "I am Renko", say(*chunks))
    assert told.text == told.stored.text == "Hello!\nHow are you?"
    assert await house.pairs() == {"name": "Renko"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r'"It is \"so\", she said)"', 'It is "so", she said)'),
        ("'single, with a \")\" in it'", 'single, with a ")" in it'),
        ('"日本語、「引用」"', "日本語、「引用」"),
        (r'"two\nlines"', "two\nlines"),
        (r'"back\\slash"', "back\\slash"),
    ],
)
async def test_v2_quotes_commas_brackets_and_any_script_are_stored_exactly(
    house: House, written: str, value: str
) -> None:
    """Scenario 15."""
    _, chat = await _chat(house, Preset.NOTEBOOK)
    told = await house.say(chat, "Hello", say(f'Fine. remember("key", {written})'))
    assert await house.pairs() == {"key": value}
    assert told.text == "Fine."


async def test_v2_of_two_on_one_key_the_last_wins(house: House, preset: Preset) -> None:
    """Scenario 16."""
    _, chat = await _chat(house, preset)
    told = await house.say(chat, "Hi", say('remember("name", "A")\nremember("age", "9")\nremember("name", "B")\nOk'))
    assert await house.pairs() == {"name": "B", "age": "9"}
    assert len(await house.memories()) == 2
    assert told.text == "Ok"


async def test_v2_an_existing_key_gets_the_new_value_and_keeps_its_place(house: House) -> None:
    bot, chat = await _chat(house, Preset.NOTEBOOK)
    await house.remember("Alice", Scope.of_bot(bot.bot_id), key="name")
    await house.remember("Python", Scope.of_bot(bot.bot_id), key="language")
    told = await house.say(chat, "I am Renko", say('Ok remember("name", "Renko")'))
    assert told.kinds == ["updated"]
    assert [memory.text for memory in await house.memories()] == ["Renko", "Python"]


async def test_v2_a_reply_of_calls_only_shows_how_many_were_saved(house: House, preset: Preset) -> None:
    _, chat = await _chat(house, preset)
    told = await house.say(chat, "Hi", say('remember("a", "1")\n', 'remember("b", "2")\nremember("a", "3")'))
    assert told.text == told.stored.text == "2 saved"


async def test_v2_in_code_a_call_is_an_example(house: House) -> None:
    _, chat = await _chat(house, Preset.NOTEBOOK)
    text = 'Write `remember("a", "1")` or:\n```\nremember("b", "2")\n```\nlike this.'
    told = await house.say(chat, "How?", say(text))
    assert told.text == text
    assert await house.pairs() == {}


@pytest.mark.parametrize(
    "text", ['So remember("a", 1) is', 'So remember("a") is', 'So remember("", "x") is', 'So remember("a", "x']
)
async def test_v2_a_malformed_call_stays_visible_is_noted_and_stores_nothing(house: House, text: str) -> None:
    _, chat = await _chat(house, Preset.NOTEBOOK)
    told = await house.say(chat, "Hi", say(text))
    assert told.text == text
    assert told.kinds == ["malformed_call"]
    assert await house.pairs() == {}


async def test_v2_an_oversized_call_stays_visible_is_noted_and_stores_nothing(house: House) -> None:
    _, chat = await _chat(house, Preset.NOTEBOOK)
    text = f'So remember("a", "{"x" * 10_001}") is'
    told = await house.say(chat, "Hi", say(text))
    assert told.text == text
    assert told.kinds == ["malformed_call"]
    assert await house.pairs() == {}


async def test_v2_the_installations_own_limits_hold_for_text_calls(house: House) -> None:
    small = house.with_limits(value_characters=10, key_characters=4)
    _, chat = await _chat(small, Preset.NOTEBOOK)
    text = 'So remember("a", "longer than ten") and remember("longkey", "x") are'
    told = await small.say(chat, "Hi", say(text))
    assert told.text == text
    assert told.kinds == ["malformed_call"] * 2
    assert await small.pairs() == {}


async def test_v2_m5_a_pinned_key_is_refused_and_noted(house: House, preset: Preset) -> None:
    bot, chat = await _chat(house, preset)
    pinned = await house.remember("Renko", _scope(bot), key="name", pinned=True)
    told = await house.say(chat, "Call me Odalric", say('Sure. remember("name", "Odalric")'))
    assert await house.memories() == [pinned]
    assert told.kinds == ["refused"]
    assert told.done.saved == 0
    assert told.text == "Sure."


def _scope(bot: Bot) -> Scope:
    """Where the bot's text calls write (E1)."""
    return ACCOUNT_SCOPE if bot.preset is Preset.ASSISTANT else Scope.of_bot(bot.bot_id)


async def test_v2_m5_a_reply_of_calls_only_does_not_count_a_pinned_key_as_saved(house: House, preset: Preset) -> None:
    bot, chat = await _chat(house, preset)
    await house.remember("Renko", _scope(bot), key="name", pinned=True)
    told = await house.say(chat, "Hi", say('remember("name", "Odalric")\nremember("age", "9")'))
    assert told.text == "1 saved"
    assert told.done.saved == 1


async def test_v2_with_text_calls_off_the_words_are_words(house: House) -> None:
    chat = await house.chat(await house.bot(preset=Preset.COMPANION))
    told = await house.say(chat, "Hi", say('Say remember("a", "b")'))
    assert told.text == 'Say remember("a", "b")'
    assert await house.memories() == []


async def test_v2_the_model_is_told_how_to_write_them_only_where_they_are_on(house: House) -> None:
    await house.say(await house.chat(await house.bot("A")), "Hi")
    assert "remember(" not in house.prompt.system
    await house.say(await house.chat(await house.bot("B", settings={"text_calls": True})), "Hi")
    assert 'write remember("short_key", "value")' in house.prompt.system


async def test_v2_o1_with_learning_off_nothing_is_stored(house: House) -> None:
    chat = await house.chat(await house.bot(preset=Preset.NOTEBOOK, settings={"learn": False}))
    await house.say(chat, "Hi", say('Ok remember("a", "b")'))
    assert await house.memories() == []


async def test_v2_text_that_cannot_be_part_of_a_call_leaves_with_its_chunk(house: House) -> None:
    _, chat = await _chat(house, Preset.NOTEBOOK)
    told = await house.say(chat, "Hi", say("One", " two", " three"))
    texts = [event.text for event in told.events if isinstance(event, Delta) and event.text]
    assert texts == ["One", " two", " three"]
