"""Load the invented life into an account of its own: `python -m demo.load [--folder FOLDER | --database URL]`.

Everything goes in through the app's own verbs, with a scripted model and a clock that steps through the invented dates.
A load that was cut off goes on where it stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from demo.life import Exchange, Fact, Life, Talk, read_life
from souvenance.app.archive_memory import archive_memory
from souvenance.app.bots import NewBot, create_bot
from souvenance.app.browse import list_conversations
from souvenance.app.chat_turn import chat_turn
from souvenance.app.conversations import NewConversation, open_conversation
from souvenance.app.kit import Kit
from souvenance.app.remember import NewMemory, remember
from souvenance.app.turn import InConversation, TurnRequest
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Channel, Conversation
from souvenance.domain.ids import OwnerId
from souvenance.domain.memory import ACCOUNT_SCOPE, Scope
from souvenance.domain.owner import Owner, OwnerKind
from souvenance.errors import SouvenanceError
from souvenance.ports.chat_model import ChatRequest, ModelInfo
from souvenance.ports.store import Unit
from souvenance.settings import read_settings
from souvenance.testing import Call, FrozenClock, Reply, ScriptedModel, ToolCalls, say
from souvenance.wiring import open_house

DEMO_ACCOUNT = OwnerId("own_demo")
MODEL = ModelInfo(name="demo", provider="demo", context=128_000)
READING_TIME = timedelta(seconds=25)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What the account holds now; `added` is False when all of it was there before."""

    messages: int
    memories: int
    added: bool


async def load(kit: Kit, life: Life) -> Loaded:
    """Tell the whole life, in the order in which it happened, into the demo's account of this store."""
    clock = FrozenClock(life.begins)
    voice = _Voice(clock)
    model = ScriptedModel(respond=voice.speak, models=(MODEL,))
    kit = replace(kit, models=model, clock=clock, default_model=None)
    total = Loaded(messages=sum(talk.messages for talk in life.talks), memories=len(life.facts), added=True)
    await kit.store.write(DEMO_ACCOUNT, lambda unit: unit.owners.create(_account(life)), label="demo.account")
    places = {talk.name: await _place(kit, life, talk) for talk in life.talks}
    if sum(conversation.messages for _, conversation in places.values()) >= total.messages:
        return replace(total, added=False)
    for at, step in _story(kit, life, places, voice):
        clock.set(at)
        await step()
    return total


class _Voice:
    """What the model says next, and how long it takes."""

    def __init__(self, clock: FrozenClock) -> None:
        self._clock = clock
        self._replies: list[Reply] = []

    def prepare(self, exchange: Exchange) -> None:
        noting = Call(name="remember", arguments=json.dumps({"text": exchange.remembers}, ensure_ascii=False))
        self._replies = [say(exchange.reply)]
        if exchange.remembers:
            self._replies.insert(0, ToolCalls(calls=(noting,)))

    def speak(self, _: ChatRequest) -> Reply:
        self._clock.advance(READING_TIME)
        return self._replies.pop(0)


_Places = Mapping[str, tuple[Bot, Conversation]]
_Step = tuple[datetime, Callable[[], Awaitable[None]]]


def _story(kit: Kit, life: Life, places: _Places, voice: _Voice) -> list[_Step]:
    steps = [_turn(kit, talk, exchange, places, voice) for talk in life.talks for exchange in talk.exchanges]
    steps += [_fact(kit, fact, places) for fact in life.facts]
    steps += [_archive(kit, fact, places) for fact in life.facts if fact.archived_at is not None]
    return sorted(steps, key=lambda step: step[0])


def _turn(kit: Kit, talk: Talk, exchange: Exchange, places: _Places, voice: _Voice) -> _Step:
    _, conversation = places[talk.name]
    request = TurnRequest(
        address=InConversation(conversation_id=conversation.conversation_id),
        text=exchange.said,
        # A load that goes on gets the stored reply and asks nobody.
        request_key=f"demo {talk.name} {exchange.number}",
    )

    async def step() -> None:
        voice.prepare(exchange)
        async with aclosing(chat_turn(kit, DEMO_ACCOUNT, request)) as events:
            async for _ in events:
                continue

    return exchange.at, step


def _fact(kit: Kit, fact: Fact, places: _Places) -> _Step:
    async def step() -> None:
        if not await kit.store.read(DEMO_ACCOUNT, lambda unit: _is_there(unit, fact, places), label="demo.looked"):
            new = NewMemory(text=fact.text, scope=_scope(fact, places), subject=fact.subject, pinned=fact.pinned)
            await remember(kit, DEMO_ACCOUNT, new)

    return fact.at, step


def _archive(kit: Kit, fact: Fact, places: _Places) -> _Step:
    assert fact.archived_at is not None, "only those that were archived come here"

    async def step() -> None:
        there = await kit.store.read(
            DEMO_ACCOUNT,
            lambda unit: unit.memories.equal_to(_scope(fact, places), text=fact.text, key=None),
            label="demo.looked",
        )
        if there is not None:
            await archive_memory(kit, DEMO_ACCOUNT, there.memory_id, archived=True)

    return fact.archived_at, step


def _is_there(unit: Unit, fact: Fact, places: _Places) -> bool:
    return unit.memories.equal_to(_scope(fact, places), text=fact.text, key=None) is not None


def _scope(fact: Fact, places: _Places) -> Scope:
    return Scope.of_bot(places[fact.bot][0].bot_id) if fact.bot else ACCOUNT_SCOPE


def _account(life: Life) -> Owner:
    return Owner(
        owner_id=DEMO_ACCOUNT,
        kind=OwnerKind.ACCOUNT,
        name=life.account,
        secret=secrets.token_bytes(32),
        place=0,
        created_at=life.begins,
    )


async def _place(kit: Kit, life: Life, talk: Talk) -> tuple[Bot, Conversation]:
    """The bot and its conversation, made unless they are there."""
    bot = await kit.store.read(DEMO_ACCOUNT, lambda unit: unit.bots.find(talk.name), label="demo.looked")
    if bot is None:
        new = NewBot(name=talk.name, preset=talk.preset, system_prompt=talk.system_prompt)
        bot = await create_bot(kit, DEMO_ACCOUNT, new)
    there = await list_conversations(kit, DEMO_ACCOUNT, bot_id=bot.bot_id, limit=1)
    if there.items:
        return bot, there.items[0]
    begun = NewConversation(bot_id=bot.bot_id, channel=Channel.WEB, time_zone=life.time_zone, title=talk.title)
    return bot, await open_conversation(kit, DEMO_ACCOUNT, begun)


async def _load_into(flags: Mapping[str, object]) -> str:
    settings = read_settings(flags)
    async with await open_house(settings, models=ScriptedModel(models=(MODEL,))) as house:
        loaded = await load(house.kit, read_life())
    if not loaded.added:
        return "The demo is loaded already; nothing was added."
    return f"Loaded the demo: {loaded.messages} messages, {loaded.memories} memories of a person's own making."


def main() -> None:
    """Load the invented life, unless it is there."""
    parser = argparse.ArgumentParser(prog="python -m demo.load", description=main.__doc__)
    parser.add_argument("--folder", help="the data folder; the usual one when not named")
    parser.add_argument("--database", help="a PostgreSQL address in place of a folder")
    options = parser.parse_args()
    try:
        told = asyncio.run(_load_into({"folder": options.folder, "database_url": options.database}))
    except SouvenanceError as error:
        sys.exit(str(error))
    sys.stdout.write(told + "\n")


if __name__ == "__main__":
    main()
