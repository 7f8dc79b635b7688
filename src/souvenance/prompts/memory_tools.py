"""The memory tools that a model may call in mid-reply (V1), and the strict reading of its calls.

A call is input from a stranger: whatever is not exactly right comes back as a `BadCall` with words the model can mend
it by, and changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from souvenance.domain.json_object import JsonObject
from souvenance.domain.limits import Limits

VERSION = 1

_NAME_SHOWN = 60

WORTH = (
    "Only what stays true for weeks: a name, a birthday, an allergy, a preference, an explicit promise. Never plot, "
    "mood, passing things or secrets."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberCall:
    text: str
    subject: str = ""
    here_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateCall:
    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetCall:
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryCall:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BadCall:
    """Why a call could not be used, in words for the model."""

    reason: str


MemoryCall = RememberCall | UpdateCall | ForgetCall | QueryCall | BadCall


def writing(limits: Limits, *, session_scope: bool) -> tuple[JsonObject, ...]:
    """The tools that change memories; with `session_scope` a fact may be kept for this conversation only."""
    size = f"at most {limits.memory_characters} characters"
    text = {"type": "string", "description": f"One fact in the user's own language, {size}."}
    number = {"type": "integer", "description": "The number in square brackets before the memory."}
    remembered: dict[str, Any] = {
        "text": text,
        "subject": {"type": "string", "description": "Whom it is about, when it is not the user."},
    }
    if session_scope:
        remembered["this_conversation_only"] = {"type": "boolean"}
    return (
        tool("remember", f"Keep a lasting fact. {WORTH}", remembered, ["text"]),
        tool("update_memory", "Replace the text of one memory that has changed.", {"id": number, "text": text}),
        tool("forget", "Remove one memory that is wrong or that the user wants gone.", {"id": number}),
    )


def tool(name: str, says: str, properties: Mapping[str, Any], required: list[str] | None = None) -> JsonObject:
    """One tool as a wire object; every property is required unless `required` names some."""
    required = list(properties) if required is None else required
    schema = {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": says, "parameters": schema}}


def parse_call(name: str, arguments: str) -> MemoryCall:
    """What the model asked for; BadCall when the arguments are not what the tool takes."""
    given = read_arguments(arguments)
    if isinstance(given, BadCall):
        return given
    reader = _READERS.get(name)
    return no_such_tool(name) if reader is None else reader(given)


def no_such_tool(name: str) -> BadCall:
    return BadCall(reason=f"There is no tool named {name[:_NAME_SHOWN]}.")


def read_arguments(arguments: str) -> Mapping[str, Any] | BadCall:
    """The arguments of a call; none at all are an empty object."""
    try:
        given: object = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return BadCall(reason="The arguments are not valid JSON. Call the tool again with valid JSON.")
    return given if isinstance(given, dict) else BadCall(reason="The arguments must be a JSON object.")


def is_complete(arguments: str) -> bool:
    """Whether the arguments of a call that was cut off came whole (T6)."""
    return bool(arguments) and not isinstance(read_arguments(arguments), BadCall)


FINDING: tuple[JsonObject, ...] = (
    tool("memory_query", "Find memories and past messages by their words.", {"text": {"type": "string"}}),
)


def _text_of(given: Mapping[str, Any], field: str) -> str | None:
    value = given.get(field)
    return value if isinstance(value, str) and value.strip() else None


def _number_of(given: Mapping[str, Any]) -> int | None:
    value = given.get("id")
    if isinstance(value, str):
        value = value.strip().strip("[]")
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9 else None


def _remember(given: Mapping[str, Any]) -> MemoryCall:
    text, subject = _text_of(given, "text"), given.get("subject") or ""
    if text is None or not isinstance(subject, str):
        return BadCall(reason="remember takes text, a non-empty string, and optionally subject, a string.")
    return RememberCall(text=text, subject=subject.strip(), here_only=given.get("this_conversation_only") is True)


def _update(given: Mapping[str, Any]) -> MemoryCall:
    text, number = _text_of(given, "text"), _number_of(given)
    if text is None or number is None:
        return BadCall(reason="update_memory takes id, the number of a memory, and text, a non-empty string.")
    return UpdateCall(number=number, text=text)


def _forget(given: Mapping[str, Any]) -> MemoryCall:
    number = _number_of(given)
    return BadCall(reason="forget takes id, the number of a memory.") if number is None else ForgetCall(number=number)


def _query(given: Mapping[str, Any]) -> MemoryCall:
    text = _text_of(given, "text")
    return BadCall(reason="memory_query takes text, a non-empty string.") if text is None else QueryCall(text=text)


_READERS: dict[str, Callable[[Mapping[str, Any]], MemoryCall]] = {
    "remember": _remember,
    "update_memory": _update,
    "forget": _forget,
    "memory_query": _query,
}
