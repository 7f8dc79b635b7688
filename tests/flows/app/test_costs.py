"""C1 and C5 through whole turns: prompts read back byte for byte, and token counts learnt from what is reported."""

from __future__ import annotations

import pytest

from souvenance.app.browse import list_messages
from souvenance.app.erase import erase_memories
from souvenance.app.prepare_turn import prepare, record
from souvenance.app.purge_ended import purge_ended
from souvenance.app.read_prompts import prompts_of_conversation, prompts_of_message, read_prompt
from souvenance.app.turn import InConversation, TurnRequest
from souvenance.domain.bot import Preset
from souvenance.domain.conversation import Role
from souvenance.domain.sent import ERASED
from souvenance.errors import ModelBroken, ModelRefused
from souvenance.models.tokens import O200k
from souvenance.ports.chat_model import ChatRequest, Usage
from souvenance.testing import Fault, HalfStream, ScriptedModel, Text, say
from tests.flows.app.house import House, Told, called, calls, client

ONE_DATABASE = True


async def _bodies(house: House, told: Told) -> list[bytes]:
    """What was sent for this reply, as it reads back."""
    prompts = await prompts_of_message(house.kit, house.owner, told.stored.message_id)
    whole = [await read_prompt(house.kit, house.owner, prompt.prompt_id) for prompt in prompts]
    return [b"".join(part.data for part in prompt.parts) for prompt in whole]


async def test_c1_every_prompt_reads_back_byte_for_byte(house: House) -> None:
    """With memories, a since-then list, tools, several rounds, any script, and a window that moves."""
    small = house.with_limits(balanced_messages=6)
    bot = await small.bot(system_prompt='Say "déjà vu",\n日本語, \\ and 🙂.')
    chat = await small.chat(bot)
    await small.remember("likes </memories> tea", pinned=True)
    kept: list[bytes] = []
    for number in range(10):
        script = [calls(called("remember", text=f'fact "{number}" 日本'))] if number % 3 == 0 else []
        told = await small.say(chat, f"message {number}\n🙂", *script, say(f"answer {number}"))
        kept += await _bodies(small, told)
    assert kept == [request.body for request in small.model.requests]
    assert len(kept) == 14


async def test_c1_a_clients_own_request_reads_back_byte_for_byte(house: House) -> None:
    bot = await house.bot(preset=Preset.NOTEBOOK, settings={"text_calls": True})
    parts = [{"type": "text", "text": "What\u2028is this?"}, {"type": "image_url", "image_url": {"url": "data:,x"}}]
    told = await house.turn(
        client(bot),
        "What is this?",
        user_message={"role": "user", "content": parts},
        system=({"role": "system", "content": [{"type": "text", "text": "Be brief."}]},),
        tail=({"role": "assistant", "content": "It is"},),
        fields={"temperature": 0.1, "stream_options": {"x": 1}},
    )
    assert await _bodies(house, told) == [house.prompt.body]


async def test_c1_the_rounds_of_one_reply_are_listed_in_their_order_with_their_figures(house: House) -> None:
    chat = await house.chat(await house.bot())
    usages = [Usage(tokens_in=100, tokens_out=5), Usage(tokens_in=140, tokens_out=7)]
    asks = calls(called("memory_query", text="tea"))
    script = [type(asks)(calls=asks.calls, usage=usages[0]), Text(chunks=("None",), usage=usages[1])]
    told = await house.say(chat, "Tea?", *script)
    prompts = await prompts_of_message(house.kit, house.owner, told.stored.message_id)
    assert [prompt.round for prompt in prompts] == [0, 1]
    assert [(prompt.reported_in, prompt.reported_out) for prompt in prompts] == [(100, 5), (140, 7)]
    assert (told.done.tokens_in, told.done.tokens_out, told.done.estimated) == (240, 12, False)


async def test_c1_tokens_are_told_by_layer(house: House) -> None:
    chat = await house.chat(await house.bot(system_prompt="Speak like a sailor."))
    await house.remember("likes tea")
    await house.say(chat, "Hello", say("Ahoy"))
    await house.remember("is called Renko")
    told = await house.say(chat, "And now?")
    (prompt,) = await prompts_of_message(house.kit, house.owner, told.stored.message_id)
    assert set(prompt.layers) == {"system", "memories", "window", "since", "newest", "tools"}
    assert all(tokens > 0 for tokens in prompt.layers.values())


