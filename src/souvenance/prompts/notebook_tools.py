"""The memory tools of a notebook (V1, K1): its keys are all in the prompt, so they are called by name."""

from __future__ import annotations

from dataclasses import dataclass

from souvenance.domain.json_object import JsonObject
from souvenance.domain.limits import Limits
from souvenance.prompts.memory_tools import BadCall, no_such_tool, read_arguments, tool

VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepCall:
    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DropCall:
    key: str


NotebookCall = KeepCall | DropCall | BadCall


def tools(limits: Limits) -> tuple[JsonObject, ...]:
    key = {"type": "string", "description": f"A short descriptive name, at most {limits.key_characters} characters."}
    value = {"type": "string", "description": f"At most {limits.value_characters} characters."}
    return (
        tool(
            "remember",
            "Keep a lasting fact under a key; a key that exists gets its value.",
            {"key": key, "value": value},
        ),
        tool("forget", "Remove one key that is wrong or that the user wants gone.", {"key": key}),
    )


def parse_call(name: str, arguments: str) -> NotebookCall:
    """What the model asked for; BadCall when the arguments are not what the tool takes."""
    given = read_arguments(arguments)
    if isinstance(given, BadCall):
        return given
    if name not in {"remember", "forget"}:
        return no_such_tool(name)
    key = given.get("key")
    if not isinstance(key, str) or not key.strip():
        return BadCall(reason=f"{name} takes key, a non-empty string.")
    if name == "forget":
        return DropCall(key=key.strip())
    value = given.get("value")
    if not isinstance(value, str) or not value.strip():
        return BadCall(reason="remember takes value, a non-empty string.")
    return KeepCall(key=key.strip(), value=value)
