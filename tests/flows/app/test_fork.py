from __future__ import annotations

from dataclasses import replace

import pytest

from souvenance.app.change_memories import Cause, carry_out
from souvenance.app.change_memories import Store as Keep
from souvenance.app.edit_message import edit_message
from souvenance.app.fork import fork
from souvenance.app.pin_memory import pin_memory
from souvenance.app.query_memories import Query, query_memories
from souvenance.app.rewind import rewind
from souvenance.domain.conversation import Conversation, Message, Role, TurnState
from souvenance.domain.ids import MemoryId, MessageId, OwnerId
from souvenance.domain.journal import Actor, Anchor, Content
from souvenance.domain.memory import Memory, Origin, Scope
from souvenance.domain.terms import terms
from souvenance.errors import NotFound
from souvenance.ports.store import Unit
from souvenance.testing import say
from tests.flows.app.house import CHALLENGE, House, Told, called, calls, client


def remembers(text: str) -> tuple[object, object]:
    return calls(called("remember", "c1", text=text)), say("Noted.")


def asked(told: Told) -> Message:
    assert told.opened.message is not None
    return told.opened.message


async def all_of(house: House, chat: Conversation) -> list[Message]:
    """Every message with its variants, in order."""

    def work(unit: Unit) -> list[Message]:
        return unit.messages.many([one.message_id for one in unit.branches.held(chat.conversation_id)])

    return await house.read(work)


async def keep_for_session(house: House, chat: Conversation, told: Told, text: str) -> Memory:
    """Session memory as a model keeps it in this reply."""
    scope = Scope.of_conversation(chat.conversation_id)
    content = Content(text=text, confidence=0.9, origin=Origin.MODEL)
    wish = Keep(memory_id=MemoryId(house.kit.ids.new("mem")), scope=scope, content=content, terms=tuple(terms(text)))
    anchor = Anchor(message=told.stored.origin_id, said=asked(told).origin_id)
    cause = Cause(actor=Actor.MODEL, at=house.clock.now(), anchors=(anchor,))
    done = await house.kit.store.write(house.owner, lambda unit: carry_out(unit, wish, cause), label="test.kept")
    assert done.memory is not None
    return done.memory


async def test_t4_a_fork_holds_what_was_said_up_to_the_message_with_all_variants(house: House) -> None:
    bot = await house.bot()
    chat = await house.chat(bot, title="Figs", time_zone="Europe/Paris")
    await house.say(chat, "One", say("First."))
    told = await house.say(chat, "Two", say("Second."))
    await house.say(chat, "Three", say("Third."))
    other = replace(
        told.stored, message_id=MessageId("msg_variant"), origin_id=MessageId("msg_variant"), variant=1, chosen=False
    )
    await house.kit.store.write(house.owner, lambda unit: unit.messages.put(other), label="test.put")

    branch = await fork(house.kit, house.owner, told.stored.message_id)

    assert branch == await house.read(lambda unit: unit.conversations.get(branch.conversation_id))
    assert (branch.parent_id, branch.fork_position, branch.bot_id) == (chat.conversation_id, 1, bot.bot_id)
    assert (branch.title, branch.time_zone, branch.messages, branch.last_position) == ("Figs", "Europe/Paris", 4, 1)
    assert [text for _, text in await house.said(branch.conversation_id)] == ["One", "First.", "Two", "Second."]
    here, there = await all_of(house, chat), await all_of(house, branch)
    assert [(m.origin_id, m.variant, m.chosen, m.tokens) for m in there] == [
        (m.origin_id, m.variant, m.chosen, m.tokens) for m in here if m.position <= 1
    ]
    assert {m.message_id for m in here}.isdisjoint(m.message_id for m in there)
    await house.say(branch, "Other three", say("Otherwise."))
    assert [text for _, text in house.prompt.window] == ["One", "First.", "Two", "Second."]
    assert len(await house.said(chat.conversation_id)) == 6


async def test_t4_a_turn_whose_reply_is_not_copied_is_open(house: House) -> None:
    chat = await house.chat(await house.bot())
    told = await house.say(chat, "Hello", say("Hi."))
    branch = await fork(house.kit, house.owner, asked(told).message_id)
    turn = await house.read(lambda unit: unit.turns.last(branch.conversation_id))
    assert turn is not None
    assert turn.state is TurnState.OPEN
    assert await house.said(branch.conversation_id) == [(Role.USER, "Hello")]


async def test_t4_an_operation_stands_while_any_branch_holds_its_origin(house: House) -> None:
    bot = await house.bot()
    scope = Scope.of_bot(bot.bot_id)
    chat = await house.chat(bot)
    told = await house.say(chat, "I like figs.", *remembers("Likes figs"))
    branch = await fork(house.kit, house.owner, told.stored.message_id)
    assert await house.texts(scope) == ["Likes figs"]
    copy = next(m for m in await all_of(house, branch) if m.role is Role.USER)
    await edit_message(house.kit, house.owner, copy.message_id, "I like dates.")
    assert await house.texts(scope) == ["Likes figs"]
    await rewind(house.kit, house.owner, chat.conversation_id)
    assert await house.texts(scope) == []


