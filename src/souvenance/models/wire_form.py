"""Reading the OpenAI chat form: an upstream's objects into `ModelChunk`s, lenient where real servers differ."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from souvenance.domain.json_object import JsonObject
from souvenance.domain.split_pairs import SplitPairs
from souvenance.ports.chat_model import ModelChunk, ToolCallDelta, Usage


class CallIndex:
    """Gives every tool call delta of one reply its index.

    Some servers leave `index` out (Gemini's OpenAI form), some send every parallel call as number 0 with a new id
    (Ollama before 0.12). A delta with a new id and a name begins a call; one without an id goes on with the last.
    """

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._known: dict[int, str] = {}
        self._last = 0

    def place(self, stated: object, call_id: str, name: str) -> int:
        """The index of a delta that says `stated` (None when it says nothing)."""
        index = self._decide(stated, call_id, name)
        if call_id:
            self._ids[call_id] = index
        self._known[index] = self._known.get(index) or call_id
        self._last = index
        return index

    def _decide(self, stated: object, call_id: str, name: str) -> int:
        begins = bool(call_id and name) and call_id not in self._ids
        if isinstance(stated, int) and not isinstance(stated, bool):
            taken = begins and bool(self._known.get(stated))
            return self._next() if taken else stated
        if call_id in self._ids:
            return self._ids[call_id]
        return self._next() if begins or (name and not call_id) else self._last

    def _next(self) -> int:
        return max(self._known, default=-1) + 1


class ReplyReader:
    """Reads the objects of one reply in order; knows afterwards whether it ended, and whether it said anything."""

    def __init__(self) -> None:
        self.finished = False
        self.said_anything = False
        self._calls = CallIndex()
        self._text = SplitPairs()
        self._reasoning = SplitPairs()

    def read(self, wire: JsonObject) -> ModelChunk:
        """One object of a stream as a chunk; of several choices the first answer (`index` 0) counts."""
        choice = _first_choice(wire)
        return self._chunk(wire, choice, _object(choice.get("delta")))

    def read_whole(self, wire: JsonObject) -> ModelChunk:
        """A whole response object as the one chunk of a reply; a missing finish counts as `stop`."""
        choice = _first_choice(wire)
        finish = _text(choice.get("finish_reason")) or "stop"
        return self._chunk(wire, {**choice, "finish_reason": finish}, _object(choice.get("message")))

    def _chunk(self, wire: JsonObject, choice: JsonObject, said: JsonObject) -> ModelChunk:
        finish = _text(choice.get("finish_reason")) or None
        text, thought = _content(said.get("content"))
        thought = thought or _text(said.get("reasoning_content")) or _text(said.get("reasoning"))
        chunk = ModelChunk(
            text=self._text.join(text or _text(said.get("refusal")), last=finish is not None),
            reasoning=self._reasoning.join(thought, last=finish is not None),
            tool_calls=tuple(_delta(call, self._calls) for call in _objects(said.get("tool_calls"))),
            finish=finish,
            usage=_usage(wire.get("usage")),
            wire=wire,
        )
        self.finished = self.finished or finish is not None
        heard = chunk.text.strip() or chunk.reasoning or chunk.tool_calls or finish == "content_filter"
        self.said_anything = self.said_anything or bool(heard)
        return chunk


def _first_choice(wire: JsonObject) -> JsonObject:
    return next((choice for choice in _objects(wire.get("choices")) if choice.get("index", 0) == 0), {})


def _content(content: object) -> tuple[str, str]:
    """Text and reasoning of a content that is a string, or a list of typed parts as Mistral sends it."""
    if not isinstance(content, list):
        return _text(content), ""
    parts = _objects(content)
    thoughts = (inner for part in parts for inner in _objects(part.get("thinking")))
    return "".join(_text(part.get("text")) for part in parts), "".join(_text(part.get("text")) for part in thoughts)


def _delta(call: JsonObject, calls: CallIndex) -> ToolCallDelta:
    function = _object(call.get("function"))
    call_id, name = _text(call.get("id")), _text(function.get("name"))
    return ToolCallDelta(
        index=calls.place(call.get("index"), call_id, name),
        call_id=call_id,
        name=name,
        arguments=_arguments(function.get("arguments")),
    )


def _arguments(value: object) -> str:
    """JSON text; some servers send the object itself."""
    return json.dumps(value) if isinstance(value, Mapping) else SplitPairs().join(_text(value), last=True)


def _usage(usage: object) -> Usage | None:
    fields = _object(usage)
    tokens_in, tokens_out = fields.get("prompt_tokens"), fields.get("completion_tokens", 0)
    if not isinstance(tokens_in, int) or not isinstance(tokens_out, int):
        return None
    return Usage(tokens_in=tokens_in, tokens_out=tokens_out)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(value: object) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _objects(value: object) -> Sequence[JsonObject]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
