"""Another owner of the same store, who has one of each thing: nothing of it may be reached from here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from souvenance.app.browse import list_conversations
from souvenance.app.drafts import list_drafts
from souvenance.app.erase import erase_memories
from souvenance.app.save_from_conversation import How, Selection, draft_from_messages
from souvenance.domain.ids import OwnerId
from souvenance.domain.owner import Owner, OwnerKind
from souvenance.ports.clock import Clock
from souvenance.settings import Settings
from souvenance.testing import FrozenClock, ScriptedModel, say
from souvenance.wiring import open_house
from tests.flows.app.house import House, another_kit, called, calls


@dataclass(frozen=True, slots=True, kw_only=True)
class Stranger:
    """`ids` by kind: bot, conversation, turn, message (the user's), reply, memory, draft, erasure."""

    house: House
    ids: dict[str, str]

    async def all_there_is(self) -> list[str]:
        """The texts of all that the stranger has."""
        kit, owner = self.house.kit, self.house.owner
        chats = (await list_conversations(kit, owner)).items
        said = [text for chat in chats for _, text in await self.house.said(chat.conversation_id)]
        drafts = [draft.text for draft in (await list_drafts(kit, owner)).items]
        return [*(await self.house.texts()), *said, *drafts]


@asynccontextmanager
async def strangers_house(settings: Settings, clock: Clock) -> AsyncIterator[Stranger]:
    """The stranger, on the store of this installation and by its server's clock."""
    async with await open_house(settings) as opened:
        model = ScriptedModel()
        kit = another_kit(opened.kit, models=model, clock=clock)
        house = House(kit=kit, model=model, clock=FrozenClock(), owner=OwnerId("own_stranger"))
        owner = Owner(
            owner_id=house.owner,
            kind=OwnerKind.ACCOUNT,
            name="Stranger",
            secret=b"a secret of forty-eight bytes, for tests only...",
            place=0,
            created_at=clock.now(),
        )
        await kit.store.write(house.owner, lambda unit: unit.owners.create(owner), label="owner.created")
        yield Stranger(house=house, ids=await _one_of_each(house))


async def _one_of_each(house: House) -> dict[str, str]:
    bot = await house.bot("Theirs")
    chat = await house.chat(bot)
    told = await house.say(chat, "I keep wombats", calls(called("remember", text="keeps wombats")), say("Noted"))
    assert told.opened.message is not None
    assert told.done.turn is not None
    (memory,) = await house.memories()
    message = told.opened.message.message_id
    drafted = await draft_from_messages(house.kit, house.owner, Selection(message_ids=(message,), how=How.EACH))
    gone = await house.remember("is erased")
    erasure = await erase_memories(house.kit, house.owner, [gone.memory_id])
    return {
        "bot": bot.bot_id,
        "conversation": chat.conversation_id,
        "turn": told.done.turn.turn_id,
        "message": message,
        "reply": told.stored.message_id,
        "memory": memory.memory_id,
        "draft": drafted.drafts[0].draft_id,
        "erasure": erasure.erasure_id,
    }
