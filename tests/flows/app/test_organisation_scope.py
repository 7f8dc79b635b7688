"""P3: a conversation in an organisation reads that organisation's memory, bound to its owner, and never writes there.

Nobody can be a member yet and no door sets a conversation's organisation: the tests write both through the unit.
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace

import pytest

from souvenance.app.change_memories import Changed, Store, carry_out, pin, said_by_person, source
from souvenance.app.chat_turn import chat_turn
from souvenance.app.erase import erase_memories
from souvenance.app.read_prompts import prompts_of_message, read_prompt
from souvenance.app.remember import NewMemory, remember
from souvenance.app.turn import Delta, Done, InConversation, TurnRequest
from souvenance.domain.bot import Preset
from souvenance.domain.conversation import Conversation, Flags
from souvenance.domain.ids import MemoryId, OwnerId
from souvenance.domain.journal import Content
from souvenance.domain.memory import ACCOUNT_SCOPE, ORGANISATION_SCOPE, Memory
from souvenance.domain.owner import Owner, OwnerKind
from souvenance.domain.terms import terms
from souvenance.errors import BadValue
from souvenance.ports.store import Unit
from souvenance.testing import say
from tests.flows.app.house import CHALLENGE, House, called, calls

_ACME = OwnerId("own_acme")


async def _organisation(house: House, owner_id: OwnerId = _ACME) -> None:
    owner = Owner(
        owner_id=owner_id,
        kind=OwnerKind.ORGANISATION,
        name="Acme",
        secret=b"another secret of forty-eight bytes, for tests..",
        place=0,
        created_at=house.clock.now(),
    )
    await house.kit.store.write(owner_id, lambda unit: unit.owners.create(owner), label="owner.created")


async def _told(house: House, text: str, *, pinned: bool = False, owner_id: OwnerId = _ACME) -> Memory:
    """What an admin keeps for the organisation."""
    cause = said_by_person(house.clock.now())
    wish = Store(
        memory_id=MemoryId(house.kit.ids.new("mem")),
        scope=ORGANISATION_SCOPE,
        content=Content(text=text, evidence=source(cause.at)),
        terms=tuple(terms(text)),
    )

    def work(unit: Unit) -> Memory:
        done = carry_out(unit, wish, cause)
        assert isinstance(done, Changed)
        return pin(unit, done.memory, cause, room=None) if pinned else done.memory

    return await house.kit.store.write(owner_id, work, label="test.kept")


async def _chat(house: House, preset: Preset = Preset.ASSISTANT, flags: Flags = Flags()) -> Conversation:
    chat = await house.chat(await house.bot(f"Bot {preset} {flags.challenge}", preset=preset), flags=flags)
    inside = replace(chat, organisation_id=_ACME)
    await house.kit.store.write(house.owner, lambda unit: unit.conversations.save(inside), label="test.moved")
    return inside


async def test_p3_an_assistants_conversation_reads_the_organisations_and_the_persons_own(house: House) -> None:
    await _organisation(house)
    await _told(house, "We ship on Fridays", pinned=True)
    await _told(house, "The wifi is called quince")
    await house.remember("is called Renko", pinned=True)
    chat = await _chat(house)
    asked = calls(called("memory_query", text="wifi"))
    await house.say(chat, "What is the wifi?", asked, say("quince"))
    assert "We ship on Fridays" in house.prompt.system
    assert "is called Renko" in house.prompt.system
    answer = next(one["content"] for one in house.prompt.messages if one["role"] == "tool")
    assert '{"id": null, "text": "The wifi is called quince"}' in answer


async def test_p3_other_conversations_and_other_organisations_read_none_of_it(house: House) -> None:
    await _organisation(house)
    await _organisation(house, OwnerId("own_other"))
    await _told(house, "The wifi is called quince", pinned=True)
    await _told(house, "The wifi is called medlar", pinned=True, owner_id=OwnerId("own_other"))
    asked = calls(called("memory_query", text="wifi"))
    outside = await house.chat(await house.bot("Outside", preset=Preset.ASSISTANT))
    await house.say(outside, "Which one?", asked, say("?"))
    assert "quince" not in house.prompt.text
    await house.say(await _chat(house), "Which one?", asked, say("?"))
    assert "quince" in house.prompt.text
    assert "medlar" not in house.prompt.text


@pytest.mark.parametrize(
    ("preset", "flags"),
    [(Preset.COMPANION, Flags()), (Preset.NOTEBOOK, Flags()), (Preset.ASSISTANT, CHALLENGE)],
)
async def test_e1_o3_only_an_assistant_reads_it_and_not_in_a_challenge(
    house: House, preset: Preset, flags: Flags
) -> None:
    await _organisation(house)
    await _told(house, "We ship on Fridays", pinned=True)
    await house.say(await _chat(house, preset, flags), "Hello", say("Hi"))
    assert "Fridays" not in house.prompt.text


async def test_c6_what_an_admin_pins_or_erases_shows_with_the_next_message(house: House) -> None:
    await _organisation(house)
    chat = await _chat(house)
    await house.say(chat, "Hello", say("Hi"))
    told = await _told(house, "We ship on Fridays", pinned=True)
    await house.say(chat, "Hello", say("Hi"))
    assert "We ship on Fridays" in house.prompt.system
    await erase_memories(house.kit, _ACME, [told.memory_id])
    await house.say(chat, "Hello", say("Hi"))
    assert "We ship on Fridays" not in house.prompt.text


async def test_p3_an_assistant_writes_to_the_account_and_a_person_not_to_the_organisation(house: House) -> None:
    await _organisation(house)
    kept = calls(called("remember", text="is called Renko"))
    await house.say(await _chat(house), "I am Renko", kept, say("Hi"))
    assert await house.texts(ACCOUNT_SCOPE) == ["is called Renko"]
    with pytest.raises(BadValue, match="scope"):
        await remember(house.kit, house.owner, NewMemory(text="x", scope=ORGANISATION_SCOPE))


async def test_c1_what_was_sent_of_it_reads_back_though_the_account_erased_something_meanwhile(house: House) -> None:
    await _organisation(house)
    await _told(house, "We ship on Fridays", pinned=True)
    own = await house.remember("is called Renko", pinned=True)
    chat = await _chat(house)
    house.model.script(say("Hel", "lo"))
    request = TurnRequest(address=InConversation(conversation_id=chat.conversation_id), text="Hi")
    async with aclosing(chat_turn(house.kit, house.owner, request)) as events:
        while not isinstance(await anext(events), Delta):
            continue
        erased = await erase_memories(house.kit, house.owner, [own.memory_id])
        await house.kit.store.write(house.owner, lambda unit: unit.erasures.purge(erased), label="test.purged")
        done = [event async for event in events][-1]
    assert isinstance(done, Done)
    assert done.message is not None
    (told,) = await prompts_of_message(house.kit, house.owner, done.message.message_id)
    sent = await read_prompt(house.kit, house.owner, told.prompt_id)
    kept = b"".join(part.data for part in sent.parts)
    assert b"We ship on Fridays" in kept
    assert b"is called Renko" not in kept
