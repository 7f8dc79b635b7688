"""After any series of turns, roll-ups, mendings and changes by a person a summary is true to its conversation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from random import Random

import pytest

from souvenance.app.choose_variant import choose_variant
from souvenance.app.delete_conversation import delete_conversation
from souvenance.app.delete_message import delete_message
from souvenance.app.edit_message import edit_message
from souvenance.app.fork import fork
from souvenance.app.rewind import rewind
from souvenance.domain.conversation import Conversation, Message, Role
from souvenance.domain.ids import ConversationId
from souvenance.ports.store import Unit
from tests.counts import times
from tests.flows.app.house import House
from tests.flows.app.summing_up import check, mend, rule, sum_up, talk

ONE_DATABASE = True

STEPS = 60
MOST_CHATS = 4
"""A fork more would make the test longer, not harder."""


@dataclass(slots=True, kw_only=True)
class Story:
    """Conversations to which things happen by chance; `done` tells them in order when a check fails."""

    house: House
    chance: Random
    chats: list[ConversationId] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    async def write(self, work: Callable[[Unit], object]) -> None:
        await self.house.kit.store.write(self.house.owner, work, label="test.step")

    async def messages(self, here: ConversationId) -> list[Message]:
        return await self.house.read(lambda unit: unit.messages.from_position(here, 0))

    async def step(self) -> None:
        here = self.chance.choice(self.chats)
        said = await self.messages(here)
        happens = self.chance.choices(list(_STEPS), weights=[weight for weight, _ in _STEPS.values()])[0]
        self.done.append(f"{happens} in {here}")
        if happens in {"talks", "sums up", "mends", "moves the window"} or said:
            await _STEPS[happens][1](self, here, said)
        for chat in self.chats:
            await self.house.read(lambda unit, chat=chat: check(unit, chat))  # type: ignore[misc]

    async def talks(self, here: ConversationId, said: list[Message]) -> None:
        turns = self.chance.randint(1, 12)
        await self.write(lambda unit: talk(unit, self.house.kit, here, turns))

    async def sums_up(self, here: ConversationId, said: list[Message]) -> None:
        times_, turns = self.chance.randint(1, 9), self.chance.randint(1, 3)

        def work(unit: Unit) -> None:
            for _ in range(times_):
                sum_up(unit, self.house.kit, here, turns)

        await self.write(work)

    async def mends(self, here: ConversationId, said: list[Message]) -> None:
        await self.write(lambda unit: mend(unit, here))

    async def moves_the_window(self, here: ConversationId, said: list[Message]) -> None:
        """As a turn does, whether or not what leaves is summed up."""
        ahead = self.chance.random()

        def work(unit: Unit) -> None:
            chat = unit.conversations.lock(here)
            start = chat.window_start + int(ahead * max(0, chat.last_position - chat.window_start))
            waiting = unit.branches.said_between(here, chat.summarised_to, start)
            unit.conversations.save(replace(chat, window_start=start, waiting=waiting))

        await self.write(work)

    async def gives_a_rule(self, here: ConversationId, said: list[Message]) -> None:
        asked = [message for message in said if message.role is Role.USER]
        chat = await self.house.read(lambda unit: unit.conversations.get(here))
        if asked:
            sources = self.chance.choices(asked, k=2)
            ends = self.chance.choice([None, self.chance.choice(asked)])
            text = f"{sources[0].text} {len(self.done)}"
            given = rule(self.house.kit, chat, text, *dict.fromkeys(sources), closed_by=ends)
            await self.write(lambda unit: unit.summaries.put_rule(given))

    async def rewinds(self, here: ConversationId, said: list[Message]) -> None:
        # Mostly not far, so that something is left for the steps that follow.
        back = said[-min(len(said), self.chance.choice([1, 3, 8, 20, 60]))]
        await rewind(self.house.kit, self.house.owner, here, after=back.turn_id)

    async def forks(self, here: ConversationId, said: list[Message]) -> None:
        if len(self.chats) < MOST_CHATS:
            made = await fork(self.house.kit, self.house.owner, self.chance.choice(said).message_id)
            self.chats.append(made.conversation_id)

    async def edits(self, here: ConversationId, said: list[Message]) -> None:
        message = self.chance.choice(said)
        await edit_message(self.house.kit, self.house.owner, message.message_id, f"Edited {len(self.done)}.")

    async def deletes(self, here: ConversationId, said: list[Message]) -> None:
        newest = self.chance.random() < 0.3
        message = said[-1] if newest else self.chance.choice(said)
        await delete_message(self.house.kit, self.house.owner, message.message_id)

    async def deletes_a_turn(self, here: ConversationId, said: list[Message]) -> None:
        position = self.chance.choice([said[-1], self.chance.choice(said)]).position
        for message in [message for message in said if message.position == position]:
            await delete_message(self.house.kit, self.house.owner, message.message_id)

    async def chooses(self, here: ConversationId, said: list[Message]) -> None:
        replies = [message for message in said if message.role is Role.BOT]
        if replies:
            reply = self.chance.choice(replies)
            await choose_variant(
                self.house.kit, self.house.owner, reply.turn_id, part=reply.part, variant=1 - reply.variant
            )

    async def deletes_the_chat(self, here: ConversationId, said: list[Message]) -> None:
        if len(self.chats) > 1:
            self.chats.remove(here)
            await delete_conversation(self.house.kit, self.house.owner, here)


Happens = Callable[[Story, ConversationId, list[Message]], Awaitable[None]]

_STEPS: dict[str, tuple[int, Happens]] = {
    "talks": (8, Story.talks),
    "sums up": (10, Story.sums_up),
    "mends": (3, Story.mends),
    "moves the window": (4, Story.moves_the_window),
    "gives a rule": (3, Story.gives_a_rule),
    "rewinds": (4, Story.rewinds),
    "forks": (3, Story.forks),
    "edits": (3, Story.edits),
    "deletes": (4, Story.deletes),
    "deletes a turn": (2, Story.deletes_a_turn),
    "chooses": (3, Story.chooses),
    "deletes the chat": (1, Story.deletes_the_chat),
}
"""By name: how often it happens, and what it does."""


# The first one once deleted the last turn but one, so that the newest two reached into a node.
@pytest.mark.parametrize("seed", [23, *range(times(1, full=20))])
async def test_s9_s10_w4_a_summary_is_true_to_its_conversation_after_any_series_of_changes(
    house: House, seed: int
) -> None:
    small = house.with_limits(balanced_messages=12)
    story = Story(house=small, chance=Random(seed))
    first: Conversation = await small.chat(await small.bot())
    story.chats.append(first.conversation_id)
    await story.write(lambda unit: talk(unit, small.kit, first.conversation_id, 40))
    for _ in range(STEPS):
        try:
            await story.step()
        except AssertionError as e:
            e.add_note("\n".join(story.done))
            raise
