"""One conversation and its summary as its doors show it, and a model that sums up what it is asked to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from souvenance.testing import RecordedRequest, Reply, say
from souvenance.testing.scripted_upstream import echo
from souvenance.testing.summaries import summary_answer
from tests.counts import times
from tests.flows.app.house import Prompt

if TYPE_CHECKING:
    from souvenance.wiring import House
    from tests.acceptance.rules.world import World

SMALL: Mapping[str, float] = {
    "key_events_messages": 6,
    "balanced_messages": 10,
    "detailed_messages": 16,
    "batch_messages": 2,
    "unknown_context": 65_536,
}
"""One turn leaves with each batch, so that a few turns make every tier."""

Shown = dict[str, Any]
"""The data of a question, read from its JSON."""


def answers(request: RecordedRequest) -> Reply:
    """A summary where one is asked for, else an echo."""
    summed = summary_answer(json.loads(request.body)["messages"])
    return echo(request) if summed is None else say(summed)


def asked(request: RecordedRequest) -> Shown | None:
    """What a question of background work shows, None for a turn's request."""
    content = json.loads(request.body)["messages"][-1]["content"]
    if not isinstance(content, str) or not content.startswith("{"):
        return None
    shown: Shown = json.JSONDecoder().raw_decode(content)[0]
    return shown


def answering(about: str, reply: Callable[[Shown], Reply]) -> Callable[[RecordedRequest], Reply]:
    """`answers`, but where a question shows something of this name."""

    def respond(request: RecordedRequest) -> Reply:
        shown = asked(request)
        return answers(request) if shown is None or about not in shown else reply(shown)

    return respond


@dataclass(frozen=True, slots=True, kw_only=True)
class Summed:
    """A conversation; what is due is done after each turn that `talk` takes, by the worker inside the server."""

    world: World
    chat: str
    bot: str = ""

    @classmethod
    async def begun(cls, world: World, **more: Any) -> Summed:
        """A new conversation with a new bot, of which `more` is told."""
        bot = await world.bot(**more)
        return cls(world=world, chat=await world.chat(bot), bot=bot)

    @classmethod
    async def brought(
        cls,
        world: World,
        *said: str,
        turns: int,
        words: str = "Message {number}.",
        level: str = "balanced",
        **more: Any,
    ) -> Summed:
        """A conversation that a client brings with it in one request, with a new bot: the user said `said`, then so
        many times `words`; each is answered by an echo, and all is summed up.
        """
        name = world.name()
        bot = await world.bot(name, **more)
        await world.ok("PUT", f"/bots/{bot}/level", {"level": level})
        asked_for = [*said, *(words.format(number=number) for number in range(len(said), turns))]
        told = [text for one in asked_for for text in (one, f"You said: {one}")]
        await world.hear(name, *told[:-1])
        chats = (await world.ok("GET", "/conversations", bot_id=bot))["items"]
        brought = cls(world=world, chat=chats[0]["id"], bot=bot)
        await brought.settled()
        return brought

    async def talk(self, turns: int, words: str = "Message {number}.", *, first: int = 0) -> None:
        for number in range(first, first + turns):
            await self.world.say(self.chat, words.format(number=number))
            await self.settled()

    async def settled(self) -> None:
        """Once nothing is left to be done but what is parked or has to wait."""
        async with asyncio.timeout(times(110, full=3_600)):
            while any(map(self._is_in_hand, await self.work())):  # noqa: ASYNC110 - no door tells when work has ended
                # The worker is in this very process: asking without a pause would keep it from its work.
                await asyncio.sleep(0.02)

    def _is_in_hand(self, one: dict[str, Any]) -> bool:
        due = datetime.fromisoformat(one["due_at"]) <= self.world.clock.now()
        return one["state"] == "leased" or (one["state"] == "waiting" and due)

    async def forked(self) -> Summed:
        """A fork of all of it."""
        last = (await self.world.messages(self.chat))[-1]
        fork = await self.world.ok("POST", f"/conversations/{self.chat}/fork", {"message_id": last["id"]})
        return replace(self, chat=fork["id"])

    async def worked_off(self, *, after: timedelta = timedelta()) -> None:
        """Once all is done that is due when so much time has passed."""
        self.world.clock.advance(after)
        await self.the_house.worker().work_off()
        await self.settled()

    @property
    def the_house(self) -> House:
        assert self.world.house is not None
        return self.world.house

    async def work(self) -> list[dict[str, Any]]:
        """What is due for this conversation."""
        items = (await self.world.ok("GET", "/work", limit=200))["items"]
        return [one for one in items if one["conversation_id"] == self.chat]

    async def rebuilt(self, **more: Any) -> dict[str, Any]:
        """The last rebuild, done: one at the level of `more`, if it says so."""
        await self.world.ok("POST", f"/conversations/{self.chat}/rebuild", more)
        await self.settled()
        done: dict[str, Any] = await self.world.ok("GET", f"/conversations/{self.chat}/rebuild")
        assert done["state"] == "done", done
        return done

    async def ask(self, method: str, path: str = "", body: object = None) -> Any:
        """Of the summary's own paths, a good answer."""
        return await self.world.ok(method, f"/conversations/{self.chat}/summary{path}", body)

    async def refused(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        return await self.world.refused(method, f"/conversations/{self.chat}/summary{path}", body)

    async def nodes(self) -> list[dict[str, Any]]:
        """The live ones, oldest turns first."""
        nodes: list[dict[str, Any]] = (await self.ask("GET"))["nodes"]
        return nodes

    async def opened(self, node: dict[str, Any]) -> list[dict[str, Any]]:
        """The nodes that this one was made of."""
        children: list[dict[str, Any]] = (await self.ask("GET", f"/nodes/{node['id']}"))["children"]
        return children

    async def rules(self) -> list[str]:
        """The texts of those in force, in their order."""
        return [rule["text"] for rule in (await self.ask("GET"))["rules"]["items"] if rule["in_force"]]

    async def counts(self) -> dict[str, int]:
        counts: dict[str, int] = (await self.ask("GET"))["counts"]
        return counts

    async def prompt(self, text: str = "And now?") -> Prompt:
        """What the model is sent for one more turn."""
        await self.talk(1, text)
        return self.sent(text)

    def sent(self, text: str) -> Prompt:
        """The newest request of a turn in which the user said this."""
        prompts = reversed(self.world.prompts)
        return next(one for one in prompts if one.messages[-1]["content"] == text)

    def questions(self, about: str) -> list[Shown]:
        """What the questions showed, so far and whoever asked, that show something of this name."""
        shown = [asked(request) for request in self.world.upstream.requests]
        return [one for one in shown if one is not None and about in one]

    async def level(self, level: str) -> dict[str, Any]:
        changed: dict[str, Any] = await self.ask("PUT", "/level", {"level": level})
        return changed
