"""V1 through whole turns: a model remembers, changes, forgets and finds in mid-reply, beside the client's own tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from souvenance.app.pin_memory import pin_memory
from souvenance.app.query_memories import Query, query_memories
from souvenance.domain.bot import Preset
from souvenance.domain.conversation import TurnState
from souvenance.domain.memory import ACCOUNT_SCOPE, Origin, Scope, ScopeKind
from souvenance.ports.chat_model import ModelInfo
from souvenance.testing import Call, ScriptedModel, ToolCalls, call, say
from tests.flows.app.house import House, called, calls

ONE_DATABASE = True

OURS = ["remember", "update_memory", "forget", "memory_query"]


def _answers(house: House) -> list[Any]:
    return [json.loads(one["content"]) for one in house.prompt.messages if one["role"] == "tool"]


async def test_v1_a_companions_model_remembers_into_its_bots_scope_with_the_message_as_its_source(house: House) -> None:
    bot = await house.bot()
    chat = await house.chat(bot)
    told = await house.say(
        chat, "I am Renko", calls(called("remember", text="is called Renko")), say("Hello ", "Renko")
    )
    (memory,) = await house.memories()
    assert (memory.text, memory.scope, memory.origin) == ("is called Renko", Scope.of_bot(bot.bot_id), Origin.MODEL)
    assert memory.confidence <= 0.9
    assert told.opened.message is not None
    assert [source.message_id for source in await house.sources(memory)] == [told.opened.message.message_id]
    assert told.text == told.stored.text == "Hello Renko"
    assert told.notes == [("remembered", "is called Renko")]
    assert told.done.saved == 1


async def test_v1_the_answer_to_a_call_stands_in_the_next_round_and_the_client_sees_nothing_of_it(house: House) -> None:
    chat = await house.chat(await house.bot())
    told = await house.say(
        chat,
        "I am Renko",
        calls(called("remember", "call_9", text="is called Renko"), text=["One ", "moment. "]),
        say("Hi"),
    )
    *_, asked, answered = house.prompt.messages
    assert asked["content"] == "One moment. "
    assert asked["tool_calls"][0]["function"]["name"] == "remember"
    assert (answered["role"], answered["tool_call_id"]) == ("tool", "call_9")
    assert json.loads(answered["content"])["ok"] is True
    assert told.text == "One moment. Hi"
    assert told.passed == []
    assert told.done.finish == "stop"


async def test_v1_the_tool_traffic_is_not_in_the_history_sent_later(house: House) -> None:
    chat = await house.chat(await house.bot())
    await house.say(chat, "I am Renko", calls(called("remember", text="is called Renko")), say("Hi"))
    await house.say(chat, "And now?")
    assert house.prompt.window == [("user", "I am Renko"), ("assistant", "Hi")]


async def test_v1_several_calls_of_one_reply_are_all_carried_out(house: House) -> None:
    bot = await house.bot()
    await house.remember("lives in Graz", Scope.of_bot(bot.bot_id))
    house.clock.advance(seconds=1)
    await house.remember("likes tea", Scope.of_bot(bot.bot_id))
    chat = await house.chat(bot)
    told = await house.say(
        chat,
        "I moved, am called Renko and hate tea",
        calls(
            called("update_memory", id=2, text="lives in Turin"),
            called("remember", text="is called Renko"),
            called("forget", id=1),
        ),
        say("Noted"),
    )
    assert await house.texts() == ["lives in Turin", "is called Renko"]
    assert told.kinds == ["updated", "remembered", "forgotten"]
    assert told.done.saved == 3


async def test_v1_a_call_spread_over_many_deltas_is_read_whole(house: House) -> None:
    chat = await house.chat(await house.bot())
    arguments = json.dumps({"text": 'says "déjà vu" and 日本語'}, ensure_ascii=False)
    whole = ToolCalls(calls=(Call(name="remember", arguments=arguments, pieces=len(arguments)),))
    await house.say(chat, "Hello", whole, say("Hi"))
    assert await house.texts() == ['says "déjà vu" and 日本語']


async def test_v1_a_call_without_streaming_is_read_too(house: House) -> None:
    chat = await house.chat(await house.bot())
    told = await house.say(chat, "Hello", calls(called("remember", text="likes tea")), say("Hi"), stream=False)
    assert await house.texts() == ["likes tea"]
    assert told.text == "Hi"


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (call("remember", '{"text": "half'), "not valid JSON"),
        (call("remember", "[1, 2]"), "must be a JSON object"),
        (call("remember", '{"text": "  "}'), "remember takes text"),
        (call("remember", '{"text": 7}'), "remember takes text"),
        (call("update_memory", '{"id": true, "text": "x"}'), "update_memory takes id"),
        (call("update_memory", '{"id": 99, "text": "x"}'), "No memory [99] was shown"),
        (call("forget", '{"id": -1}'), "No memory [-1] was shown"),
        (call("forget", '{"id": "everything"}'), "forget takes id"),
        (call("forget", f'{{"id": {"9" * 4_000}}}'), "forget takes id"),
        (call("memory_query", "{}"), "memory_query takes text"),
        (call("launch_rockets", "{}"), "There is no tool named launch_rockets"),
        (call("remember", json.dumps({"text": "x" * 501})), "501"),
        (call("remember", '{"text": "a\\u0000b"}'), "NUL"),
    ],
)
async def test_v1_a_bad_call_gets_an_error_it_can_mend_and_changes_nothing(
    house: House, made: ToolCalls, reason: str
) -> None:
    memory = await house.remember("likes tea")
    chat = await house.chat(await house.bot())
    told = await house.say(chat, "Hello", made, say("I could not"))
    (answer,) = _answers(house)
    assert answer["ok"] is False
    assert reason in answer["error"]
    assert told.kinds == ["refused"]
    assert told.text == "I could not"
    assert await house.memories() == [memory]


async def test_v1_a_model_may_mend_its_call_in_the_next_round(house: House) -> None:
    chat = await house.chat(await house.bot())
    await house.say(chat, "Hi", call("remember", "{"), calls(called("remember", text="likes tea")), say("Done"))
    assert await house.texts() == ["likes tea"]


async def test_v1_after_the_last_round_the_tools_are_gone_and_the_model_must_speak(house: House) -> None:
    small = house.with_limits(tool_rounds=2)
    chat = await small.chat(await small.bot())
    script = [calls(called("memory_query", text="tea")) for _ in range(2)]
    told = await small.say(chat, "What do I drink?", *script, say("I do not know"))
    assert [prompt.tools for prompt in small.prompts] == [OURS, OURS, []]
    assert small.model.requests[-1].tools == ()
    assert told.text == "I do not know"
    assert told.done.finish == "stop"


async def test_v1_a_model_that_calls_even_when_it_has_no_tools_left_ends_the_turn(house: House) -> None:
    small = house.with_limits(tool_rounds=1)
    chat = await small.chat(await small.bot())
    script = [calls(called("remember", text=f"fact {number}")) for number in range(2)]
    told = await small.say(chat, "Hello", *script)
    assert len(small.prompts) == 2
    assert told.done.finish != "tool_calls"
    assert told.done.turn is not None
    assert told.done.turn.state is TurnState.WHOLE


async def test_v1_memory_query_finds_memories_and_messages_that_left_the_window(house: House) -> None:
    small = house.with_limits(balanced_messages=4)
    bot = await small.bot()
    chat = await small.chat(bot)
    await small.say(chat, "My lighthouse keeper is Odalric", say("I see"))
    for number in range(8):
        await small.say(chat, f"filler {number}", say("yes"))
    await small.remember("the lighthouse is red")
    await small.say(chat, "Tell me", calls(called("memory_query", text="lighthouse keeper")), say("Odalric"))
    (answer,) = _answers(small)
    assert [one["text"] for one in answer["memories"]] == ["the lighthouse is red"]
    assert [one["text"] for one in answer["messages"]] == ["My lighthouse keeper is Odalric"]


async def test_v1_memory_query_does_not_repeat_what_the_window_holds(house: House) -> None:
    chat = await house.chat(await house.bot())
    await house.say(chat, "The lighthouse keeper is Odalric", say("I see"))
    await house.say(chat, "Who is it?", calls(called("memory_query", text="lighthouse keeper")), say("Odalric"))
    assert _answers(house) == [{"memories": [], "messages": []}]


async def test_v1_what_memory_query_found_can_be_changed_by_the_number_it_showed(house: House) -> None:
    assistant = await house.bot(preset=Preset.ASSISTANT)
    await house.remember("lives in Graz")
    chat = await house.chat(assistant)
    await house.say(
        chat,
        "I moved to Turin",
        calls(called("memory_query", text="Graz")),
        calls(called("update_memory", id=1, text="lives in Turin")),
        say("Noted"),
    )
    assert await house.texts() == ["lives in Turin"]
    await house.say(chat, "No, further", calls(called("update_memory", id=1, text="lives in Rome")), say("Noted"))
    assert await house.texts() == ["lives in Rome"], "the number is shown in the since-then list and stays"


async def test_v1_memory_query_gives_pinned_memories_no_number(house: House) -> None:
    await house.remember("is allergic to walnuts", pinned=True)
    chat = await house.chat(await house.bot(preset=Preset.ASSISTANT))
    await house.say(chat, "Walnuts?", calls(called("memory_query", text="walnuts")), say("No"))
    assert _answers(house)[0]["memories"] == [{"id": None, "text": "is allergic to walnuts"}]


async def test_v1_what_a_reply_forgot_cannot_be_changed_or_found_any_more_in_it(house: House) -> None:
    bot = await house.bot()
    await house.remember("likes tea", Scope.of_bot(bot.bot_id))
    chat = await house.chat(bot)
    gone = [called("forget", id=1), called("update_memory", id=1, text="likes rum"), called("forget", id=1)]
    await house.say(chat, "Hello", calls(*gone, called("memory_query", text="tea")), say("Done"))
    forgotten, updated, again, found = _answers(house)
    assert forgotten["ok"]
    assert not updated["ok"]
    assert not again["ok"]
    assert "No memory [1]" in updated["error"]
    assert found["memories"] == []
    assert await house.texts() == []


async def test_e1_an_assistants_model_writes_to_the_account_or_to_the_conversation(
    house: House,
) -> None:
    chat = await house.chat(await house.bot(preset=Preset.ASSISTANT))
    await house.say(
        chat,
        "Hello",
        calls(
            called("remember", text="is called Renko"),
            called("remember", text="wants short answers today", this_conversation_only=True),
        ),
        say("Hi"),
    )
    here = Scope(kind=ScopeKind.CONVERSATION, ref=chat.conversation_id)
    assert await house.texts(ACCOUNT_SCOPE) == ["is called Renko"]
    assert await house.texts(here) == ["wants short answers today"]


async def test_v1_equal_text_is_one_memory_with_one_more_source(house: House) -> None:
    """M10."""
    chat = await house.chat(await house.bot())
    for number in range(2):
        house.clock.advance(seconds=1)
        await house.say(chat, f"I like tea, I say it {number}", calls(called("remember", text="Likes tea.")), say("ok"))
    (memory,) = await house.memories()
    assert len(await house.sources(memory)) == 2


async def test_m4_a_subject_stands_with_the_memory(house: House) -> None:
    chat = await house.chat(await house.bot())
    await house.say(
        chat, "Ilse hates coriander", calls(called("remember", text="hates coriander", subject="Ilse")), say("ok")
    )
    (memory,) = await house.memories()
    assert (memory.subject, memory.text) == ("Ilse", "hates coriander")


async def test_o2_a_model_that_cannot_call_tools_is_offered_none(house: House) -> None:
    plain = ModelInfo(name="scripted", context=128_000, can_call_tools=False)
    dumb = house.with_model(ScriptedModel(models=(plain,)))
    chat = await dumb.chat(await dumb.bot())
    await dumb.remember("likes tea")
    await dumb.say(chat, "Hello")
    assert dumb.prompt.tools == []
    assert "likes tea" in dumb.prompt.system
    assert "[1]" not in dumb.prompt.system


async def test_o1_with_learning_off_nothing_is_read_and_no_tool_is_offered(house: House) -> None:
    await house.remember("likes tea")
    chat = await house.chat(await house.bot(settings={"learn": False}))
    await house.say(chat, "Hello")
    assert house.prompt.tools == []
    assert "likes tea" not in house.prompt.text


async def test_v1_a_notebooks_tools_go_by_key(house: House) -> None:
    notebook = await house.bot(preset=Preset.NOTEBOOK)
    chat = await house.chat(notebook)
    await house.say(chat, "Hello", calls(called("remember", key="name", value="Renko")), say("Hi"))
    assert house.prompts[0].tools == ["remember", "forget"]
    assert await house.pairs() == {"name": "Renko"}
    await house.say(chat, "No name", calls(called("forget", key="name"), called("forget", key="age")), say("Gone"))
    assert await house.pairs() == {}
    assert [answer["ok"] for answer in _answers(house)] == [True, False]


async def test_m5_a_notebooks_pinned_key_is_not_changed_by_its_model(house: House) -> None:
    notebook = await house.bot(preset=Preset.NOTEBOOK)
    await house.remember("Renko", Scope.of_bot(notebook.bot_id), key="name", pinned=True)
    told = await house.say(
        await house.chat(notebook),
        "Call me Odalric",
        calls(called("remember", key="name", value="Odalric"), called("forget", key="name")),
        say("I cannot"),
    )
    assert await house.pairs() == {"name": "Renko"}
    assert told.kinds == ["refused", "refused"]
    assert told.done.saved == 0


async def test_v1_a_number_that_another_conversation_showed_changes_nothing(house: House) -> None:
    ottilie = await house.bot("Ottilie")
    secret = await house.remember("likes tea", Scope.of_bot(ottilie.bot_id))
    await house.say(await house.chat(ottilie), "Hello", say("Hi"))
    assert "[1]" in house.prompt.system
    tried = [
        called("forget", id=1),
        called("update_memory", id=1, text="likes rum"),
        called("forget", id=secret.memory_id),
    ]
    told = await house.say(await house.chat(await house.bot()), "Hello", calls(*tried), say("I could not"))
    assert [answer["ok"] for answer in _answers(house)] == [False] * 3
    assert told.kinds == ["refused"] * 3
    assert await house.memories() == [secret]


async def test_v1_m5_a_model_can_neither_pin_nor_unpin_nor_touch_what_was_pinned_since(house: House) -> None:
    bot = await house.bot()
    chat = await house.chat(bot)
    memory = await house.remember("likes tea", Scope.of_bot(bot.bot_id))
    await house.say(chat, "Hello", say("Hi"))
    await pin_memory(house.kit, house.owner, memory.memory_id, pinned=True)
    tried = [
        called("pin", id=1),
        called("unpin", id=1),
        called("forget", id=1),
        called("update_memory", id=1, text="likes rum"),
        called("remember", text="hums", pinned=True),
    ]
    await house.say(chat, "And now?", calls(*tried), say("Hm"))
    assert [answer["ok"] for answer in _answers(house)] == [False] * 4 + [True]
    assert [(one.text, one.pinned) for one in await house.memories()] == [("likes tea", True), ("hums", False)]


async def test_q2_what_a_model_let_say_something_else_is_still_found_by_its_key_and_its_subject(house: House) -> None:
    bot = await house.bot(settings={"text_calls": True})
    scope = Scope.of_bot(bot.bot_id)
    await house.remember("tea", scope, key="breakfast")
    await house.remember("likes tea", scope, subject="Anneliese")
    updates = calls(called("update_memory", id=1, text="coffee"), called("update_memory", id=2, text="likes coffee"))
    await house.say(await house.chat(bot), "Coffee it is", updates, say("Ok"))
    for word in ("breakfast", "Anneliese"):
        hits = await query_memories(house.kit, house.owner, Query(text=word, scopes=(scope,)))
        assert ["coffee" in hit.memory.text for hit in hits.memories] == [True]
