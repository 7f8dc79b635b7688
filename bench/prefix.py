"""What a prefix cache saves of every request (C6): `python -m bench.prefix [--turns 500] [--data FILE]`.

A companion, an assistant and a notebook, each 500 turns long over HTTP with `souvenance serve`, a memory stored by the
model in every fifth turn, compactions by the worker in the same process; a scripted upstream keeps every request byte
for byte. Beside them the plain way with the same words: memories on top, written anew at each change, and a window that
slides with every message.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import islice
from pathlib import Path
from typing import Any

from bench.figures import print_line
from bench.prefix_share import Sent, shares
from bench.proxy import served
from bench.rest import Rest
from bench.talk import endless
from bench.voice import Question, Voice
from bench.world import Said, Speech
from souvenance.domain.bot import Preset
from souvenance.domain.limits import Limits
from souvenance.models.tokens import O200k
from souvenance.settings import read_settings
from souvenance.testing import ScriptedModel, ScriptedUpstream
from souvenance.wiring import open_house

AIMS = {"between_epochs": 0.95, "overall": 0.90}
FIRST_TURN = 20
STORES_EVERY = 5
SYSTEM = (
    "You are Orso, once a lighthouse keeper, now a companion for the evening. You listen first. You answer in one to "
    "three sentences, in the language of the message, with dry warmth and no advice that was not asked for."
)
_LIMITS = Limits()
_WITHOUT_EPOCHS = ("overall", "by_bytes", "requests", "bytes")
_SETTINGS = {"SOUVENANCE_LIMITS_WORK_SPEND_HOUR": "100000000", "SOUVENANCE_UPSTREAMS_BENCH_CONTEXT": "128000"}


class Stored:
    """What the model remembers, the same each time: a fact in every fifth turn."""

    def __init__(self, preset: Preset) -> None:
        self._keyed = preset is Preset.NOTEBOOK
        self._speech = Speech(seed=11)

    def in_turn(self, number: int) -> dict[str, str] | None:
        """The arguments of the call in this turn; to be asked for one turn after the other."""
        if number % STORES_EVERY != STORES_EVERY - 1:
            return None
        fact = self._speech.fact(number)
        return {"key": f"fact {number}", "value": fact} if self._keyed else {"text": fact}


class Talk:
    """One conversation of a served memory, and every chat request that came of it."""

    def __init__(self, rest: Rest, voice: Voice, preset: Preset) -> None:
        self._rest, self._voice, self._preset = rest, voice, preset
        self._stored = Stored(preset)
        self.sent: list[Sent] = []

    def go(self, turns: Sequence[Said]) -> None:
        """Say all this, a turn only once the background work of the one before is done, as between people."""
        here = self._rest.converse(name=f"Orso the {self._preset}", preset=self._preset, system_prompt=SYSTEM)
        self._voice.chats.clear()
        self._voice.questions.clear()
        for number, said in enumerate(turns):
            self._voice.turn(said, store=self._stored.in_turn(number))
            told = self._rest.say(here, said.user)
            self._keep(number, told["done"]["message"]["id"])
            self._rest.let_work_end()

    def _keep(self, number: int, message_id: str) -> None:
        prompts = self._rest.call("GET", f"/messages/{message_id}/prompts")["items"]
        bodies, self._voice.chats = self._voice.chats, []
        for prompt, body in zip(prompts, bodies, strict=True):
            self.sent.append(Sent(number, prompt["epoch"], body))


def plain_way(talk: Talk, preset: Preset, turns: Sequence[Said]) -> Iterator[Sent]:
    """The first request of each turn as many write it: newest memories on top, then as much as W1 lets stand."""
    first: dict[str, Any] = json.loads(talk.sent[0].body)
    head = {name: value for name, value in first.items() if name != "messages"}
    stored = Stored(preset)
    memories: deque[str] = deque()
    window: deque[tuple[str, str]] = deque()
    for number, said in enumerate(turns):
        window.append(("user", said.user))
        _slide(window)
        told = "\n".join([SYSTEM, "What you know of the user:", *(f"- {memory}" for memory in memories)])
        messages = [{"role": role, "content": text} for role, text in (("system", told), *window)]
        yield Sent(number, 0, json.dumps({"messages": messages} | head, ensure_ascii=False).encode())
        window.append(("assistant", said.reply))
        fact = stored.in_turn(number)
        if fact is not None:
            memories.appendleft(": ".join(fact.values()))


def _slide(window: deque[tuple[str, str]]) -> None:
    """The oldest leave until W1 holds, default level."""
    count = O200k().count
    tokens = sum(count(text) for _, text in window)
    while len(window) > _LIMITS.balanced_messages or tokens > _LIMITS.balanced_tokens:
        _, gone = window.popleft()
        tokens -= count(gone)


def cost(questions: Sequence[Question], messages: int) -> dict[str, float]:
    """What the background work asked and was answered, in tokens for 100 messages of the conversation."""
    count = O200k().count
    return {
        "questions": round(100 * len(questions) / messages, 1),
        "tokens_in": round(100 * sum(count(one.asked) for one in questions) / messages),
        "tokens_out": round(100 * sum(count(one.answer) for one in questions) / messages),
    }


def saving(talk: Talk, turns: Sequence[Said]) -> dict[str, float]:
    """Tokens of the messages that were sent, for 100 messages of the conversation, beside the whole history's."""
    count = O200k().count
    sent = sum(count(message["content"] or "") for one in talk.sent for message in json.loads(one.body)["messages"])
    whole = so_far = 0
    for said in turns:
        so_far += count(said.user)
        whole += so_far
        so_far += count(said.reply)
    return {"tokens_sent": round(50 * sent / len(turns)), "whole_history_tokens": round(50 * whole / len(turns))}


