"""An ordinary OpenAI client talks through Souvenance, turn by turn; what it got is what is acknowledged (T6)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx2
import openai

from souvenance.testing import RecordedRequest, Reply, Text, say
from souvenance.testing.script import pieces_of
from souvenance.testing.summaries import summary_answer
from tests.acceptance.dialogue import Exchange

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletionMessageParam

PIECES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What the upstream stores by a text call in one of its replies (V2)."""

    key: str
    value: str

    @property
    def call(self) -> str:
        return f'\nremember("{self.key}", "{self.value}")'


def of_turns(requests: Sequence[RecordedRequest]) -> list[RecordedRequest]:
    """The requests that a person waits for, without those of background work."""
    return [request for request in requests if _summary(request) is None]


def _summary(request: RecordedRequest) -> str | None:
    return summary_answer(json.loads(request.body)["messages"])


class Cut(Exception):
    """The connection ended before the reply did."""


@dataclass(slots=True, kw_only=True)
class Replay:
    """A client that keeps its history and sends all of it each time (I3), and the upstream's side of the dialogue.

    `turns` counts the replies that arrived, `acknowledged` the messages: the user's once the first byte of the answer
    is there, the reply with its last chunk. `hear` is told how many pieces of the reply in hand have arrived, 0 when
    the request leaves.
    """

    dialogue: Sequence[Exchange]
    model: str
    facts: Mapping[int, Fact] = field(default_factory=dict)
    between: float = 0.0
    hear: Callable[[int], None] = lambda _: None
    turns: int = 0
    acknowledged: int = 0
    _history: list[ChatCompletionMessageParam] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return self.turns == len(self.dialogue)

    @property
    def messages(self) -> list[tuple[str, str]]:
        """The whole conversation as it must be stored: role and text."""
        return [line for turn in self.dialogue for line in (("user", turn.said), ("bot", turn.reply))]

    def answer(self, request: RecordedRequest) -> Reply:
        """What the upstream says to the message in hand, however often it is asked; or the summary it is asked for."""
        summary = _summary(request)
        if summary is not None:
            return say(summary)
        fact = self.facts.get(self.turns)
        reply = self.dialogue[self.turns].reply + ("" if fact is None else fact.call)
        return Text(chunks=pieces_of(reply, PIECES), between=self.between)

    async def take_turn(self, client: AsyncOpenAI) -> None:
        """One turn, as often as need be the same request byte for byte. Raises Cut when its reply did not arrive."""
        exchange = self.dialogue[self.turns]
        asked: ChatCompletionMessageParam = {"role": "user", "content": exchange.said}
        heard: list[str] = []
        whole = False
        self.hear(0)
        try:
            stream = await client.chat.completions.create(
                model=self.model, messages=[*self._history, asked], stream=True
            )
            self.acknowledged = max(self.acknowledged, 2 * self.turns + 1)
            async for chunk in stream:
                for choice in chunk.choices:
                    heard.append(choice.delta.content or "")
                    whole = whole or choice.finish_reason is not None
                self.hear(len(heard))
        except (openai.APIConnectionError, httpx2.TransportError) as error:
            if not whole:
                raise Cut from error
        if not whole:
            raise Cut
        assert "".join(heard) == exchange.reply, "the client sees the reply without its text calls (V2)"
        self.acknowledged = 2 * self.turns + 2
        self._history += [asked, {"role": "assistant", "content": exchange.reply}]
        self.turns += 1

    async def run(self, client: AsyncOpenAI) -> None:
        """Turn after turn to the end."""
        while not self.is_over:
            await self.take_turn(client)
