"""The app room over a real store, with a model that says what it is told to: turns in, events and prompts out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from souvenance.app.bots import NewBot, create_bot
from souvenance.app.browse import list_memories, list_messages
from souvenance.app.busy import Busy
from souvenance.app.chat_turn import chat_turn
from souvenance.app.conversations import NewConversation, open_conversation
from souvenance.app.kit import Kit
from souvenance.app.query_memories import Query, query_memories
from souvenance.app.remember import NewMemory, remember
from souvenance.app.turn import Address, Delta, Done, FromClient, InConversation, Noted, Opened, TurnEvent, TurnRequest
from souvenance.domain.bot import Bot, Preset
from souvenance.domain.conversation import Conversation, Flags, Message, Role
from souvenance.domain.ids import LOCAL_ACCOUNT, ConversationId, OwnerId
from souvenance.domain.memory import ACCOUNT_SCOPE, Evidence, Memory, Scope
from souvenance.domain.owner import Owner, OwnerKind
from souvenance.models.tokens import O200k
from souvenance.ports.chat_model import ModelInfo
from souvenance.ports.store import Store, Unit
from souvenance.testing import CountedIds, FrozenClock, ScriptedModel
from souvenance.testing.script import Call, ToolCalls

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """All the events of one turn."""

    events: tuple[TurnEvent, ...]

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, Delta))

    @property
    def notes(self) -> list[tuple[str, str]]:
        return [(event.kind, event.text) for event in self.events if isinstance(event, Noted)]

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.notes]

    @property
    def passed(self) -> list[str]:
        """The names of the tool calls that a client sees."""
        chunks = [event.chunk for event in self.events if isinstance(event, Delta) and event.chunk is not None]
        return [piece.name for chunk in chunks for piece in chunk.tool_calls if piece.name]

    @property
    def opened(self) -> Opened:
        return next(event for event in self.events if isinstance(event, Opened))

    @property
    def conversation_id(self) -> ConversationId:
        assert self.opened.conversation is not None
        return self.opened.conversation.conversation_id

    @property
    def done(self) -> Done:
        last = self.events[-1]
        assert isinstance(last, Done)
        return last

    @property
    def stored(self) -> Message:
        assert self.done.message is not None
        return self.done.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request as the model received it: its very bytes, and what they say."""

    body: bytes

    @property
    def wire(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.body)
        return read

    @property
    def messages(self) -> list[dict[str, Any]]:
        said: list[dict[str, Any]] = self.wire["messages"]
        return said

    @property
    def system(self) -> str:
        """The system prompt; "" when there is none."""
        first = self.messages[0]
        return str(first["content"]) if first["role"] == "system" else ""

    @property
    def since(self) -> str:
        """The "since then" list that stands just before the newest user message; "" when there is none."""
        newest = self._newest
        if newest > 1 and self.messages[newest - 1]["role"] == "system":
            return str(self.messages[newest - 1]["content"])
        return ""

    @property
    def window(self) -> list[tuple[str, str]]:
        """What was said earlier and is sent word for word, without the newest user message."""
        before = self.messages[: self._newest]
        return [(one["role"], one["content"]) for one in before if one["role"] != "system"]

    @property
    def newest(self) -> str:
        return str(self.messages[self._newest]["content"])

    @property
    def tools(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.wire.get("tools", [])]

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def _newest(self) -> int:
        return max(at for at, one in enumerate(self.messages) if one["role"] == "user")


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """One owner's view of the app room. `store` is the real one behind the kit."""

    kit: Kit
    model: ScriptedModel
    clock: FrozenClock
    owner: OwnerId

    @property
    def prompts(self) -> list[Prompt]:
        return [Prompt(body=request.body) for request in self.model.requests]

    @property
    def prompt(self) -> Prompt:
        """The newest one."""
        return self.prompts[-1]

    def with_limits(self, **figures: Any) -> House:
        return replace(self, kit=replace(self.kit, limits=replace(self.kit.limits, **figures)))

    def with_model(self, model: ScriptedModel) -> House:
        """The same store and clock, another model, and another process's locks."""
        return replace(self, kit=another_kit(self.kit, models=model), model=model)

    def with_context(self, tokens: int) -> House:
        known = ModelInfo(name="scripted", provider="testing", context=tokens)
        return self.with_model(ScriptedModel(models=(known,)))

    def with_store(self, store: Store) -> House:
        return replace(self, kit=replace(self.kit, store=store))

    async def bot(self, name: str = "Mira", preset: Preset = Preset.COMPANION, **more: Any) -> Bot:
        return await create_bot(self.kit, self.owner, NewBot(name=name, preset=preset, **more))

    async def chat(self, bot: Bot | None, **more: Any) -> Conversation:
        new = NewConversation(bot_id=None if bot is None else bot.bot_id, **more)
        return await open_conversation(self.kit, self.owner, new)

    async def say(self, chat: Conversation, text: str, *script: Any, **more: Any) -> Told:
        """One turn in `chat`; `script` is what the model answers (nothing: it echoes)."""
        self.model.script(*script)
        return await self.turn(InConversation(conversation_id=chat.conversation_id), text, **more)

    async def turn(self, address: Address, text: str, **more: Any) -> Told:
        request = TurnRequest(address=address, text=text, **more)
        async with aclosing(chat_turn(self.kit, self.owner, request)) as events:
            return Told(events=tuple([event async for event in events]))

    async def remember(self, text: str, scope: Scope = ACCOUNT_SCOPE, **more: Any) -> Memory:
        new = NewMemory(text=text, scope=scope, **more)
        return (await remember(self.kit, self.owner, new)).memory

    async def memories(self, scope: Scope | None = None) -> list[Memory]:
        """All live ones, first stored first."""
        page = await list_memories(self.kit, self.owner, scope=scope, limit=200)
        return sorted((view.memory for view in page.items), key=lambda memory: memory.place)

    async def texts(self, scope: Scope | None = None) -> list[str]:
        return [memory.text for memory in await self.memories(scope)]

    async def found(self, words: str) -> list[str]:
        """The texts of the memories that a search for these words finds, best first."""
        hits = await query_memories(self.kit, self.owner, Query(text=words))
        return [hit.memory.text for hit in hits.memories]

    async def pairs(self, scope: Scope | None = None) -> dict[str | None, str]:
        return {memory.key: memory.text for memory in await self.memories(scope)}

    async def sources(self, memory: Memory) -> tuple[Evidence, ...]:
        """Every source of it that stands."""
        return (await self.read(lambda unit: unit.memories.evidence([memory.memory_id])))[memory.memory_id]

    async def said(self, conversation_id: ConversationId) -> list[tuple[Role, str]]:
        """The chosen messages in order."""
        found: list[Message] = []
        cursor: str | None = None
        while True:
            page = await list_messages(self.kit, self.owner, conversation_id, cursor=cursor, limit=200)
            found += page.items
            cursor = page.next
            if cursor is None:
                return [(message.role, message.text) for message in reversed(found)]

    async def read(self, work: Callable[[Unit], T]) -> T:
        return await self.kit.store.read(self.owner, work, label="test.read")


