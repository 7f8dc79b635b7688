"""One owner's real store and the app's verbs on it, driven step by step beside the plain model."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

from souvenance.app.archive_memory import archive_memory
from souvenance.app.browse import MemoryView, list_memories, list_messages, read_turn
from souvenance.app.choose_variant import choose_variant
from souvenance.app.delete_conversation import delete_conversation
from souvenance.app.delete_message import delete_message
from souvenance.app.edit_memory import edit_memory
from souvenance.app.edit_message import edit_message
from souvenance.app.erase import erase_memories, undo_erasure
from souvenance.app.fork import fork
from souvenance.app.kit import Kit
from souvenance.app.pin_memory import pin_memory
from souvenance.app.purge_ended import purge_ended
from souvenance.app.regenerate import regenerate
from souvenance.app.reopen_turn import AskedAgain
from souvenance.app.rewind import rewind
from souvenance.app.turn import TurnEvent
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation, Message, Role
from souvenance.domain.ids import LOCAL_ACCOUNT, ErasureId, TurnId
from souvenance.domain.limits import Limits
from souvenance.domain.memory import Scope
from souvenance.domain.owner import Owner, OwnerKind
from souvenance.errors import ModelError
from souvenance.models.tokens import O200k
from souvenance.storage.schema import metadata
from souvenance.storage.sqlite import SqliteStore
from souvenance.testing import CountedIds, FrozenClock, ScriptedModel
from souvenance.testing.script import Fault, HalfStream, Reply, say
from tests.flows.app.house import House, called, calls
from tests.sqlite_file import migrated_folder

T = TypeVar("T")

STEP = 0.01
"""Seconds between two steps: however many there are, an offer to undo does not end by itself."""

_NUMBERED = re.compile(r"^- \[(\d+)\] (?:\(recent\) )?(.*)$", re.MULTILINE)


class Asked(Protocol):
    """A request to a model, of whatever double."""

    @property
    def body(self) -> bytes: ...


class Speaker:
    """A model that wishes what it is told to, by the numbers that stand in the prompt it is given.

    `did` is what it came to, in order: a target that the prompt does not number is left alone.
    """

    def __init__(self) -> None:
        self.wishes: Sequence[Mapping[str, str]] = ()
        self.fault: str = ""
        self.words = "So be it."
        self.did: list[Mapping[str, str]] = []
        self._called = False

    def plan(self, wishes: Sequence[Mapping[str, str]], fault: str = "") -> None:
        self.wishes, self.fault, self.did, self._called = wishes, fault, [], False

    def __call__(self, request: Asked) -> Reply:
        if self.fault == "refuses":
            return Fault(status=503)
        if not self._called and (made := list(self._tool_calls(request))):
            self._called = True
            return calls(*made)
        words = [f"{self.words}\n", *self._text_calls()]
        return HalfStream(chunks=tuple(words)) if self.fault == "breaks" else say(*words)

    def _tool_calls(self, request: Asked) -> Iterator[Any]:
        numbers = _numbers(request)
        for wish in self.wishes:
            number = numbers.get(wish.get("target", ""))
            match wish["what"]:
                case "remember":
                    self.did.append(wish)
                    yield called("remember", text=wish["text"])
                case "update" if number is not None:
                    self.did.append(wish)
                    yield called("update_memory", id=number, text=wish["text"])
                case "forget" if number is not None:
                    self.did.append(wish)
                    yield called("forget", id=number)

    def _text_calls(self) -> Iterator[str]:
        for wish in self.wishes:
            if wish["what"] == "pair":
                self.did.append(wish)
                yield f'remember("{wish["key"]}", "{wish["text"]}")\n'


def _numbers(request: Asked) -> dict[str, int]:
    """What each number stands for by its last mention, as words to number."""
    by_number: dict[int, str] = {}
    for message in json.loads(request.body)["messages"]:
        if message["role"] == "system":
            by_number |= {int(number): words for number, words in _NUMBERED.findall(message["content"])}
    return {words: number for number, words in by_number.items()}


class Ground:
    """One open store for world after world: to open one, and to compile each statement anew, takes longer than a few
    steps in it.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="souvenance-undo-")
        self.runner = asyncio.Runner()
        self.store = self.runner.run(SqliteStore.open(migrated_folder(Path(self._folder.name) / "data")))

    def clear(self) -> None:
        """Leave not a row in it, as when it was new."""
        with self.store.engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            for table in reversed(metadata.sorted_tables):
                connection.execute(table.delete())
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("PRAGMA user_version = 0")

    def close(self) -> None:
        self.runner.run(self.store.close())
        self.runner.close()
        self._folder.cleanup()