def measure(rest: Rest, voice: Voice, preset: Preset, turns: Sequence[Said]) -> dict[str, object]:
    """The shares of one conversation, those of the plain way, and what the background work cost."""
    talk = Talk(rest, voice, preset)
    talk.go(turns)
    plain = shares(list(plain_way(talk, preset, turns)), first_turn=FIRST_TURN)
    ours = shares(talk.sent, first_turn=FIRST_TURN)
    if preset is Preset.NOTEBOOK:
        # It has no epochs: its block is written anew with every entry (K2).
        ours = {name: ours[name] for name in _WITHOUT_EPOCHS}
    return {
        **ours,
        "plain_way": {name: plain[name] for name in _WITHOUT_EPOCHS},
        "per_100_messages": {**cost(voice.questions, 2 * len(turns)), **saving(talk, turns)},
    }


async def _make(folder: Path) -> None:
    async with await open_house(read_settings({"folder": folder}, environment={}), models=ScriptedModel()):
        return


def _met(figures: Mapping[str, object]) -> bool:
    return all(isinstance(value := figures[name], float) and value >= aim for name, aim in AIMS.items())


def main() -> None:
    """Measure and print one JSON line; the aims hold for companion and assistant."""
    parser = argparse.ArgumentParser(prog="python -m bench.prefix", description=main.__doc__)
    parser.add_argument("--turns", type=int, default=500, help="turns of each conversation")
    parser.add_argument("--preset", action="append", type=Preset, help="only these; else all three")
    parser.add_argument("--data", type=Path, help="a JSON file of long conversations; else the demo's life")
    options = parser.parse_args()
    turns = list(islice(endless(options.data), options.turns))
    voice = Voice()
    figures: dict[str, Any] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="souvenance-bench-")))
        asyncio.run(_make(folder))
        upstream = stack.enter_context(ScriptedUpstream().respond_with(voice))
        address = stack.enter_context(served(folder, upstream.url, settings=_SETTINGS))
        rest = stack.enter_context(closing(Rest(address)))
        for preset in options.preset or Preset:
            figures[preset.value] = measure(rest, voice, preset, turns)
    met = {preset: _met(figures[preset]) for preset in figures if preset != Preset.NOTEBOOK}
    print_line("prefix", {"aims": AIMS, "met": met, "turns": options.turns, **figures})


if __name__ == "__main__":
    main()
