"""What undo must come to (T5), as plain lists and dictionaries: nothing of the product's own rules is imported here.

A chat is a list of turns, a turn what was said and the replies to it, of which one counts. What was done to memories is
one list for all chats; each entry hangs on a reply and on what it answered, or on nothing when a person did it. What is
remembered is that list, read from the start, without what hangs on nothing that is there.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

Entry = dict[str, Any]


class Plain:
    """Memories of one scope with room for `room` unpinned ones."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.done: list[Entry] = []
        self.chats: dict[str, list[Entry]] = {}
        self.hidden: list[set[int]] = []
        self.graves: list[Entry] = []
        self._made = 0

    # --- chats ---

    def say(self, chat: str) -> Entry:
        """A new turn without a reply."""
        turn: Entry = {"said": self.new(), "at": self.new(), "replies": [], "chosen": None}
        self.chats[chat].append(turn)
        return turn

    def answer(self, turn: Entry) -> Entry:
        """A new reply that counts from now on; what its writes hang on."""
        turn["replies"].append(self.new())
        turn["chosen"] = turn["replies"][-1]
        return {"reply": turn["chosen"], "said": turn["said"], "at": turn["at"]}

    @contextmanager
    def undoing(self) -> Iterator[None]:
        """While chats are changed: what comes back by it must not be what a person erased since it was written."""
        before = {memory: (self._standing(memory), self._folded(memory)) for memory in self._memories()}
        yield
        hidden = set().union(*self.hidden)
        for memory, (stood, was) in before.items():
            if memory not in hidden and self._standing(memory) != stood:
                self._let_fall(memory, was)

    def _let_fall(self, memory: int, was: Entry | None) -> None:
        while (now := self._folded(memory)) is not None and now["live"] and not now["pinned"]:
            if was is not None and was["live"] and _words(was) == _words(now):
                return
            says = [entry for entry in self.done if entry["memory"] == memory and self._stands(entry)]
            fallen = [
                one for one in says if one["text"] is not None and _words(one) == _words(now) and self._buried(one)
            ]
            if not fallen:
                return
            for one in fallen:
                one["fallen"] = True

    def _buried(self, says: Entry) -> bool:
        return any(says["at"] <= grave["at"] for grave in self._graves_of(says))

    def _graves_of(self, says: Entry) -> list[Entry]:
        """Where this was buried: a text as a text, a key's value as that key's."""
        return [grave for grave in self.graves if _words(says) in grave["texts"]]

    def _refused(self, says: Entry, hangs: Entry | None) -> bool:
        """What was said before its erasure, or comes from the same place, brings nothing back."""
        if hangs is None:
            return False
        origins = {hangs["reply"], hangs["said"]}
        return any(hangs["at"] <= grave["at"] or origins & grave["origins"] for grave in self._graves_of(says))

    def fork(self, chat: str, new: str, turns: int, *, unanswered: bool) -> None:
        """A copy of the first turns; of the last one perhaps only what was said."""
        self.chats[new] = copy.deepcopy(self.chats[chat][:turns])
        if unanswered:
            self.chats[new][-1].update(replies=[], chosen=None)

    def edit_reply(self, turn: Entry) -> None:
        at = turn["replies"].index(turn["chosen"])
        turn["replies"][at] = turn["chosen"] = self.new()

    def drop_chat(self, chat: str) -> None:
        """What stands only because of this chat stands on its own from now on."""
        held = [entry for entry in self.done if entry["hangs"] and self._stands(entry)]
        del self.chats[chat]
        for entry in held:
            if not self._stands(entry):
                entry["hangs"] = None

    # --- writes ---

    def remember(self, text: str, *, key: str | None = None, hangs: Any = None, pinned: bool = False) -> None:
        if self._refused({"text": text, "key": key}, hangs):
            return
        there = self.find(text, key)
        if there is None:
            there = self._do(self.new(), "add", text=text, key=key, hangs=hangs)
        elif hangs and there["pinned"]:
            return
        else:
            self._do(there["memory"], "add", text=text, key=key, hangs=hangs)
        if pinned and not there["pinned"]:
            self.pin(there["memory"])

    def replace(self, memory: int, text: str, *, hangs: Any = None) -> None:
        old = self.read(memory)
        if old is None or (hangs and old["pinned"]) or self._refused({"text": text, "key": old["key"]}, hangs):
            return
        twin = self.find(text, old["key"])
        if twin is not None and twin["memory"] != memory:
            if not (hangs and twin["pinned"]):
                self._do(twin["memory"], "add", text=text, key=old["key"], hangs=hangs)
            self._do(memory, "delete", hangs=hangs)
            return
        self._do(memory, "update", text=text, key=old["key"], hangs=hangs)

    def remove(self, memory: int, *, hangs: Any) -> None:
        old = self.read(memory)
        if old is not None and not old["pinned"]:
            self._do(memory, "delete", hangs=hangs)

    def pin(self, memory: int) -> None:
        now = self._folded(memory)
        assert now is not None
        self._do(memory, "pin", text=now["text"], key=now["key"])

    def do(self, memory: int, what: str) -> None:
        """Unpin, archive or restore, by a person."""
        self._do(memory, what)

    # --- erasing ---

    def erase(self, memory: int) -> None:
        """Hide it, and whatever says the same behind it, until it is taken back or purged."""
        gone = self.read(memory)
        assert gone is not None
        visible, hidden = self._visible(), set().union(*self.hidden)
        others = (one for one in self._everything() if one["memory"] not in visible and one["memory"] not in hidden)
        self.hidden.append({memory, *(one["memory"] for one in others if _identity(one) == _identity(gone))})
        self._bury(self.hidden[-1])

    def _bury(self, gone: set[int]) -> None:
        said = [entry for entry in self.done if entry["memory"] in gone]
        origins = {entry["hangs"][name] for entry in said if entry["hangs"] for name in ("reply", "said")}
        texts = {_words(entry) for entry in said if entry["text"] is not None}
        self.graves.append({"at": self.new(), "texts": texts, "origins": origins})

    def take_back(self) -> None:
        self.hidden.pop()
        self.graves.pop()

    def purge(self) -> None:
        gone = set().union(*self.hidden)
        self.done = [entry for entry in self.done if entry["memory"] not in gone]
        self.hidden = []

    # --- reading ---

    def find(self, text: str, key: str | None) -> Entry | None:
        """The visible one that says this, or has this key."""
        wanted = _identity({"text": text, "key": key})
        return next((one for one in self._visible().values() if _identity(one) == wanted), None)

    def read(self, memory: int) -> Entry | None:
        return self._visible().get(memory)

    def visible(self) -> list[Entry]:
        return list(self._visible().values())

    def seen(self) -> list[tuple[str, str, bool, bool]]:
        """Key, text, pinned and archived of all that a person sees, in order."""
        visible = self.visible()
        free = sorted((m for m in visible if not m["pinned"] and not m["away"]), key=lambda m: m["updated"])
        outside = {m["memory"] for m in free[: max(0, len(free) - self.room)]}
        away = {m["memory"] for m in visible if m["away"] and not m["pinned"]}
        return sorted((m["key"] or "", m["text"], m["pinned"], m["memory"] in away | outside) for m in visible)

    def _visible(self) -> dict[int, Entry]:
        """Of those that say the same, the pinned one, else the one stored first."""
        groups: dict[Any, list[Entry]] = {}
        hidden = set().union(*self.hidden)
        for one in self._everything():
            if one["live"] and one["memory"] not in hidden:
                groups.setdefault(_identity(one), []).append(one)
        firsts = (min(group, key=lambda m: (not m["pinned"], m["stored"])) for group in groups.values())
        return {one["memory"]: one for one in firsts}

    def _everything(self) -> list[Entry]:
        return [one for memory in self._memories() if (one := self._folded(memory)) is not None]

    def _memories(self) -> list[int]:
        return list(dict.fromkeys(entry["memory"] for entry in self.done))

    def _standing(self, memory: int) -> list[bool]:
        return [self._stands(entry) for entry in self.done if entry["memory"] == memory]

    def _folded(self, memory: int) -> Entry | None:
        now: Entry | None = None
        for at, entry in enumerate(self.done):
            if entry["memory"] == memory and self._stands(entry):
                now = _step(now, entry, at)
        return now

    def _stands(self, entry: Entry) -> bool:
        if entry["fallen"]:
            return False
        if entry["hangs"] is None:
            return True
        reply, said = entry["hangs"]["reply"], entry["hangs"]["said"]
        turns = (turn for chat in self.chats.values() for turn in chat)
        return any(turn["said"] == said and turn["chosen"] == reply for turn in turns)

    def _do(self, memory: int, what: str, *, text: Any = None, key: Any = None, hangs: Any = None) -> Entry:
        entry = {"memory": memory, "what": what, "text": text, "key": key, "hangs": hangs}
        entry.update(at=self.new(), fallen=False)
        self.done.append(entry)
        now = self._folded(memory)
        assert now is not None
        return now

    def new(self) -> int:
        self._made += 1
        return self._made


def _identity(said: Entry) -> tuple[str, str]:
    return ("key", said["key"]) if said["key"] is not None else ("text", _folded_text(said))


def _words(said: Entry) -> tuple[str, str | None]:
    return _folded_text(said), said["key"]


def _folded_text(said: Entry) -> str:
    return str(said["text"]).strip().lower()


def _step(now: Entry | None, entry: Entry, at: int) -> Entry | None:
    what, says = entry["what"], {"text": entry["text"], "key": entry["key"]}
    live = now is not None and now["live"]
    if what in ("add", "update", "pin") and not live:
        stored = at if now is None else now["stored"]
        made = {"memory": entry["memory"], **says, "stored": stored, "updated": at, "live": True}
        return {**made, "pinned": what == "pin", "away": False}
    if now is None:
        return None
    match what:
        case "add":
            return {**now, **(says if now["key"] is not None else {}), "away": False, "updated": at}
        case "update":
            return {**now, **says, "away": False, "updated": at}
        case "pin":
            return {**now, **says, "pinned": True}
        case "unpin":
            return {**now, "pinned": False, "away": False, "updated": at}
        case "archive":
            return {**now, "away": True}
        case "restore":
            return {**now, "away": False, "updated": at}
        case _:
            return {**now, "live": False}