class World:
    """A companion with text calls on, alone on its ground; each verb runs to its end."""

    def __init__(self, room: int, ground: Ground) -> None:
        ground.clear()
        self._runner = ground.runner
        self.speaker = Speaker()
        self.offers: list[ErasureId] = []
        self._edits = 0
        self.house, self.bot = self.run(self._settled(room, ground.store))
        self.scope = Scope.of_bot(self.bot.bot_id)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    async def _settled(self, room: int, store: SqliteStore) -> tuple[House, Bot]:
        clock, model = FrozenClock(), ScriptedModel(respond=self.speaker)
        owner = Owner(
            owner_id=LOCAL_ACCOUNT,
            kind=OwnerKind.ACCOUNT,
            name="Local",
            secret=b"a secret of forty-eight bytes, for tests only...",
            place=0,
            created_at=clock.now(),
        )
        await store.write(LOCAL_ACCOUNT, lambda unit: unit.owners.create(owner), label="owner.created")
        limits = Limits(room_unpinned=room)
        kit = Kit(store=store, models=model, tokenizer=O200k(), clock=clock, ids=CountedIds(), limits=limits)
        house = House(kit=kit, model=model, clock=clock, owner=LOCAL_ACCOUNT)
        return house, await house.bot("Mira", settings={"text_calls": True})

    # --- chats ---

    def chat(self) -> Conversation:
        return self.run(self.house.chat(self.bot))

    def say(self, chat: Conversation, text: str, **more: Any) -> None:
        """A turn; what the model refuses or breaks off ends it."""
        self.house.clock.advance(seconds=STEP)
        with suppress(ModelError):
            self.run(self.house.say(chat, text, **more))

    def messages(self, chat: Conversation) -> list[Message]:
        """The chosen ones in order."""
        page = self.run(list_messages(self.house.kit, self.house.owner, chat.conversation_id, limit=200))
        return list(reversed(page.items))

    def turns(self, chat: Conversation) -> list[TurnId]:
        return list(dict.fromkeys(message.turn_id for message in self.messages(chat)))

    def message(self, chat: Conversation, turn: int, role: Role) -> Message:
        return next(m for m in self.messages(chat) if m.turn_id == self.turns(chat)[turn] and m.role is role)

    def variants(self, turn_id: TurnId) -> list[Message]:
        """Every reply of a turn, chosen or not, in the order in which they came."""
        _, messages = self.run(read_turn(self.house.kit, self.house.owner, turn_id))
        return sorted((m for m in messages if m.role is Role.BOT), key=lambda m: (m.part, m.variant))

    def regenerate(self, chat: Conversation, turn: int) -> None:
        self.house.clock.advance(seconds=STEP)
        with suppress(ModelError):
            self.run(
                self._heard(regenerate(self.house.kit, self.house.owner, AskedAgain(turn_id=self.turns(chat)[turn])))
            )

    async def _heard(self, events: AsyncGenerator[TurnEvent, None]) -> None:
        async with aclosing(events):
            async for _ in events:
                continue

    def choose(self, chat: Conversation, turn: int, reply: int) -> None:
        turn_id = self.turns(chat)[turn]
        chosen = self.variants(turn_id)[reply]
        self.run(choose_variant(self.house.kit, self.house.owner, turn_id, part=chosen.part, variant=chosen.variant))

    def rewind(self, chat: Conversation, turns: int) -> None:
        """Back to this many turns."""
        after = self.turns(chat)[turns - 1] if turns else None
        self.run(rewind(self.house.kit, self.house.owner, chat.conversation_id, after=after))

    def fork(self, chat: Conversation, turn: int, role: Role) -> Conversation:
        return self.run(fork(self.house.kit, self.house.owner, self.message(chat, turn, role).message_id))

    def edit_message(self, chat: Conversation, turn: int, role: Role) -> None:
        self._edits += 1
        message_id = self.message(chat, turn, role).message_id
        self.run(edit_message(self.house.kit, self.house.owner, message_id, f"Said otherwise ({self._edits})."))

    def delete_message(self, chat: Conversation, turn: int, role: Role) -> None:
        self.run(delete_message(self.house.kit, self.house.owner, self.message(chat, turn, role).message_id))

    def delete_chat(self, chat: Conversation) -> None:
        self.run(delete_conversation(self.house.kit, self.house.owner, chat.conversation_id))

    # --- memories ---

    def views(self) -> list[MemoryView]:
        page = self.run(list_memories(self.house.kit, self.house.owner, scope=self.scope, limit=200))
        return list(page.items)

    def seen(self) -> list[tuple[str, str, bool, bool]]:
        """As the plain model's."""
        return sorted((v.memory.key or "", v.memory.text, v.memory.pinned, v.archived) for v in self.views())

    def view(self, key: str | None, text: str) -> MemoryView:
        return next(v for v in self.views() if (v.memory.key, v.memory.text) == (key, text))

    def remember(self, text: str, *, pinned: bool) -> None:
        self.house.clock.advance(seconds=STEP)
        self.run(self.house.remember(text, self.scope, pinned=pinned))

    def edit(self, view: MemoryView, text: str) -> None:
        self.house.clock.advance(seconds=STEP)
        kit, memory = self.house.kit, view.memory
        self.run(edit_memory(kit, self.house.owner, memory.memory_id, seen=memory.version, text=text))

    def pin(self, view: MemoryView, *, pinned: bool) -> None:
        self.run(pin_memory(self.house.kit, self.house.owner, view.memory.memory_id, pinned=pinned))

    def archive(self, view: MemoryView, *, archived: bool) -> None:
        self.run(archive_memory(self.house.kit, self.house.owner, view.memory.memory_id, archived=archived))

    def erase(self, view: MemoryView) -> None:
        self.house.clock.advance(seconds=STEP)
        erasure = self.run(erase_memories(self.house.kit, self.house.owner, [view.memory.memory_id]))
        self.offers.append(erasure.erasure_id)

    def take_back(self) -> None:
        self.run(undo_erasure(self.house.kit, self.house.owner, self.offers.pop()))

    def purge(self) -> None:
        self.house.clock.advance(seconds=60)
        self.run(purge_ended(self.house.kit))
        self.offers.clear()
