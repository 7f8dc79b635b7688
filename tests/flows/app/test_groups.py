"""Group conversations through whole turns: who speaks, what each reads and may change, how lines are told apart."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from souvenance.app.bots import change_bot, set_level
from souvenance.app.browse import read_turn
from souvenance.app.conversations import NewConversation, open_conversation
from souvenance.app.delete_bot import delete_bot
from souvenance.app.delete_message import delete_message
from souvenance.app.let_answer import LetAnswer, let_answer
from souvenance.app.personas import create_persona
from souvenance.app.regenerate import regenerate
from souvenance.app.reopen_turn import AskedAgain
from souvenance.app.save_from_conversation import How, Selection, draft_from_messages
from souvenance.app.turn import Done, Speaking, shown
from souvenance.domain.bot import Bot, Preset
from souvenance.domain.conversation import Conversation, MessageState, Role, TurnState
from souvenance.domain.ids import BotId, TurnId
from souvenance.domain.limits import Level
from souvenance.domain.memory import ACCOUNT_SCOPE, Scope
from souvenance.errors import BadValue, BotGone, ModelError, NotFound, NothingToAnswer, TooMany
from souvenance.testing import Fault, HalfStream, say
from tests.flows.app.house import House, Told, called, calls


async def _group(house: House, *bots: Bot, **more: Any) -> Conversation:
    first, *others = (bot.bot_id for bot in bots)
    new = NewConversation(bot_id=first, others=tuple(others), **more)
    return await open_conversation(house.kit, house.owner, new)


def _ids(*bots: Bot) -> tuple[BotId, ...]:
    return tuple(bot.bot_id for bot in bots)


async def _let(house: House, chat: Conversation, *bots: Bot, script: Any = None) -> Told:
    house.model.script(*([] if script is None else [script]))
    asked = LetAnswer(conversation_id=chat.conversation_id, speakers=_ids(*bots))
    async with aclosing(let_answer(house.kit, house.owner, asked)) as events:
        return Told(events=tuple([event async for event in events]))


async def test_m7_a_turn_has_one_message_and_a_reply_of_each_speaker_in_turn(house: House) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob")
    chat = await _group(house, ada, bob)
    told = await house.say(chat, "Who is there?", say("I am."), say("So am I."), speakers=_ids(ada, bob))
    assert "".join(map(shown, told.events)) == "Ada: I am.\n\nBob: So am I."
    assert [event.bot.name for event in told.events if isinstance(event, Speaking)] == ["Ada", "Bob"]
    assert [event.more for event in told.events if isinstance(event, Done)] == [True, False]
    assert told.done.turn is not None
    turn, messages = await read_turn(house.kit, house.owner, told.done.turn.turn_id)
    assert turn.state is TurnState.WHOLE
    assert [(m.part, m.bot_id, m.text) for m in messages] == [
        (0, None, "Who is there?"),
        (1, ada.bot_id, "I am."),
        (2, bob.bot_id, "So am I."),
    ]


async def test_m7_each_line_but_the_speakers_own_begins_with_the_name_of_whoever_said_it(house: House) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob: B")
    chat = await _group(house, ada, bob)
    await house.say(chat, "Who is there?", say("I am."), say("Me."), speakers=_ids(ada, bob))
    of_bob = house.prompt.messages
    assert [(one["role"], one["content"]) for one in of_bob[1:]] == [
        ("user", "User: Who is there?"),
        ("user", "Ada: I am."),
    ]
    await house.say(chat, "And now?", say("Hm."), speakers=_ids(ada))
    assert [(one["role"], one["content"]) for one in house.prompt.messages[1:]] == [
        ("user", "User: Who is there?"),
        ("assistant", "I am."),
        ("user", "Bob\\x3a B: Me."),
        ("user", "User: And now?"),
    ]
    assert "You are Ada, one of several" in house.prompt.system


async def test_m7_a_user_with_a_persona_is_called_by_it_and_nobody_is_named_in_a_chat_of_two(house: House) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob")
    persona = await create_persona(house.kit, house.owner, "Zoe")
    chat = await _group(house, ada, bob, persona_id=persona.persona_id)
    await house.say(chat, "Hello", say("Hi"))
    assert house.prompt.newest == "Zoe: Hello"
    await house.say(await house.chat(ada), "Hello", say("Hi"))
    assert house.prompt.newest == "Hello"
    assert "one of several" not in house.prompt.system


async def test_m7_the_first_member_answers_when_nobody_is_named(house: House) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob")
    told = await house.say(await _group(house, bob, ada), "Hello", say("Hi"))
    assert told.stored.bot_id == bob.bot_id


async def test_m7_the_speaker_reads_the_union_but_its_number_gives_it_only_what_is_its_own(house: House) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob")
    own = await house.remember("Ada's fact", Scope.of_bot(ada.bot_id))
    other = await house.remember("Bob's fact", Scope.of_bot(bob.bot_id))
    await house.remember("the account's fact")
    chat = await _group(house, ada, bob)
    await house.say(chat, "Hello", say("Hi"), say("Ho"), speakers=_ids(ada, bob))
    of_ada, of_bob = (prompt.system for prompt in house.prompts[-2:])
    for text in ("Ada's fact", "Bob's fact", "the account's fact"):
        assert text in of_ada
        assert text in of_bob
    assert "- [1] (recent) Ada's fact" in of_ada
    assert "- (recent) Bob's fact" in of_ada
    assert "- (recent) Ada's fact" in of_bob
    assert "- [2] (recent) Bob's fact" in of_bob
    assert "- (recent) the account's fact" in of_ada, "a companion writes to its own scope alone (E1)"
    await house.say(
        chat, "Change", calls(called("update_memory", id=1, text="no"), called("forget", id=1)), say("?"),
        speakers=_ids(bob),
    )  # fmt: skip
    assert [one.text for one in await house.memories()] == [own.text, other.text, "the account's fact"]


async def test_m7_each_writes_to_its_own_and_the_next_speaker_reads_it_at_once(house: House) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob")
    chat = await _group(house, ada, bob)
    kept = calls(called("remember", text="The user is called Zoe"))
    await house.say(chat, "I am Zoe", kept, say("Noted"), say("Hi Zoe"), speakers=_ids(ada, bob))
    assert await house.texts(Scope.of_bot(ada.bot_id)) == ["The user is called Zoe"]
    assert await house.texts(Scope.of_bot(bob.bot_id)) == []
    assert "The user is called Zoe" in house.prompt.text


async def test_m6_unpinned_ones_are_dealt_from_the_speaker_the_account_and_the_others_in_order(house: House) -> None:
    small = house.with_limits(unpinned_in_prompt=5)
    ada, bob, cyd = [await small.bot(name) for name in ("Ada", "Bob", "Cyd")]
    for scope, name in ((ACCOUNT_SCOPE, "account"), *((Scope.of_bot(b.bot_id), b.name) for b in (ada, bob, cyd))):
        for number in (1, 2):
            await small.remember(f"{name} {number}", scope)
    await small.say(await _group(small, ada, bob, cyd), "Hello", say("Hi"), speakers=_ids(bob))
    lines = [line for line in small.prompt.system.splitlines() if line.startswith("- ")]
    # Newest last, whoever they were dealt from (C6).
    assert [line.rpartition(") ")[2] for line in lines] == ["account 2", "Ada 2", "Bob 1", "Bob 2", "Cyd 2"]


async def test_m7_a_member_with_learning_off_gives_and_gets_nothing(house: House) -> None:
    ada = await house.bot("Ada")
    bob = await house.bot("Bob", settings={"learn": False})
    await house.remember("Ada's fact", Scope.of_bot(ada.bot_id))
    await house.remember("Bob's fact", Scope.of_bot(bob.bot_id))
    await house.remember("the account's fact")
    chat = await _group(house, ada, bob)
    await house.say(chat, "Hello", say("Hi"), say("Ho"), speakers=_ids(ada, bob))
    of_ada, of_bob = (prompt.text for prompt in house.prompts[-2:])
    assert "Bob's fact" not in of_ada
    assert "fact" not in of_bob


async def test_k1_a_notebooks_store_never_joins_and_it_reads_no_others(house: House) -> None:
    ada = await house.bot("Ada")
    note = await house.bot("Note", preset=Preset.NOTEBOOK)
    await house.remember("Ada's fact", Scope.of_bot(ada.bot_id))
    await house.remember("walnut", Scope.of_bot(note.bot_id), key="secret")
    await house.say(await house.chat(note), "The cellar holds quinces", say("Noted"))
    chat = await _group(house, note, ada)
    await house.say(chat, "Hello", say("Hi"), speakers=_ids(note))
    assert house.prompt.system.endswith("<memory>\n- secret: walnut\n</memory>")
    assert "Ada's fact" not in house.prompt.text
    asked = calls(called("memory_query", text="secret cellar quinces"))
    await house.say(chat, "What is in the cellar?", asked, say("No idea"), speakers=_ids(ada))
    assert "walnut" not in house.prompt.text
    answers = [one["content"] for one in house.prompt.messages if one["role"] == "tool"]
    assert answers == ['{"memories": [], "messages": []}']


async def test_c6_when_a_member_stops_learning_its_memories_leave_with_the_next_message(house: House) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob")
    await house.remember("Bob's fact", Scope.of_bot(bob.bot_id))
    chat = await _group(house, ada, bob)
    await house.say(chat, "Hello", say("Hi"))
    assert "Bob's fact" in house.prompt.text
    await change_bot(house.kit, house.owner, bob.bot_id, changes={"settings": {"learn": False}})
    await house.say(chat, "Hello again", say("Hi"))
    assert "Bob's fact" not in house.prompt.text


async def test_w2_the_level_is_the_first_members_whoever_speaks(house: House) -> None:
    small = house.with_limits(key_events_messages=2)
    ada, bob = await small.bot("Ada"), await small.bot("Bob")
    await set_level(small.kit, small.owner, ada.bot_id, Level.KEY_EVENTS)
    chat = await _group(small, ada, bob)
    for text in ("one", "two", "three", "four"):
        await small.say(chat, text, say("Yes"), speakers=_ids(bob))
    assert "User: one" not in small.prompt.text
    assert "User: three" in small.prompt.text


async def test_m7_another_member_answers_the_last_message_without_a_new_one(house: House) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob")
    chat = await _group(house, ada, bob)
    await house.say(chat, "Who is there?", say("I am."))
    told = await _let(house, chat, bob, script=say("Me too."))
    assert (told.stored.part, told.stored.bot_id) == (2, bob.bot_id)
    assert [one["content"] for one in house.prompt.messages[1:]] == ["User: Who is there?", "Ada: I am."]
    told = await _let(house, chat, script=say("Again."))
    assert (told.stored.part, told.stored.bot_id) == (3, ada.bot_id), "nobody named: the one after the last"
    said = await house.said(chat.conversation_id)
    assert said == [(Role.USER, "Who is there?"), (Role.BOT, "I am."), (Role.BOT, "Me too."), (Role.BOT, "Again.")]


async def test_m7_whoever_spoke_last_does_not_answer_itself_nor_is_there_another_in_a_chat_of_two(
    house: House,
) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob")
    chat = await _group(house, ada, bob)
    with pytest.raises(BadValue):
        await _let(house, chat)
    await house.say(chat, "Hello", say("Hi"))
    with pytest.raises(BadValue):
        await _let(house, chat, ada)
    alone = await house.chat(ada)
    await house.say(alone, "Hello", say("Hi"))
    with pytest.raises(BadValue):
        await _let(house, alone)


async def test_t6_a_request_sent_again_hears_what_was_said_and_asks_only_those_who_did_not_answer(
    house: House,
) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob")
    chat = await _group(house, ada, bob)
    with pytest.raises(ModelError):
        await house.say(chat, "Hello", say("Hi"), Fault(status=500), speakers=_ids(ada, bob), request_key="k")
    assert await house.said(chat.conversation_id) == [(Role.USER, "Hello"), (Role.BOT, "Hi")]
    again = await house.say(chat, "Hello", say("Ho"), speakers=_ids(ada, bob), request_key="k")
    assert again.stored.bot_id == bob.bot_id
    assert "Ada: Hi" in house.prompt.text
    asked = len(house.prompts)
    stored = await house.say(chat, "Hello", speakers=_ids(ada, bob), request_key="k")
    assert "".join(map(shown, stored.events)) == "Ada: Hi\n\nBob: Ho"
    assert len(house.prompts) == asked


async def test_t6_a_reply_cut_off_in_a_group_is_kept_and_stood_in_for_by_its_own_next_one(house: House) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob")
    chat = await _group(house, ada, bob)
    with pytest.raises(ModelError):
        await house.say(
            chat, "Hello", say("Hi"), HalfStream(chunks=("I wan",)), speakers=_ids(ada, bob), request_key="k"
        )
    await house.say(chat, "Hello", say("I want"), speakers=_ids(ada, bob), request_key="k")
    last = await house.read(lambda unit: unit.turns.last(chat.conversation_id))
    assert last is not None
    _, messages = await read_turn(house.kit, house.owner, last.turn_id)
    assert [(m.part, m.variant, m.chosen, m.state, m.text) for m in messages] == [
        (0, 0, True, MessageState.WHOLE, "Hello"),
        (1, 0, True, MessageState.WHOLE, "Hi"),
        (2, 0, False, MessageState.CUT_OFF, "I wan"),
        (2, 1, True, MessageState.WHOLE, "I want"),
    ]


async def test_bad_members_and_speakers_are_refused_and_nothing_is_stored(house: House) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob")
    cyd = await house.bot("Cyd")
    few = house.with_limits(members_most=2)
    with pytest.raises(TooMany, match="members has 3 items; the limit is 2"):
        await _group(few, ada, bob, cyd)
    with pytest.raises(BadValue, match="each bot once"):
        await _group(house, ada, ada)
    with pytest.raises(NotFound):
        await _group(house, ada, replace(bob, bot_id=BotId("bot_elsewhere")))
    chat = await _group(house, ada, bob)
    for speakers in ((cyd,), (ada, ada)):
        with pytest.raises(BadValue, match="speakers"):
            await house.say(chat, "Hello", speakers=_ids(*speakers))
    assert await house.said(chat.conversation_id) == []


async def test_m7_nobody_answers_a_message_that_was_deleted(house: House) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob")
    chat = await _group(house, ada, bob)
    told = await house.say(chat, "Who is there?", say("I am."), speakers=_ids(ada))
    assert told.opened.message is not None
    await delete_message(house.kit, house.owner, told.opened.message.message_id)
    with pytest.raises(NothingToAnswer):
        await _let(house, chat, bob)


async def test_m8_the_last_member_does_not_speak_for_one_that_is_gone(house: House) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob")
    chat = await _group(house, ada, bob)
    told = await house.say(chat, "Who is there?", say("I am."), say("Me."), speakers=_ids(ada, bob))
    assert told.done.turn is not None
    turn_id = told.done.turn.turn_id
    await delete_bot(house.kit, house.owner, ada.bot_id)
    with pytest.raises(BotGone):
        await _again(house, turn_id, part=1)
    house.model.script(say("Me again."))
    new = await _again(house, turn_id, part=2)
    assert (new.stored.bot_id, new.stored.text) == (bob.bot_id, "Me again.")


async def test_v6_of_a_group_whose_first_member_is_gone_messages_are_saved_for_the_next(house: House) -> None:
    ada, bob = await house.bot("Ada"), await house.bot("Bob")
    chat = await _group(house, ada, bob)
    told = await house.say(chat, "I like figs", say("Noted."))
    assert told.opened.message is not None
    await delete_bot(house.kit, house.owner, ada.bot_id)
    selection = Selection(message_ids=(told.opened.message.message_id,), how=How.EACH)
    drafted = await draft_from_messages(house.kit, house.owner, selection)
    assert [(one.text, one.scope) for one in drafted.drafts] == [("I like figs", Scope.of_bot(bob.bot_id))]
    await delete_bot(house.kit, house.owner, bob.bot_id)
    with pytest.raises(BotGone):
        await draft_from_messages(house.kit, house.owner, selection)


async def _again(house: House, turn_id: TurnId, *, part: int) -> Told:
    async with aclosing(regenerate(house.kit, house.owner, AskedAgain(turn_id=turn_id, part=part))) as events:
        return Told(events=tuple([event async for event in events]))
