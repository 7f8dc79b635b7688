"""A process that lives through a story of commits and dies, as by kill -9, at the boundary it is told; for tests only.

It reads one order a line, forks a child for each (so that what is slow to load is loaded once), and answers with one
line of JSON once the child is gone: its exit status, the boundaries it passed, and what was acknowledged to it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

from souvenance.app.archive_memory import archive_memory
from souvenance.app.bots import bot_for, change_bot, set_level
from souvenance.app.browse import list_conversations, list_memories, list_messages, read_turn
from souvenance.app.chat_turn import acknowledge, chat_turn
from souvenance.app.conversations import NewConversation
from souvenance.app.edit_memory import edit_memory
from souvenance.app.erase import erase_memories, undo_erasure
from souvenance.app.personas import change_persona, create_persona, delete_persona
from souvenance.app.pin_memory import pin_memory
from souvenance.app.purge_ended import purge_ended
from souvenance.app.remember import NewMemory, remember, remember_many
from souvenance.app.turn import Address, Done, FromClient, InConversation, NewChat, Opened, TurnRequest
from souvenance.domain.bot import Preset
from souvenance.domain.conversation import Role, Turn
from souvenance.domain.limits import Level
from souvenance.domain.memory import ACCOUNT_SCOPE
from souvenance.errors import ModelBroken
from souvenance.models.tokens import O200k
from souvenance.ports.memories import Shelf
from souvenance.settings import DatabaseUrl, Settings
from souvenance.storage import postgres, sqlite
from souvenance.testing import CountedIds, FrozenClock, HalfStream, ScriptedModel, call, say
from souvenance.wiring import House, open_house
from tests.acceptance import summary_story, work_story

KILLED = 9
LOADED = (postgres, sqlite)
"""Imported for the children to find."""

View = dict[str, str]
"""What a person sees of a store: memories, messages and turns by name."""
Tell = Callable[[], Awaitable[None]]
"""Says that what was asked for until now was acknowledged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Live in this store and die at the boundary of this number (from 0), None for a whole life."""

    folder: str
    database_url: str | None
    dies_at: int | None
    story: str = "talk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """`boundaries` were passed, the last one is where it died; `acknowledged` commits had been answered for. `views`
    are what was to be seen after each of them, told of a whole life only.
    """

    status: int
    boundaries: list[str]
    acknowledged: int
    views: list[View]


async def live(house: House, clock: FrozenClock, tell: Tell) -> None:
    """The story: `tell` is called after every single commit, once its verb has answered."""
    await _talk(house, tell)
    await _keep_memories(house, clock, tell)
    await _change_the_rest(house, tell)


async def _talk(house: House, tell: Tell) -> None:
    kit, owner = house.kit, house.owner_id
    bot = await bot_for(kit, owner, "Mira", text_calls=True)
    await tell()
    new = NewConversation(bot_id=bot.bot_id)
    first = await _turn(house, tell, NewChat(conversation=new), "I moved to Bergen, and kiwi makes me ill.")
    await acknowledge(kit, owner, first.turn_id)
    await tell()
    again = InConversation(conversation_id=first.conversation_id)
    with suppress(ModelBroken):
        await _turn(house, tell, again, "What did I say?", key="second")
    await tell()
    await _turn(house, tell, again, "What did I say?", key="second")
    history = ((Role.USER, "Said elsewhere."), (Role.BOT, "Answered elsewhere."))
    await _turn(house, tell, FromClient(client="k", history=history, conversation=new), "And now here.")


async def _turn(house: House, tell: Tell, address: Address, text: str, key: str = "") -> Turn:
    """One turn: two commits, the user's message and the reply with its writes (T6)."""
    turn: Turn | None = None
    request = TurnRequest(address=address, text=text, request_key=key)
    async with aclosing(chat_turn(house.kit, house.owner_id, request)) as events:
        async for event in events:
            if isinstance(event, Opened | Done):
                turn = event.turn
                await tell()
    assert turn is not None
    return turn


async def _keep_memories(house: House, clock: FrozenClock, tell: Tell) -> None:
    kit, owner = house.kit, house.owner_id
    kept = (await remember(kit, owner, NewMemory(text="Likes tea", scope=ACCOUNT_SCOPE))).memory
    await tell()
    two = [NewMemory(text=text, scope=ACCOUNT_SCOPE, pinned=True) for text in ("Has a dog", "Plays the cello")]
    dog, cello = (done.memory.memory_id for done in await remember_many(kit, owner, two))
    await tell()
    await edit_memory(kit, owner, kept.memory_id, seen=kept.version, text="Likes green tea")
    await tell()
    await pin_memory(kit, owner, dog, pinned=False)
    await tell()
    for archived in (True, False):
        await archive_memory(kit, owner, dog, archived=archived)
        await tell()
    offer = await erase_memories(kit, owner, [kept.memory_id, dog])
    await tell()
    await undo_erasure(kit, owner, offer.erasure_id)
    await tell()
    await erase_memories(kit, owner, [kept.memory_id, cello])
    await tell()
    clock.advance(timedelta(minutes=1))
    await purge_ended(kit)
    await tell()


