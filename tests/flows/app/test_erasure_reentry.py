"""What a person erased comes back by nothing that was said before, only by a later fresh statement (M14)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest

from souvenance.app.change_memories import Cause, NotChanged, Outcome, Replace, Store, carry_out
from souvenance.app.erase import erase_memories, undo_erasure
from souvenance.app.purge_ended import purge_ended
from souvenance.app.undo_writes import undo_writes
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.erasure import Erasure
from souvenance.domain.ids import MemoryId, MessageId
from souvenance.domain.journal import Actor, Anchor, Content
from souvenance.domain.memory import ACCOUNT_SCOPE, Evidence, Memory, Scope, ScopeKind
from souvenance.ports.store import Unit
from souvenance.testing.script import Hang, Reply, say
from tests.flows.app.house import House, called, calls

TEA = "They like tea."


async def _erase(house: House, memory: Memory) -> Erasure:
    return await erase_memories(house.kit, house.owner, [memory.memory_id])


async def _purge(house: House) -> None:
    house.clock.advance(seconds=11)
    assert await purge_ended(house.kit) > 0


async def _store(
    house: House,
    text: str = TEA,
    *,
    actor: Actor = Actor.EXTRACTION,
    said: Sequence[Evidence] = (),
    anchors: Sequence[str] = (),
    scope: Scope = ACCOUNT_SCOPE,
    key: str | None = None,
) -> Outcome:
    """What queued work, a pass or an import does when it stores what it found."""
    content = Content(text=text, key=key, evidence=tuple(said))
    wish = Store(memory_id=MemoryId(house.kit.ids.new("mem")), scope=scope, content=content, terms=("tea",))
    cause = Cause(
        actor=actor, at=house.clock.now(), anchors=tuple(Anchor(message=MessageId(anchor)) for anchor in anchors)
    )
    return await house.kit.store.write(house.owner, lambda unit: carry_out(unit, wish, cause), label="test.stored")


def _said(at: datetime, message_id: str | None = None) -> Evidence:
    return Evidence(at=at, message_id=None if message_id is None else MessageId(message_id))


ERASED = NotChanged(reason="erased")


async def test_m14_work_on_what_was_said_before_the_erasure_stores_nothing(house: House) -> None:
    said = _said(house.clock.now(), "msg_old")
    await _erase(house, await house.remember(TEA))
    for purge in (False, True):
        if purge:
            await _purge(house)
        for actor in (Actor.MODEL, Actor.TEXT_CALL, Actor.EXTRACTION, Actor.DEEPER, Actor.IMPORT):
            assert await _store(house, "THEY LIKE TEA", actor=actor, said=[said]) == ERASED
    assert await house.texts() == []


async def test_m14_a_later_fresh_statement_is_stored_and_the_tombstone_stays_for_older_ones(house: House) -> None:
    old = _said(house.clock.now())
    await _erase(house, await house.remember(TEA))
    await _purge(house)
    fresh = _said(house.clock.now())
    assert await _store(house, said=[fresh]) != ERASED
    assert await house.texts() == [TEA]
    assert await _store(house, said=[old]) == ERASED


async def test_m14_an_import_without_a_time_counts_as_old(house: House) -> None:
    await _erase(house, await house.remember(TEA))
    await _purge(house)
    assert await _store(house, actor=Actor.IMPORT) == ERASED
    assert await _store(house, actor=Actor.IMPORT, said=[_said(house.clock.now())]) != ERASED


async def test_m14_a_source_of_what_was_erased_brings_it_back_in_no_scope(house: House) -> None:
    bot = Scope.of_bot((await house.bot()).bot_id)
    source = _said(house.clock.now(), "msg_source")
    stored = await _store(house, said=[source], anchors=["msg_reply"])
    assert stored.memory is not None
    await _erase(house, stored.memory)
    await _purge(house)
    assert await _store(house, said=[source], scope=bot) == ERASED
    assert await _store(house, said=[_said(house.clock.now())], anchors=["msg_reply"], scope=bot) == ERASED
    other = await _store(house, said=[_said(source.at, "msg_other")], scope=bot)
    assert other != ERASED, "the bot was never told to forget it"


async def test_m14_a_person_may_say_again_what_they_erased_at_any_time(house: House) -> None:
    await _erase(house, await house.remember(TEA))
    await house.remember(TEA)
    assert await house.texts() == [TEA]


async def test_m14_no_update_makes_another_memory_say_it(house: House) -> None:
    old = _said(house.clock.now())
    await _erase(house, await house.remember(TEA))
    other = await house.remember("They like rum.")
    wish = Replace(memory_id=other.memory_id, content=Content(text=TEA, evidence=(old,)), terms=("tea",))
    cause = Cause(actor=Actor.MODEL, at=house.clock.now())
    outcome = await house.kit.store.write(house.owner, lambda unit: carry_out(unit, wish, cause), label="test.replaced")
    assert (outcome, await house.texts()) == (NotChanged(reason="erased", memory=other), ["They like rum."])


async def test_m14_of_a_key_the_erased_value_stays_away_and_another_may_come(house: House) -> None:
    old = _said(house.clock.now())
    scope = Scope.of_bot((await house.bot()).bot_id)
    await _erase(house, await house.remember("tea", scope, key="drink"))
    assert await _store(house, "Tea", scope=scope, key="drink", said=[old]) == ERASED
    assert await _store(house, "rum", scope=scope, key="drink", said=[old]) != ERASED
    assert await _store(house, "tea", scope=scope, key="smell", said=[old]) != ERASED
    assert await house.pairs(scope) == {"drink": "rum", "smell": "tea"}


@pytest.mark.parametrize("purged", [False, True])
async def test_m14_a_reply_in_flight_stores_nothing_that_was_erased_meanwhile(house: House, purged: bool) -> None:
    mira = await house.bot()
    chat = await house.chat(mira)
    scope = Scope.of_bot(mira.bot_id)
    memory = await house.remember(TEA, scope)
    turn = asyncio.create_task(house.say(chat, "I like tea, you know.", *_remembers(TEA)))
    await house.model.hanging.wait()
    await _erase(house, memory)
    if purged:
        await _purge(house)
    house.model.released.set()
    assert (await turn).notes == [("refused", "Not stored: you erased this. Say it again if it is to be remembered.")]
    assert await house.texts(scope) == []
    if purged:
        assert TEA.encode() not in await _sent(house, chat)


async def test_m14_said_again_after_the_erasure_a_model_stores_it(house: House) -> None:
    mira = await house.bot()
    chat = await house.chat(mira)
    scope = Scope.of_bot(mira.bot_id)
    house.model.released.set()
    await _erase(house, await house.remember(TEA, scope))
    house.clock.advance(seconds=1)
    told = await house.say(chat, "Do remember that I like tea.", *_remembers(TEA))
    assert (told.kinds, await house.texts(scope)) == (["remembered"], [TEA])


async def test_m14_taking_an_erasure_back_brings_all_back_and_its_text_may_be_stored_again(house: House) -> None:
    old = _said(house.clock.now())
    first, second = await house.remember(TEA), await house.remember("They like rum.")
    erasure = await erase_memories(house.kit, house.owner, [first.memory_id, second.memory_id])
    house.clock.advance(seconds=1)
    assert await _store(house, said=[old]) == ERASED
    await _store(house, said=[_said(house.clock.now())])
    await undo_erasure(house.kit, house.owner, erasure.erasure_id)
    assert [memory.memory_id for memory in await house.memories()] == [first.memory_id, second.memory_id]
    assert await _store(house, said=[old]) != ERASED


async def test_m14_a_rewind_brings_no_text_back_that_was_erased_in_another_memory(house: House) -> None:
    """One memory said X until a turn let it say Y; another said X and was erased; the turn is taken back."""
    bot = await house.bot()
    chat, scope = await house.chat(bot), Scope.of_bot(bot.bot_id)
    house.model.released.set()
    await house.say(chat, "I like tea.", *_remembers(TEA))
    changed = await house.say(chat, "Rather rum.", *_updates(1, "They like rum."))
    await _erase(house, await house.remember(TEA, scope))
    await _purge(house)
    await _choose(house, changed.stored, chosen=False)
    assert await house.texts(scope) == []
    await _choose(house, changed.stored, chosen=True)
    assert await house.texts(scope) == ["They like rum."]


async def test_m14_session_memory_of_a_fork_gets_nothing_back_from_the_messages_it_shares(house: House) -> None:
    source = _said(house.clock.now(), "msg_source")
    here, there = (Scope(kind=ScopeKind.CONVERSATION, ref=f"cnv_{name}") for name in ("here", "there"))
    stored = await _store(house, said=[source], scope=here)
    assert stored.memory is not None
    await _erase(house, stored.memory)
    await _purge(house)
    assert await _store(house, said=[source], scope=there) == ERASED


def _remembers(text: str) -> tuple[Reply, ...]:
    return calls(called("remember", "one", text=text)), Hang(after=("Noted.",))


def _updates(number: int, text: str) -> tuple[Reply, ...]:
    return calls(called("update_memory", "one", id=number, text=text)), say("Changed.")


async def _choose(house: House, message: Message, *, chosen: bool) -> None:
    """As a rewind or a switch of variants does."""

    def work(unit: Unit) -> None:
        unit.messages.save(replace(message, chosen=chosen))
        undo_writes(unit, [message.origin_id], house.clock.now())

    await house.kit.store.write(house.owner, work, label="test.chosen")


async def _sent(house: House, chat: Conversation) -> bytes:
    """All that is kept of what was sent in this conversation."""

    def work(unit: Unit) -> bytes:
        prompts = unit.prompts.of_conversation(chat.conversation_id, limit=20)
        return b"".join(part.data for one in prompts for part in unit.prompts.get(one.prompt_id).parts)

    return await house.read(work)
