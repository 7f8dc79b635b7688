"""T5: after any series of steps the memories are those of the plain model (tests/undo/plain.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from souvenance.domain.conversation import Conversation, Role
from souvenance.errors import Conflict
from tests.counts import times
from tests.undo.plain import Entry, Plain
from tests.undo.world import Ground, World

pytestmark = pytest.mark.timeout(times(900, full=36_000))

ROOM = 5
MOST_CHATS = 4
WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "Amber", "BIRCH")
KEYS = ("drink", "town")

words = st.sampled_from(WORDS)
wishes = st.lists(
    st.one_of(
        st.fixed_dictionaries({"what": st.just("remember"), "text": words}),
        st.fixed_dictionaries({"what": st.just("pair"), "key": st.sampled_from(KEYS), "text": words}),
        st.fixed_dictionaries({"what": st.just("update"), "target": words, "text": words}),
        st.fixed_dictionaries({"what": st.just("forget"), "target": words}),
    ),
    max_size=4,
    unique_by=lambda wish: wish.get("target", repr(wish)),
)
picks = st.integers(min_value=0, max_value=1_000)


class ExactUndo(RuleBasedStateMachine):
    """Two chats and their forks, one bot's memories."""

    ground: Ground

    def __init__(self) -> None:
        super().__init__()
        self.plain = Plain(ROOM)
        self.world = World(ROOM, self.ground)
        self.chats: dict[str, Conversation] = {}

    @initialize()
    def two_chats(self) -> None:
        for name in ("one", "two"):
            self.chats[name] = self.world.chat()
            self.plain.chats[name] = []

    @invariant()
    def the_memories_are_the_same(self) -> None:
        assert self.world.seen() == self.plain.seen()

    # --- turns ---

    @rule(pick=picks, wishes=wishes)
    def say(self, pick: int, wishes: list[dict[str, str]]) -> None:
        name = self._chat(pick)
        self.world.speaker.plan(wishes)
        targets = self._targets()
        self.world.say(self.chats[name], "Well?")
        self._carried_out(self.plain.say(name), targets)

    @rule(pick=picks)
    def say_and_get_no_answer(self, pick: int) -> None:
        name = self._chat(pick)
        self.world.speaker.plan([], "refuses")
        self.world.say(self.chats[name], "Well?")
        self.plain.say(name)

    @rule(pick=picks, wishes=wishes)
    def say_and_get_half_an_answer(self, pick: int, wishes: list[dict[str, str]]) -> None:
        name = self._chat(pick)
        self.world.speaker.plan(wishes, "breaks")
        targets = self._targets()
        self.world.say(self.chats[name], "Well?")
        self._carried_out(self.plain.say(name), targets)

    # --- other answers ---

    @precondition(lambda self: self._askable())
    @rule(pick=picks, wishes=wishes, fault=st.sampled_from(("", "", "refuses", "breaks")))
    def regenerate(self, pick: int, wishes: list[dict[str, str]], fault: str) -> None:
        name, turn = self._last(pick)
        chosen, turn["chosen"] = turn["chosen"], None
        targets = self._targets()
        self.world.speaker.plan(wishes, fault)
        self.world.regenerate(self.chats[name], len(self.plain.chats[name]) - 1)
        if not fault or (fault == "breaks" and chosen is None):
            turn["chosen"] = chosen
            with self.plain.undoing():
                turn["chosen"] = None
            self._carried_out(turn, targets)
            return
        if fault == "breaks":
            turn["replies"].append(None)
        turn["chosen"] = chosen

    @precondition(lambda self: self._with_variants())
    @rule(pick=picks)
    def choose_another_reply(self, pick: int) -> None:
        name, at, turn = _any(self._with_variants(), pick)
        whole = [reply for reply in turn["replies"] if reply is not None]
        with self.plain.undoing():
            turn["chosen"] = whole[pick % len(whole)]
        self.world.choose(self.chats[name], at, turn["replies"].index(turn["chosen"]))

    # --- branches ---

    @precondition(lambda self: any(self.plain.chats.values()))
    @rule(pick=picks)
    def rewind(self, pick: int) -> None:
        name, at, _ = _any(self._turns(), pick)
        self.world.rewind(self.chats[name], at)
        with self.plain.undoing():
            del self.plain.chats[name][at:]

    @precondition(lambda self: any(self.plain.chats.values()))
    @rule(pick=picks, wishes=wishes)
    def edit_and_resend(self, pick: int, wishes: list[dict[str, str]]) -> None:
        name, at, _ = _any(self._turns(), pick)
        replaced = self.world.turns(self.chats[name])[at]
        with self.plain.undoing():
            del self.plain.chats[name][at:]
        self.world.speaker.plan(wishes)
        targets = self._targets()
        self.world.say(self.chats[name], "Rather?", replaces=replaced)
        self._carried_out(self.plain.say(name), targets)

    @precondition(lambda self: any(self.plain.chats.values()) and len(self.chats) < MOST_CHATS)
    @rule(pick=picks, unanswered=st.booleans())
    def fork(self, pick: int, unanswered: bool) -> None:
        name, at, turn = _any(self._turns(), pick)
        unanswered = turn["said"] is not None and (unanswered or turn["chosen"] is None)
        new = f"{name}'"
        while new in self.chats:
            new += "'"
        self.chats[new] = self.world.fork(self.chats[name], at, Role.USER if unanswered else Role.BOT)
        self.plain.fork(name, new, at + 1, unanswered=unanswered)

    @precondition(lambda self: any(self.plain.chats.values()))
    @rule(pick=picks, of_user=st.booleans(), away=st.booleans())
    def edit_or_delete_a_message(self, pick: int, of_user: bool, away: bool) -> None:
        name, at, turn = _any(self._turns(), pick)
        of_user = turn["chosen"] is None or (of_user and turn["said"] is not None)
        change = self.world.delete_message if away else self.world.edit_message
        change(self.chats[name], at, Role.USER if of_user else Role.BOT)
        with self.plain.undoing():
            if of_user:
                turn["said"] = None if away else self.plain.new()
            elif away:
                turn.update(replies=[], chosen=None)
            else:
                self.plain.edit_reply(turn)
        if turn["said"] is None and turn["chosen"] is None:
            self.plain.chats[name].remove(turn)

    @precondition(lambda self: len(self.chats) > 2)
    @rule(pick=picks)
    def delete_a_chat(self, pick: int) -> None:
        name = self._chat(pick)
        self.world.delete_chat(self.chats.pop(name))
        self.plain.drop_chat(name)

    # --- a person's hand ---

    @rule(text=words, pinned=st.booleans())
    def remember(self, text: str, pinned: bool) -> None:
        self.world.remember(text, pinned=pinned)
        self.plain.remember(text, pinned=pinned)

    @rule(pick=picks, text=words)
    def command(self, pick: int, text: str) -> None:
        self.world.say(self.chats[self._chat(pick)], f"/remember {text}")
        self.plain.remember(text)

    @precondition(lambda self: self.plain.seen())
    @rule(pick=picks, text=words)
    def edit(self, pick: int, text: str) -> None:
        one = self._memory(pick)
        view = self.world.view(one["key"], one["text"])
        twin = self.plain.find(text, one["key"])
        if twin is not None and twin["memory"] != one["memory"]:
            try:
                self.world.edit(view, text)
            except Conflict:
                return
            raise AssertionError("an edit made two of one")
        self.world.edit(view, text)
        self.plain.replace(one["memory"], text)

    @precondition(lambda self: self.plain.seen())
    @rule(pick=picks)
    def pin_or_unpin(self, pick: int) -> None:
        one = self._memory(pick)
        self.world.pin(self.world.view(one["key"], one["text"]), pinned=not one["pinned"])
        if one["pinned"]:
            self.plain.do(one["memory"], "unpin")
        else:
            self.plain.pin(one["memory"])

    @precondition(lambda self: any(not pinned for _, _, pinned, _ in self.plain.seen()))
    @rule(pick=picks, archived=st.booleans())
    def archive_or_restore(self, pick: int, archived: bool) -> None:
        one = self._memory(pick, pinned=False)
        self.world.archive(self.world.view(one["key"], one["text"]), archived=archived)
        if not (archived and one["away"]):
            self.plain.do(one["memory"], "archive" if archived else "restore")

    # --- erasing ---

    @precondition(lambda self: self.plain.seen())
    @rule(pick=picks)
    def erase(self, pick: int) -> None:
        one = self._memory(pick)
        self.world.erase(self.world.view(one["key"], one["text"]))
        self.plain.erase(one["memory"])

    @precondition(lambda self: self.plain.hidden)
    @rule()
    def take_an_erasure_back(self) -> None:
        self.world.take_back()
        self.plain.take_back()

    @precondition(lambda self: self.plain.hidden)
    @rule()
    def let_the_offers_end(self) -> None:
        self.world.purge()
        self.plain.purge()

    # --- choosing what to do it to ---

    def _targets(self) -> dict[str, int]:
        """What a model can mean by words that stand in its prompt."""
        return {one["text"]: one["memory"] for one in self.plain.visible() if one["key"] is None}

    def _carried_out(self, turn: Entry, targets: Mapping[str, int]) -> None:
        hangs = self.plain.answer(turn)
        for wish in self.world.speaker.did:
            match wish["what"]:
                case "update":
                    self.plain.replace(targets[wish["target"]], wish["text"], hangs=hangs)
                case "forget":
                    self.plain.remove(targets[wish["target"]], hangs=hangs)
                case _:
                    self.plain.remember(wish["text"], key=wish.get("key"), hangs=hangs)

    def _chat(self, pick: int) -> str:
        return sorted(self.chats)[pick % len(self.chats)]

    def _last(self, pick: int) -> tuple[str, Entry]:
        names = self._askable()
        name = names[pick % len(names)]
        return name, self.plain.chats[name][-1]

    def _askable(self) -> list[str]:
        """The chats whose last turn still has what was said."""
        return sorted(name for name, turns in self.plain.chats.items() if turns and turns[-1]["said"] is not None)

    def _turns(self) -> list[tuple[str, int, Entry]]:
        return [(name, at, turn) for name, turns in sorted(self.plain.chats.items()) for at, turn in enumerate(turns)]

    def _with_variants(self) -> list[tuple[str, int, Entry]]:
        return [one for one in self._turns() if sum(reply is not None for reply in one[2]["replies"]) > 1]

    def _memory(self, pick: int, *, pinned: bool | None = None) -> Entry:
        seen = [one for one in self.plain.seen() if pinned is None or one[2] == pinned]
        key, text, _, _ = seen[pick % len(seen)]
        found = self.plain.find(text, key or None)
        assert found is not None
        return found


def _any(turns: list[tuple[str, int, Entry]], pick: int) -> tuple[str, int, Entry]:
    return turns[pick % len(turns)]


@pytest.fixture(scope="module", autouse=True)
def ground() -> Iterator[None]:
    ExactUndo.ground = Ground()
    yield
    ExactUndo.ground.close()


TestExactUndo = ExactUndo.TestCase
# `make test` runs it twice, with fixed and with random steps: 500 examples.
TestExactUndo.settings = settings(max_examples=times(250, full=20_000), stateful_step_count=times(8, full=30))