async def _change_the_rest(house: House, tell: Tell) -> None:
    kit, owner = house.kit, house.owner_id
    ledger = await bot_for(kit, owner, "Ledger", preset=Preset.NOTEBOOK)
    await tell()
    await change_bot(kit, owner, ledger.bot_id, changes={"system_prompt": "Be brief."})
    await tell()
    await set_level(kit, owner, ledger.bot_id, Level.DETAILED)
    await tell()
    mask = await create_persona(kit, owner, "Captain", "Sails.")
    await tell()
    await change_persona(kit, owner, mask.persona_id, seen=mask.version, name="Captain", description="Sails far.")
    await tell()
    await delete_persona(kit, owner, mask.persona_id)
    await tell()


async def view(house: House) -> View:
    """Every memory, message and turn."""
    kit, owner = house.kit, house.owner_id
    seen: View = {}
    for each in (await list_memories(kit, owner, scope=None, shelf=Shelf.ALL)).items:
        memory = each.memory
        seen[memory.memory_id] = f"{memory.key}: {memory.text}, pinned {memory.pinned}, archived {each.archived}"
    for conversation in (await list_conversations(kit, owner)).items:
        for message in (await list_messages(kit, owner, conversation.conversation_id)).items:
            turn, _ = await read_turn(kit, owner, message.turn_id)
            seen[message.message_id] = f"{message.role}: {message.text}, {message.state}"
            seen[turn.turn_id] = f"{turn.state}, acknowledged {turn.acknowledged}"
    return seen


def model() -> ScriptedModel:
    """A tool call and a text call in the first turn, half a reply in the second, a whole one after it."""
    tool = call("remember", '{"text": "Lives in Bergen"}')
    calls = say("Noted. ", 'remember("allergy", "kiwi")', " What else?")
    half = HalfStream(chunks=('remember("guess", "wrong") ', "You said"))
    return ScriptedModel(tool, calls, half, say("You moved. ", 'remember("city", "Bergen")'), say("Go on."))


def settings_of(order: Order) -> Settings:
    url = None if order.database_url is None else DatabaseUrl(order.database_url)
    limits = {"work": work_story.LIMITS, "summary": summary_story.LIMITS}.get(order.story, {})
    # One step after the other: side by side they would commit in another order each time.
    return Settings(
        folder=Path(order.folder),
        database_url=url,
        detect_local=False,
        detect_keys=False,
        work_at_once=1,
        limits=limits,
    )


async def _live_and_die(order: Order, out: int) -> None:
    passed = 0

    def probe(boundary: str) -> None:
        nonlocal passed
        os.write(out, json.dumps(boundary).encode() + b"\n")
        if passed == order.dies_at:
            os._exit(KILLED)
        passed += 1

    async def tell() -> None:
        seen = await view(house) if order.dies_at is None else {}
        os.write(out, json.dumps(seen).encode() + b"\n")

    clock = FrozenClock()
    told = summary_story.model() if order.story == "summary" else model()
    steps = work_story.STEPS if order.story == "work" else None
    async with await open_house(
        settings_of(order), models=told, clock=clock, ids=CountedIds(), probe=probe, steps=steps
    ) as house:
        match order.story:
            case "summary":
                await summary_story.live(house, tell)
            case "work":
                await work_story.live(house, clock, tell)
            case _:
                await live(house, clock, tell)


def _child(order: Order, out: int) -> None:
    status = 1
    try:
        asyncio.run(_live_and_die(order, out))
        status = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(status)


def _carry_out(order: Order) -> Life:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _child(order, writer)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as told:
        lines = [json.loads(line) for line in told]
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    boundaries = [line for line in lines if isinstance(line, str)]
    views = [line for line in lines if isinstance(line, dict)]
    return Life(status=status, boundaries=boundaries, acknowledged=len(views), views=views)


def main() -> None:
    O200k().load()
    for line in sys.stdin:
        life = _carry_out(Order(**json.loads(line)))
        sys.stdout.write(json.dumps(asdict(life)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