async def test_c1_a_prompt_that_led_to_a_broken_reply_is_listed_with_its_conversation(house: House) -> None:
    chat = await house.chat(await house.bot())
    with pytest.raises(ModelBroken):
        await house.say(chat, "Hello", HalfStream(chunks=("Half",)))
    listed = await prompts_of_conversation(house.kit, house.owner, chat.conversation_id)
    assert len(listed) == 1


async def test_c1_text_that_was_erased_reads_back_as_erased(house: House) -> None:
    memory = await house.remember("likes tea")
    chat = await house.chat(await house.bot())
    told = await house.say(chat, "Hello")
    await erase_memories(house.kit, house.owner, [memory.memory_id])
    house.clock.advance(seconds=11)
    assert await purge_ended(house.kit) == 1
    (body,) = await _bodies(house, told)
    before, after = body.split(ERASED)
    assert house.prompt.body.startswith(before)
    assert house.prompt.body.endswith(after)
    blanked = house.prompt.body[len(before) : len(house.prompt.body) - len(after)]
    assert blanked.decode().strip("\\n") == "- (recent) likes tea"


def _counts(factor: float) -> ScriptedModel:
    """A model that counts `factor` times as many tokens as ours does."""

    def answer(request: ChatRequest) -> Text:
        counted = int(factor * O200k().count(request.body.decode()))
        return Text(chunks=("A short answer",), usage=Usage(tokens_in=counted, tokens_out=3))

    return ScriptedModel(respond=answer)


@pytest.mark.parametrize("factor", [0.7, 1.0, 1.6, 3.0])
async def test_c5_after_five_replies_the_estimate_is_within_ten_per_cent(house: House, factor: float) -> None:
    counting = house.with_model(_counts(factor))
    chat = await counting.chat(await counting.bot(system_prompt="You keep a lighthouse. " * 30))
    told = [await counting.say(chat, f"In turn {n} I tell you about the boats and the birds I saw.") for n in range(12)]
    for one in told[5:]:
        (prompt,) = await prompts_of_message(counting.kit, counting.owner, one.stored.message_id)
        assert prompt.reported_in is not None
        assert abs(prompt.estimated_in - prompt.reported_in) <= 0.1 * prompt.reported_in


async def test_c5_what_is_learnt_belongs_to_one_model(house: House) -> None:
    counting = house.with_model(_counts(3.0))
    bot = await counting.bot()
    chat = await counting.chat(bot)
    for number in range(6):
        await counting.say(chat, f"message {number}")
    learnt = await counting.read(lambda unit: (unit.calibrations.get("scripted"), unit.calibrations.get("other")))
    assert learnt[0].learnt
    assert learnt[0].factor > 2
    assert learnt[1].replies == 0


async def test_c5_a_model_that_reports_nothing_is_called_estimated(house: House) -> None:
    chat = await house.chat(await house.bot())
    request = TurnRequest(address=InConversation(conversation_id=chat.conversation_id), text="Hello there")
    prepared = await prepare(house.kit, house.owner, request)
    recorded = await record(house.kit, house.owner, prepared, "Good day to you")
    assert recorded.done.estimated
    assert recorded.done.tokens_in >= O200k().count("Hello there")
    assert recorded.done.tokens_out >= O200k().count("Good day to you")


async def test_c1_a_reply_knows_the_model_and_its_own_tokens(house: House) -> None:
    chat = await house.chat(await house.bot())
    await house.say(chat, "Hello", say("Good day to you"))
    page = await list_messages(house.kit, house.owner, chat.conversation_id)
    assert (page.items[0].model, page.items[0].tokens) == ("scripted", O200k().count("Good day to you"))


async def test_c1_a_prompt_that_an_upstream_refused_is_listed_with_its_conversation_too(house: House) -> None:
    chat = await house.chat(await house.bot())
    with pytest.raises(ModelRefused):
        await house.say(chat, "Hello", Fault(status=500))
    (listed,) = await prompts_of_conversation(house.kit, house.owner, chat.conversation_id)
    assert listed.message_id is None
    assert (await house.said(chat.conversation_id))[-1] == (Role.USER, "Hello")
