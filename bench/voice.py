"""The model of a long chat: says what it is told to, stores a memory in some turns, and answers summary questions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from bench.world import Said
from souvenance.testing import RecordedRequest, call, say
from souvenance.testing.script import Reply, Text
from souvenance.testing.summaries import summary_answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Background work's request and what it was answered."""

    asked: str
    answer: str


class Voice:
    """A responder of `ScriptedUpstream`; `turn` says what comes next, `chats` and `questions` keep what came."""

    def __init__(self) -> None:
        self._reply = ""
        self._store: dict[str, str] | None = None
        self.chats: list[bytes] = []
        self.questions: list[Question] = []

    def turn(self, said: Said, *, store: dict[str, str] | None = None) -> None:
        """The next reply; with `store` the model first calls `remember` with these arguments."""
        self._reply, self._store = said.reply, store

    def __call__(self, request: RecordedRequest) -> Reply:
        messages: list[dict[str, Any]] = json.loads(request.body)["messages"]
        answer = summary_answer(messages)
        if answer is not None:
            asked = "\n".join(str(message["content"]) for message in messages)
            self.questions.append(Question(asked=asked, answer=answer))
            return say(answer)
        self.chats.append(request.body)
        if self._store is not None:
            arguments, self._store = json.dumps(self._store), None
            return call("remember", arguments)
        return Text(chunks=tuple(self._reply.split(". ")))