async def test_t4_a_fork_of_a_client_s_conversation_is_no_client_s(house: House) -> None:
    bot = await house.bot()
    house.model.script(say("Hello."))
    told = await house.turn(client(bot, ref="mine"), "Hi")
    branch = await fork(house.kit, house.owner, told.stored.message_id)
    assert (branch.client, branch.client_ref) == ("", "")
    again = await house.turn(client(bot, history=((Role.USER, "Hi"), (Role.BOT, "Hello."))), "And?")
    assert again.conversation_id == told.conversation_id


async def test_o3_a_fork_of_a_challenge_is_one(house: House) -> None:
    chat = await house.chat(await house.bot(), flags=CHALLENGE)
    told = await house.say(chat, "Hello")
    branch = await fork(house.kit, house.owner, told.stored.message_id)
    assert branch.flags.challenge
    await house.remember("Likes figs")
    await house.say(branch, "What do I like?")
    assert "figs" not in house.prompt.text


async def test_t4_a_fork_behind_the_window_begins_one_anew(house: House) -> None:
    house = house.with_limits(balanced_messages=10)
    chat = await house.chat(await house.bot())
    told = [await house.say(chat, f"Number {n}") for n in range(30)]
    branch = await fork(house.kit, house.owner, told[9].stored.message_id)
    assert (branch.window_start, branch.messages, branch.waiting) == (7, 20, 14)
    late = await fork(house.kit, house.owner, told[29].stored.message_id)
    parent = await house.read(lambda unit: unit.conversations.get(chat.conversation_id))
    assert (late.window_start, late.waiting) == (parent.window_start, parent.waiting)


async def test_m1_session_memory_is_copied_and_each_branch_undoes_its_own(house: House) -> None:
    chat = await house.chat(await house.bot(), title="t")
    first = await house.say(chat, "We play chess.")
    second = await house.say(chat, "I am white.")
    chess = await keep_for_session(house, chat, first, "They play chess")
    await keep_for_session(house, chat, second, "The user plays white")
    await pin_memory(house.kit, house.owner, chess.memory_id, pinned=True)
    here = Scope.of_conversation(chat.conversation_id)

    early = await fork(house.kit, house.owner, first.stored.message_id)
    late = await fork(house.kit, house.owner, second.stored.message_id)

    of_early, of_late = (Scope.of_conversation(one.conversation_id) for one in (early, late))
    assert await house.texts(of_early) == ["They play chess"]
    assert await house.texts(of_late) == await house.texts(here)
    assert [m.pinned for m in await house.memories(of_late)] == [m.pinned for m in await house.memories(here)]
    ids = [m.memory_id for scope in (here, of_early, of_late) for m in await house.memories(scope)]
    assert len(set(ids)) == 5
    found = await query_memories(house.kit, house.owner, Query(text="chess", scopes=(of_early,)))
    assert [hit.memory.text for hit in found.memories] == ["They play chess"]
    await rewind(house.kit, house.owner, chat.conversation_id)
    assert await house.texts(here) == ["They play chess"]  # the person's pin protects it
    assert await house.texts(of_late) == ["They play chess", "The user plays white"]
    await rewind(house.kit, house.owner, late.conversation_id)
    assert await house.texts(of_late) == ["They play chess"]


async def test_q1_the_same_words_of_a_conversation_and_its_forks_are_found_once(house: House) -> None:
    chat = await house.chat(await house.bot())
    told = await house.say(chat, "The lighthouse is red.", say("Fine."))
    branch = await fork(house.kit, house.owner, told.stored.message_id)
    await fork(house.kit, house.owner, told.stored.message_id)
    other = await house.say(await house.chat(await house.bot("Bo")), "A lighthouse!", say("Where?"))

    async def found(**more: object) -> list[tuple[str, str]]:
        query = Query(text="lighthouse", messages=True, **more)  # type: ignore[arg-type]
        hits = await query_memories(house.kit, house.owner, query)
        return [(hit.message.text, hit.message.conversation_id) for hit in hits.messages]

    here, there = branch.conversation_id, other.conversation_id
    assert sorted(text for text, _ in await found()) == ["A lighthouse!", "The lighthouse is red."]
    assert sorted(await found(leave_out=here, leave_out_from=1)) == sorted(
        [("A lighthouse!", there), ("The lighthouse is red.", here)]
    )
    # What stands in the window that asks is not brought up again from another branch.
    assert await found(leave_out=here, leave_out_from=0) == [("A lighthouse!", there)]
    assert len(await found(limit=1)) == 1


async def test_t4_a_message_of_nobody_or_of_another_owner_cannot_be_forked_at(house: House) -> None:
    told = await house.say(await house.chat(await house.bot()), "Hello")
    with pytest.raises(NotFound):
        await fork(house.kit, OwnerId("own_other"), told.stored.message_id)
    with pytest.raises(NotFound):
        await fork(house.kit, house.owner, MessageId("msg_none"))
