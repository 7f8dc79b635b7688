"""I1: a turn for those who call the model themselves."""

from __future__ import annotations

import pytest

from souvenance.app.prepare_turn import Prepared, prepare, record
from souvenance.app.read_prompts import prompts_of_message, read_prompt
from souvenance.app.turn import InConversation, TurnRequest
from souvenance.domain.conversation import Conversation, MessageState, Role
from souvenance.errors import PromptTooLarge, TurnSuperseded
from souvenance.testing import ScriptedModel, say
from tests.flows.app.house import House

ONE_DATABASE = True


async def _prepare(house: House, chat: Conversation, text: str, **more: str) -> Prepared:
    request = TurnRequest(address=InConversation(conversation_id=chat.conversation_id), text=text, **more)  # type: ignore[arg-type]
    return await prepare(house.kit, house.owner, request)


async def test_i1_prepare_gives_the_messages_with_memory_and_record_keeps_the_reply(house: House) -> None:
    chat = await house.chat(await house.bot(system_prompt="Be brief."))
    await house.remember("likes tea")
    prepared = await _prepare(house, chat, "Hello")
    assert [one["role"] for one in prepared.messages] == ["system", "user"]
    assert str(prepared.messages[0]["content"]).startswith("Be brief.")
    assert "likes tea" in str(prepared.messages[0]["content"])
    recorded = await record(house.kit, house.owner, prepared, "Good day", tokens_in=90, tokens_out=2)
    assert (recorded.done.tokens_in, recorded.done.tokens_out, recorded.done.estimated) == (90, 2, False)
    assert await house.said(chat.conversation_id) == [(Role.USER, "Hello"), (Role.BOT, "Good day")]
    assert house.prompts == []
    again = await _prepare(house, chat, "And now?")
    assert [str(one["content"]) for one in again.messages[1:]] == ["Hello", "Good day", "And now?"]


async def test_i1_what_was_prepared_reads_back(house: House) -> None:
    chat = await house.chat(await house.bot())
    prepared = await _prepare(house, chat, "Hello")
    recorded = await record(house.kit, house.owner, prepared, "Good day")
    assert recorded.done.message is not None
    (prompt,) = await prompts_of_message(house.kit, house.owner, recorded.done.message.message_id)
    whole = await read_prompt(house.kit, house.owner, prompt.prompt_id)
    assert b"".join(part.data for part in whole.parts) == prepared.asked.body


async def test_i1_v2_text_calls_of_a_recorded_reply_are_carried_out(house: House) -> None:
    chat = await house.chat(await house.bot(settings={"text_calls": True}))
    recorded = await record(house.kit, house.owner, await _prepare(house, chat, "Hi"), 'Hello remember("a", "1")')
    assert (recorded.text, recorded.done.saved) == ("Hello", 1)
    recorded = await record(house.kit, house.owner, await _prepare(house, chat, "Hi"), 'remember("b", "2")')
    assert recorded.text == "1 saved"
    assert await house.pairs() == {"a": "1", "b": "2"}
    assert [note.kind for note in recorded.notes] == ["remembered"]


async def test_i1_no_memory_tools_are_offered_since_nobody_would_answer_them(house: House) -> None:
    chat = await house.chat(await house.bot())
    assert b'"tools"' not in (await _prepare(house, chat, "Hello")).asked.body


async def test_i1_a_recorded_reply_may_be_cut_off(house: House) -> None:
    chat = await house.chat(await house.bot())
    recorded = await record(house.kit, house.owner, await _prepare(house, chat, "Hello"), "Once up", cut_off=True)
    assert recorded.done.finish == "cut_off"
    assert recorded.done.message is not None
    assert recorded.done.message.state is MessageState.CUT_OFF


async def test_i1_recording_once_more_replaces_and_doubles_nothing(house: House) -> None:
    """A caller that does not know whether its first record was committed may repeat it."""
    chat = await house.chat(await house.bot(settings={"text_calls": True}))
    prepared = await _prepare(house, chat, "Hello")
    for _ in range(2):
        await record(house.kit, house.owner, prepared, 'Good day remember("a", "1")')
    assert await house.said(chat.conversation_id) == [(Role.USER, "Hello"), (Role.BOT, "Good day")]
    assert await house.pairs() == {"a": "1"}


async def test_i1_a_turn_that_another_attempt_took_cannot_be_recorded(house: House) -> None:
    chat = await house.chat(await house.bot())
    prepared = await _prepare(house, chat, "Hello", request_key="key")
    other = house.with_model(ScriptedModel(say("The newer")))
    await other.say(chat, "Hello", request_key="key")
    with pytest.raises(TurnSuperseded):
        await record(house.kit, house.owner, prepared, "The older")
    assert await house.said(chat.conversation_id) == [(Role.USER, "Hello"), (Role.BOT, "The newer")]


async def test_w5_a_message_too_large_is_refused_here_too_and_leaves_nothing(house: House) -> None:
    tight = house.with_context(2_000)
    chat = await tight.chat(await tight.bot())
    with pytest.raises(PromptTooLarge):
        await _prepare(tight, chat, "zebra " * 5_000)
    assert await tight.said(chat.conversation_id) == []
