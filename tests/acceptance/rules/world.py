"""What a person, a client and a model see of a running server: the public doors, and the prompts that went out."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import httpx2
from openai import AsyncOpenAI

from souvenance.testing import ScriptedUpstream, say
from souvenance.testing.script import Reply
from souvenance.wiring import House
from tests.acceptance.stored import listed
from tests.flows.app.house import Prompt, called, calls
from tests.flows.serving import Served

Event = tuple[str, dict[str, Any]]
_NUMBERS = itertools.count(1)


def events(body: str) -> list[Event]:
    """The named events of a stream, comments left out."""
    heard = []
    for block in body.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if fields:
            heard.append((fields["event"], json.loads(fields["data"])))
    return heard


class MovedClock:
    """The machine's clock, some time ahead."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def advance(self, step: timedelta) -> None:
        self._ahead += step


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A server over real HTTP, `rest` at its REST door and `client` at its OpenAI door; `upstream` is the model that it
    asks, `clock` the server's and `house` what it serves, where it runs in this process.
    """

    rest: httpx2.AsyncClient
    client: AsyncOpenAI
    upstream: ScriptedUpstream
    clock: MovedClock
    house: House | None = None

    # --- who talks where ---

    def name(self) -> str:
        """A bot's name that was not used before."""
        return f"Bot {next(_NUMBERS)}"

    async def bot(self, name: str = "", **more: Any) -> str:
        """A new bot's id."""
        return str((await self.ok("POST", "/bots", {"name": name or self.name(), **more}))["id"])

    async def chat(self, bot: str | None, **more: Any) -> str:
        """A new conversation's id; without a bot it is with the bare model."""
        body = {"bot": bot} if bot is not None else {"model": "scripted"}
        return str((await self.ok("POST", "/conversations", {**body, **more}))["id"])

    async def say(self, chat: str, text: str, *script: Reply, **more: Any) -> dict[str, Any]:
        """One turn, whole; `script` is what the model says, in order (nothing: it echoes)."""
        self.upstream.script(*script)
        body = {"text": text, "stream": False, **more}
        told: dict[str, Any] = await self.ok("POST", f"/conversations/{chat}/turns", body)
        return told

    async def streamed(self, chat: str, text: str, *script: Reply) -> list[Event]:
        """One turn as its named events."""
        self.upstream.script(*script)
        answer = await self.ask("POST", f"/conversations/{chat}/turns", {"text": text})
        assert answer.is_success, answer.text
        return events(answer.text)

    async def turn(self, turn_id: str) -> dict[str, Any]:
        """A turn with all its messages."""
        found: dict[str, Any] = await self.ok("GET", f"/turns/{turn_id}")
        return found

    async def again(self, turn_id: str, *script: Reply, **more: Any) -> dict[str, Any]:
        """The turn's reply asked again."""
        self.upstream.script(*script)
        told: dict[str, Any] = await self.ok("POST", f"/turns/{turn_id}/regenerate", {"stream": False, **more})
        return told

    async def hear(self, bot: str, *said: str, script: Reply | None = None) -> str:
        """What a client of the OpenAI form is streamed by the bot of this name; `said` are words of user and bot in
        turn, the last ones the user's.
        """
        self.upstream.script(*([] if script is None else [script]))
        messages = [{"role": ("user", "assistant")[at % 2], "content": words} for at, words in enumerate(said)]
        stream = await self.client.chat.completions.create(model=bot, messages=cast(Any, messages), stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])

    async def said(self, chat: str) -> list[tuple[str, str]]:
        """The chosen messages, oldest first."""
        return [(message["role"], message["text"]) for message in await self.messages(chat)]

    async def messages(self, chat: str) -> list[dict[str, Any]]:
        return (await listed(self.rest, f"/conversations/{chat}/messages"))[::-1]

    # --- what is remembered ---

    async def add(self, text: str, scope: str = "account", **more: Any) -> dict[str, Any]:
        """A memory, typed in by a person."""
        added: dict[str, Any] = (await self.ok("POST", "/memories", {"text": text, "scope": scope, **more}))["memory"]
        return added

    async def learn(self, chat: str, texts: Iterable[str]) -> None:
        """Many memories in one turn: the model remembers them all, in this order, where it writes (E1)."""
        await self.say(chat, "Keep these", calls(*(called("remember", text=text) for text in texts)), say("Kept"))

    async def memories(self, scope: str = "account", shelf: str = "all") -> list[dict[str, Any]]:
        """Updated last first."""
        return await listed(self.rest, "/memories", scope=scope, shelf=shelf)

    async def texts(self, scope: str = "account", shelf: str = "all") -> list[str]:
        """In the order of the alphabet."""
        return sorted(memory["text"] for memory in await self.memories(scope, shelf))

    async def found(self, words: str, **more: Any) -> list[str]:
        """The texts that a query finds, best first."""
        hits = await self.ok("POST", "/memories/query", {"text": words, **more})
        return [hit["memory"]["text"] for hit in hits["memories"]]

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = (await self.ok("GET", f"/memories/{memory_id}/history"))["items"]
        return items

    async def empty_account(self) -> None:
        """Erase all that is remembered of the account."""
        ids = [memory["id"] for memory in await self.memories()]
        if ids:
            await self.ok("POST", "/memories/erase", {"ids": ids})

    # --- what went out and came back ---

    @property
    def prompts(self) -> list[Prompt]:
        """What the model was sent, in order."""
        return [Prompt(body=request.body) for request in self.upstream.requests]

    @property
    def prompt(self) -> Prompt:
        """The newest one."""
        return Prompt(body=self.upstream.requests[-1].body)

    async def ask(self, method: str, path: str, body: object = None, **query: Any) -> httpx2.Response:
        """The bare answer of the REST door."""
        content: dict[str, Any] = {} if body is None else {"json": body}
        return await self.rest.request(method, path, params=query or None, **content)

    async def ok(self, method: str, path: str, body: object = None, **query: Any) -> Any:
        """The JSON of an answer that must be a good one; None where there is no body."""
        answer = await self.ask(method, path, body, **query)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    async def refused(self, method: str, path: str, body: object = None, **query: Any) -> dict[str, Any]:
        """The problem that an answer must be."""
        answer = await self.ask(method, path, body, **query)
        assert answer.is_client_error, answer.text
        problem: dict[str, Any] = answer.json()
        return problem


def world_of(server: Served, upstream: ScriptedUpstream, clock: MovedClock | None = None) -> World:
    """The doors of a server in this process; `clock` is the one it was given."""
    clock = clock or MovedClock()
    return World(rest=server.rest, client=server.openai(), upstream=upstream, clock=clock, house=server.house)
