"""W1-W6 through whole turns: what every prompt holds of the conversation, and what becomes of the rest."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from souvenance.app.bots import set_level
from souvenance.app.browse import conversation_memory, list_conversations
from souvenance.app.conversations import NewConversation, read_conversation
from souvenance.app.query_memories import Query, query_memories
from souvenance.app.read_prompts import prompts_of_message
from souvenance.app.turn import Address, InConversation, NewChat
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Channel, Conversation
from souvenance.domain.limits import Level
from souvenance.errors import PromptTooLarge
from souvenance.models.tokens import O200k
from souvenance.ports.chat_model import Usage
from souvenance.testing import Hang, ScriptedModel, Text, say
from tests.flows.app.house import House, Prompt

ONE_DATABASE = True

SMALL = {"balanced_messages": 10, "balanced_tokens": 400, "key_events_messages": 4, "key_events_tokens": 200}
LINE = "the boat called Aurora leaves the harbour at dawn with five sailors"


async def _talk(house: House, chat: Conversation, turns: int, *, start: int = 0) -> None:
    for number in range(start, start + turns):
        await house.say(chat, f"message {number}: {LINE}", say(f"answer {number}"))


async def _small(house: House, **more: int) -> tuple[House, Bot, Conversation]:
    small = house.with_limits(**{**SMALL, **more})
    bot = await small.bot()
    return small, bot, await small.chat(bot)


def _messages(prompt: Prompt) -> int:
    """Window messages with the newest user message, which W1 counts too."""
    return len(prompt.window) + 1


def _tokens(prompt: Prompt) -> int:
    return sum(O200k().count(text) for _, text in prompt.window) + O200k().count(prompt.newest)


async def test_w4_no_prompt_holds_more_than_half_as_many_messages_again(house: House) -> None:
    small, _, chat = await _small(house, balanced_tokens=10_000)
    await _talk(small, chat, 30)
    assert max(_messages(prompt) for prompt in small.prompts) <= 15
    assert max(_messages(prompt) for prompt in small.prompts) > 10, "with no nodes yet the window fills W4's half"


async def test_w4_no_prompt_holds_more_than_half_as_many_tokens_again(house: House) -> None:
    small, _, chat = await _small(house, balanced_messages=1_000)
    await _talk(small, chat, 40)
    assert max(_tokens(prompt) for prompt in small.prompts) <= 600
    assert max(_tokens(prompt) for prompt in small.prompts) > 400


async def test_w6_the_start_moves_by_whole_turns_in_batches_of_at_most_a_fifth(house: House) -> None:
    small, _, chat = await _small(house, balanced_messages=20, balanced_tokens=10_000)
    await _talk(small, chat, 40)
    starts = [prompt.window[0][1] for prompt in small.prompts[1:]]
    assert all(start.startswith("message ") for start in starts), "the window begins with a turn's user message"
    numbers = [int(start.split()[1].rstrip(":")) for start in starts]
    steps = [after - before for before, after in itertools.pairwise(numbers)]
    assert set(steps) == {0, 2}, "two turns, four messages: a fifth of twenty"


async def test_w6_between_two_moves_each_prompt_continues_the_one_before(house: House) -> None:
    small, _, chat = await _small(house)
    await _talk(small, chat, 25)
    for before, after in itertools.pairwise(small.prompts):
        if after.window[0] == (before.window or [("user", before.newest)])[0]:
            assert after.window[: len(before.window)] == before.window


async def test_w4_what_left_waits_is_counted_and_is_found_by_its_words(house: House) -> None:
    small, _, chat = await _small(house)
    await small.say(chat, "My lighthouse keeper is called Odalric", say("Noted"))
    await _talk(small, chat, 20)
    assert "Odalric" not in small.prompt.text
    memory = await conversation_memory(small.kit, small.owner, chat.conversation_id)
    total = len(await small.said(chat.conversation_id))
    assert memory.waiting > 0
    assert memory.waiting + memory.in_window == total == 42
    hits = await query_memories(small.kit, small.owner, Query(text="Odalric", messages=True))
    assert [hit.message.text for hit in hits.messages] == ["My lighthouse keeper is called Odalric"]


async def test_w3_a_lower_level_takes_effect_with_the_next_message(house: House) -> None:
    small, bot, chat = await _small(house)
    await _talk(small, chat, 6)
    assert _messages(small.prompt) == 11
    await set_level(small.kit, small.owner, bot.bot_id, Level.KEY_EVENTS)
    await _talk(small, chat, 1, start=6)
    assert _messages(small.prompt) <= 6


async def test_w3_a_higher_level_does_not_move_the_start_back(house: House) -> None:
    small, bot, chat = await _small(house, detailed_messages=40)
    await set_level(small.kit, small.owner, bot.bot_id, Level.KEY_EVENTS)
    await _talk(small, chat, 8)
    first = small.prompt.window[0]
    await set_level(small.kit, small.owner, bot.bot_id, Level.DETAILED)
    await _talk(small, chat, 10, start=8)
    assert small.prompt.window[0] == first
    assert _messages(small.prompt) > 20


async def test_w2_the_level_holds_for_this_bot_only(house: House) -> None:
    small, bot, chat = await _small(house)
    other = await small.bot("Ottilie")
    other_chat = await small.chat(other)
    await set_level(small.kit, small.owner, bot.bot_id, Level.KEY_EVENTS)
    await _talk(small, other_chat, 6)
    assert _messages(small.prompt) == 11
    await _talk(small, chat, 6)
    assert _messages(small.prompt) <= 6


async def test_w2_telegram_is_always_balanced(house: House) -> None:
    small, bot, _ = await _small(house)
    await set_level(small.kit, small.owner, bot.bot_id, Level.KEY_EVENTS)
    chat = await small.chat(bot, channel=Channel.TELEGRAM)
    await _talk(small, chat, 6)
    assert _messages(small.prompt) == 11


async def test_w5_the_newest_message_and_the_turn_before_it_are_whole_whatever_w1_says(house: House) -> None:
    small, _, chat = await _small(house)
    long = " ".join(f"word{number}" for number in range(600))
    await _talk(small, chat, 3)
    await small.say(chat, f"first {long}", say(f"answer {long}"))
    await small.say(chat, f"second {long}")
    assert small.prompt.newest == f"second {long}"
    assert small.prompt.window == [("user", f"first {long}"), ("assistant", f"answer {long}")]


async def test_w1_a_small_context_bounds_the_window_to_a_quarter_of_it(house: House) -> None:
    tight = house.with_context(4_000)
    bot = await tight.bot()
    chat = await tight.chat(bot)
    await _talk(tight, chat, 60)
    assert max(_tokens(prompt) for prompt in tight.prompts) <= 1_500, "a quarter of 4,000 and half as much again"
    assert max(_tokens(prompt) for prompt in tight.prompts) > 700


async def test_w1_a_large_context_does_not_widen_the_window(house: House) -> None:
    small, _, chat = await _small(house.with_context(1_000_000))
    await _talk(small, chat, 30)
    assert max(_messages(prompt) for prompt in small.prompts) <= 15


async def test_w1_the_figures_of_the_specification_hold_over_a_long_conversation(house: House) -> None:
    bot = await house.bot()
    chat = await house.chat(bot)
    await _talk(house, chat, 60)
    sizes = [_messages(prompt) for prompt in house.prompts]
    assert max(sizes) <= 75
    assert max(sizes) > 65
    steps = [before - after + 2 for before, after in itertools.pairwise(sizes) if after < before + 2]
    assert steps
    assert set(steps) == {10}


@pytest.mark.parametrize("new_chat", [True, False])
async def test_w5_a_message_too_large_for_the_model_is_refused_with_both_sizes_and_leaves_nothing(
    house: House, *, new_chat: bool
) -> None:
    tight = house.with_context(2_000)
    bot = await tight.bot()
    chat = None if new_chat else await tight.chat(bot)
    address: Address = NewChat(conversation=NewConversation(bot_id=bot.bot_id))
    if chat is not None:
        address = InConversation(conversation_id=chat.conversation_id)
    with pytest.raises(PromptTooLarge) as refused:
        await tight.turn(address, "Quarrelsome zebras. " * 1_000)
    assert refused.value.details["needed"] > refused.value.details["available"] == 1_000  # type: ignore[operator]
    assert tight.model.requests == []
    await _nothing_is_stored(tight, chat)


async def test_w5_a_picture_does_not_count_as_the_text_of_its_data(house: House) -> None:
    tight = house.with_context(8_000)
    chat = await tight.chat(await tight.bot())
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{'iVBORw0KGgo' * 20_000}"}}
    message = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]}
    await tight.say(chat, "What is this?", user_message=message)
    assert tight.prompt.messages[-1] == message


@pytest.mark.parametrize("kind", ["image_url", "input_audio", "file"])
async def test_w7_a_part_that_is_no_text_has_one_figure_wherever_it_stands(house: House, kind: str) -> None:
    chat = await house.chat(await house.bot())
    await house.remember("likes tea")

    async def layers(part: dict[str, Any]) -> dict[str, int]:
        content = [{"type": "text", "text": "Look"}, part]
        told = await house.say(
            chat,
            "Look",
            system=({"role": "system", "content": content}, {"role": "developer", "content": content}),
            user_message={"role": "user", "content": content},
            tail=({"role": "tool", "tool_call_id": "call_1", "content": content},),
        )
        (prompt,) = await prompts_of_message(house.kit, house.owner, told.stored.message_id)
        return dict(prompt.layers)

    text = await layers({"type": "text", "text": ""})
    for data in ("iVBORw0KGgo", "iVBORw0KGgo" * 50_000):
        counted = await layers({"type": kind, kind: {"url": data, "data": data, "file_data": data}})
        more = {layer: tokens - text[layer] for layer, tokens in counted.items() if layer not in {"window", "since"}}
        assert more == {"system": 2_000, "memories": 0, "newest": 1_000, "tail": 1_000, "tools": 0}


async def test_w7_the_tool_calls_of_a_clients_message_count_beside_its_text(house: House) -> None:
    tight = house.with_context(4_000)
    chat = await tight.chat(await tight.bot())
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "zebra " * 4_000}}
    tail = ({"role": "assistant", "content": "Looking.", "tool_calls": [call]},)
    with pytest.raises(PromptTooLarge):
        await tight.say(chat, "Look", tail=tail)


async def test_w5_a_message_too_large_beside_the_clients_own_tools_leaves_nothing(house: House) -> None:
    tight = house.with_context(4_000)
    bot = await tight.bot()
    chat = await tight.chat(bot)
    described = "Looks up one of very many things. " * 300
    tool = {"type": "function", "function": {"name": "look_up", "description": described, "parameters": {}}}
    with pytest.raises(PromptTooLarge):
        await tight.say(chat, "What is the weather?", tools=(tool,))
    await _nothing_is_stored(tight, chat)


async def test_w5_a_message_too_large_by_what_the_model_was_learnt_to_count_leaves_nothing(house: House) -> None:
    tight = house.with_context(8_000)
    bot = await tight.bot()
    chat = await tight.chat(bot)
    for number in range(6):
        await tight.say(chat, f"hello {number}", Text(chunks=("hi",), usage=Usage(tokens_in=3_000, tokens_out=1)))
    before = await tight.said(chat.conversation_id)
    with pytest.raises(PromptTooLarge):
        await tight.say(chat, "zebra " * 1_500)
    assert await tight.said(chat.conversation_id) == before


async def _nothing_is_stored(house: House, chat: Conversation | None) -> None:
    page = await list_conversations(house.kit, house.owner)
    assert [one.conversation_id for one in page.items] == ([] if chat is None else [chat.conversation_id])
    if chat is not None:
        assert page.items[0].last_position == -1
        assert await house.said(chat.conversation_id) == []
    hits = await query_memories(house.kit, house.owner, Query(text="quarrelsome zebras weather", messages=True))
    assert hits.messages == ()


async def test_s4_what_waits_is_counted_once_when_several_processes_answer_in_one_conversation(house: House) -> None:
    small, _, chat = await _small(house, balanced_tokens=10_000)
    waiting = [0]
    for _ in range(10):
        processes = [small.with_model(ScriptedModel()) for _ in range(3)]
        turns = []
        for one in processes:
            turns.append(asyncio.create_task(one.say(chat, "Well?", Hang(after=("Well.",)))))
            await one.model.hanging.wait()
        for one, turn in zip(processes, turns, strict=True):
            one.model.released.set()
            await turn
        now = await read_conversation(house.kit, house.owner, chat.conversation_id)
        said = await house.read(lambda unit: unit.messages.from_position(chat.conversation_id, 0))
        assert now.messages == len(said)
        waiting.append(now.waiting)
        assert now.waiting == sum(message.position < now.window_start for message in said)
    assert waiting[-1] > 0
