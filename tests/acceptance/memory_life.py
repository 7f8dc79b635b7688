"""A life of memories through REST beside the plain model: chats, other answers, branches, hand edits, erasures.

Each step says what may be seen after it was cut off (nothing, a part that is whole in itself, all of it); a step that
was answered must be seen whole.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx2

from tests.acceptance.stored import listed, messages, read
from tests.undo.plain import Entry, Plain
from tests.undo.world import Speaker

WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath")
KEYS = ("drink", "town", "pet")
MOST_CHATS = 4
LASTING_ROOM = 1_000

Send = Callable[[httpx2.AsyncClient], Awaitable[httpx2.Response]]
Picture = tuple[list[tuple[str, str, bool]], dict[str, list[tuple[str, str]]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What is sent, and the worlds that may be found when no answer came; the last one is the step done."""

    name: str
    send: Send
    worlds: Sequence[Plain]
    erased: str = ""


@dataclass(slots=True, kw_only=True)
class Life:
    """`plain` is what is known to be stored. `markers` were erased, and acknowledged as erased."""

    bot_id: str
    chance: random.Random
    speaker: Speaker
    plain: Plain = field(default_factory=lambda: Plain(LASTING_ROOM))
    markers: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    async def next_step(self, rest: httpx2.AsyncClient) -> Step:
        """One that can be taken now, chosen by chance."""
        self.speaker.plan(())
        ways = [
            self._say,
            self._say,
            self._say,
            self._remember,
            self._edit,
            self._pin,
            self._erase,
            *[self._erase_marker] * 3,
        ]
        if any(self.plain.chats.values()):
            ways += [self._regenerate, self._regenerate, self._choose, self._rewind, self._fork, self._edit_message]
        while True:
            step = await self.chance.choice(ways)(rest)
            if step is not None:
                return step

    async def settle(self, rest: httpx2.AsyncClient, worlds: Sequence[Plain]) -> None:
        """Take over the one of these worlds that is stored; AssertionError when it is none of them."""
        await self._name_forks(rest, worlds)
        found = await self._seen(rest)
        fitting = [world for world in worlds if picture(world) == found]
        assert fitting, f"{found} is none of {[picture(world) for world in worlds]}"
        self.plain = fitting[-1]

    async def _seen(self, rest: httpx2.AsyncClient) -> Picture:
        memories = await listed(rest, "/memories", scope=f"bot:{self.bot_id}")
        kept = sorted((one["key"] or "", one["text"] or one["value"], one["pinned"]) for one in memories)
        chats = {str(one["id"]): await messages(rest, one["id"]) for one in await listed(rest, "/conversations")}
        return kept, {chat: [(one["role"], one["text"].strip()) for one in said] for chat, said in chats.items()}

    async def _name_forks(self, rest: httpx2.AsyncClient, worlds: Sequence[Plain]) -> None:
        """A fork has its id from the server."""
        there = {str(one["id"]) for one in await listed(rest, "/conversations")}
        for world in worlds:
            if "new" in world.chats and (unknown := there - world.chats.keys()):
                world.chats[unknown.pop()] = world.chats.pop("new")

    # --- turns ---

    async def _say(self, rest: httpx2.AsyncClient) -> Step:
        chat = self.chance.choice(sorted(self.plain.chats))
        wishes, text = self._wishes(), f"Question {next(self._numbers)}?"
        opened = copy.deepcopy(self.plain)
        opened.say(chat).update(text=text, texts={})
        done = copy.deepcopy(opened)
        self._answered(done, done.chats[chat][-1], wishes)
        path, body = f"/conversations/{chat}/turns", {"text": text, "stream": False}
        return Step(name="say", send=lambda rest: rest.post(path, json=body), worlds=[self.plain, opened, done])

    async def _regenerate(self, rest: httpx2.AsyncClient) -> Step | None:
        chat, at = self._any_turn(last=True)
        wishes = self._wishes()
        done = copy.deepcopy(self.plain)
        turn = done.chats[chat][at]
        with done.undoing():
            turn["chosen"] = None
        self._answered(done, turn, wishes)
        path = f"/turns/{await self._turn_id(rest, chat, at)}/regenerate"
        return Step(
            name="regenerate", send=lambda rest: rest.post(path, json={"stream": False}), worlds=[self.plain, done]
        )

    async def _choose(self, rest: httpx2.AsyncClient) -> Step | None:
        chat, at = self._any_turn()
        replies = self.plain.chats[chat][at]["replies"]
        if len(replies) < 2:
            return None
        chosen = self.chance.randrange(len(replies))
        done = copy.deepcopy(self.plain)
        with done.undoing():
            done.chats[chat][at]["chosen"] = replies[chosen]
        turn_id = await self._turn_id(rest, chat, at)
        said = (await read(rest, f"/turns/{turn_id}"))["messages"]
        wanted = self.plain.chats[chat][at]["texts"][replies[chosen]]
        variant = next(one["variant"] for one in said if one["text"].strip() == wanted)
        body = {"part": 1, "variant": variant}
        return Step(
            name="choose", send=lambda rest: rest.put(f"/turns/{turn_id}/choice", json=body), worlds=[self.plain, done]
        )

    def _answered(self, world: Plain, turn: Entry, wishes: Sequence[Mapping[str, str]]) -> None:
        hangs = world.answer(turn)
        turn["texts"][turn["chosen"]] = self.speaker.words
        # Tools are called in a first round, text calls stand in the reply.
        for wish in sorted(wishes, key=lambda wish: wish["what"] == "pair"):
            world.remember(wish["text"], key=wish.get("key"), hangs=hangs)

    def _wishes(self) -> list[Mapping[str, str]]:
        wishes: list[Mapping[str, str]] = []
        for _ in range(self.chance.randrange(4)):
            word = self.chance.choice(WORDS)
            told = {"what": "remember", "text": word}
            wishes.append(self.chance.choice([told, {"what": "pair", "key": self.chance.choice(KEYS), "text": word}]))
        self.speaker.plan(wishes)
        self.speaker.words = f"Answer {next(self._numbers)}."
        return wishes

    # --- branches ---

    async def _rewind(self, rest: httpx2.AsyncClient) -> Step:
        chat, at = self._any_turn()
        done = copy.deepcopy(self.plain)
        with done.undoing():
            del done.chats[chat][at:]
        body = {"after_turn": await self._turn_id(rest, chat, at - 1) if at else None}
        path = f"/conversations/{chat}/rewind"
        return Step(name="rewind", send=lambda rest: rest.post(path, json=body), worlds=[self.plain, done])

    async def _fork(self, rest: httpx2.AsyncClient) -> Step | None:
        chat, at = self._any_turn()
        if len(self.plain.chats) == MOST_CHATS:
            return None
        unanswered = self.plain.chats[chat][at]["chosen"] is None or self.chance.random() < 0.5
        done = copy.deepcopy(self.plain)
        done.fork(chat, "new", at + 1, unanswered=unanswered)
        if unanswered:
            done.chats["new"][-1]["texts"] = {}
        body = {"message_id": await self._message_id(rest, chat, at, "user" if unanswered else "bot")}
        path = f"/conversations/{chat}/fork"
        return Step(name="fork", send=lambda rest: rest.post(path, json=body), worlds=[self.plain, done])

    async def _edit_message(self, rest: httpx2.AsyncClient) -> Step:
        chat, at = self._any_turn()
        text = f"Said otherwise {next(self._numbers)}."
        done = copy.deepcopy(self.plain)
        turn = done.chats[chat][at]
        role = "user" if turn["chosen"] is None else self.chance.choice(["user", "bot"])
        with done.undoing():
            if role == "user":
                turn.update(said=done.new(), text=text)
            else:
                done.edit_reply(turn)
                turn["texts"][turn["chosen"]] = text
        path = f"/messages/{await self._message_id(rest, chat, at, role)}"
        return Step(
            name="edit_message", send=lambda rest: rest.patch(path, json={"text": text}), worlds=[self.plain, done]
        )

    # --- a person's hand ---

    async def _remember(self, rest: httpx2.AsyncClient) -> Step:
        return self._kept(self.chance.choice(WORDS), pinned=self.chance.random() < 0.2)

    def _kept(self, text: str, *, pinned: bool) -> Step:
        done = copy.deepcopy(self.plain)
        done.remember(text, pinned=pinned)
        body = {"text": text, "scope": f"bot:{self.bot_id}", "pinned": pinned}
        return Step(name="remember", send=lambda rest: rest.post("/memories", json=body), worlds=[self.plain, done])

    async def _edit(self, rest: httpx2.AsyncClient) -> Step | None:
        one, text = self._any_memory(), self.chance.choice(WORDS)
        if one is None or (one["key"] is None and self.plain.find(text, None) is not None):
            return None
        memory = await self._stored(rest, one)
        done = copy.deepcopy(self.plain)
        done.replace(one["memory"], text)
        body = {"text": text, "seen": memory["version"]}
        path = f"/memories/{memory['id']}"
        return Step(name="edit", send=lambda rest: rest.patch(path, json=body), worlds=[self.plain, done])

    async def _pin(self, rest: httpx2.AsyncClient) -> Step | None:
        one = self._any_memory()
        if one is None:
            return None
        memory = await self._stored(rest, one)
        done = copy.deepcopy(self.plain)
        if one["pinned"]:
            done.do(one["memory"], "unpin")
        else:
            done.pin(one["memory"])
        path, body = f"/memories/{memory['id']}/pin", {"pinned": not one["pinned"]}
        return Step(name="pin", send=lambda rest: rest.put(path, json=body), worlds=[self.plain, done])

    async def _erase(self, rest: httpx2.AsyncClient) -> Step | None:
        one = self._any_memory()
        return None if one is None else await self._erased(rest, one)

    async def _erase_marker(self, rest: httpx2.AsyncClient) -> Step:
        """Of a memory that no other ever equalled: told in one step, erased in a later one."""
        there = [one for one in self.plain.visible() if str(one["text"]).startswith("marker")]
        if there:
            return await self._erased(rest, there[0])
        return self._kept(f"marker{self.chance.randrange(10**12):012}", pinned=False)

    async def _erased(self, rest: httpx2.AsyncClient, one: Entry) -> Step:
        memory = await self._stored(rest, one)
        done = copy.deepcopy(self.plain)
        done.erase(one["memory"])
        marker = one["text"] if str(one["text"]).startswith("marker") else ""
        path = f"/memories/{memory['id']}"
        return Step(name="erase", send=lambda rest: rest.delete(path), worlds=[self.plain, done], erased=marker)

    # --- finding what is meant ---

    def _any_turn(self, *, last: bool = False) -> tuple[str, int]:
        turns = [(chat, at) for chat, said in sorted(self.plain.chats.items()) for at in range(len(said))]
        if last:
            turns = [(chat, at) for chat, at in turns if at == len(self.plain.chats[chat]) - 1]
        return self.chance.choice(turns)

    def _any_memory(self) -> Entry | None:
        there = sorted(self.plain.visible(), key=lambda one: (one["key"] or "", one["text"]))
        return self.chance.choice(there) if there else None

    async def _stored(self, rest: httpx2.AsyncClient, one: Entry) -> dict[str, Any]:
        kept = await listed(rest, "/memories", scope=f"bot:{self.bot_id}")
        return next(m for m in kept if (m["key"], m["text"] or m["value"]) == (one["key"], one["text"]))

    async def _turn_id(self, rest: httpx2.AsyncClient, chat: str, at: int) -> str:
        said = await messages(rest, chat)
        return list(dict.fromkeys(str(one["turn_id"]) for one in said))[at]

    async def _message_id(self, rest: httpx2.AsyncClient, chat: str, at: int, role: str) -> str:
        turn_id = await self._turn_id(rest, chat, at)
        said = await messages(rest, chat)
        return next(str(one["id"]) for one in said if one["turn_id"] == turn_id and one["role"] == role)


def picture(world: Plain) -> Picture:
    """What can be seen of a world."""
    kept = sorted((key, text, pinned) for key, text, pinned, _ in world.seen())
    return kept, {chat: [line for turn in turns for line in _lines(turn)] for chat, turns in world.chats.items()}


def _lines(turn: Entry) -> list[tuple[str, str]]:
    said = [("user", turn["text"])]
    return said if turn["chosen"] is None else [*said, ("bot", turn["texts"][turn["chosen"]])]