async def house_on(store: Store) -> House:
    """The local account of a fresh store, a frozen clock, counted ids, and a model that echoes until it is scripted."""
    clock, model = FrozenClock(), ScriptedModel()
    owner = Owner(
        owner_id=LOCAL_ACCOUNT,
        kind=OwnerKind.ACCOUNT,
        name="Local",
        secret=b"a secret of forty-eight bytes, for tests only...",
        place=0,
        created_at=clock.now(),
    )
    await store.write(LOCAL_ACCOUNT, lambda unit: unit.owners.create(owner), label="owner.created")
    kit = Kit(store=store, models=model, tokenizer=O200k(), clock=clock, ids=CountedIds())
    return House(kit=kit, model=model, clock=clock, owner=LOCAL_ACCOUNT)


def another_kit(kit: Kit, **changes: Any) -> Kit:
    """A kit on the same store as another process would have it: nothing in memory is shared."""
    return replace(kit, busy=Busy(), **changes)


def called(name: str, call_id: str = "", **arguments: Any) -> Call:
    """A tool call with these arguments as JSON."""
    return Call(name=name, arguments=json.dumps(arguments, ensure_ascii=False), call_id=call_id)


def calls(*made: Call, text: Sequence[str] = ()) -> ToolCalls:
    return ToolCalls(calls=made, chunks=tuple(text))


def client(bot: Bot | None, *, history: Sequence[tuple[Role, str]] = (), key: str = "key", ref: str = "") -> FromClient:
    """A client that re-sends its history (I3)."""
    new = NewConversation(bot_id=None, model="scripted") if bot is None else NewConversation(bot_id=bot.bot_id)
    return FromClient(client=key, ref=ref, history=tuple(history), conversation=new)


CHALLENGE = Flags(challenge=True)
