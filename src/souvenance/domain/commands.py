"""Read the commands that a person writes in place of a message (V3)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from souvenance.domain.call_syntax import read_calls
from souvenance.domain.limits import Limits
from souvenance.domain.text import clean, clean_key
from souvenance.errors import InputError

_LIMITS = Limits()
_MOST_CALLS = 64
"""A message of more text calls is no command but a text about them."""

_COMMAND = re.compile(r"[/／](remember|forget|memories)(?!\S)(.*)", re.IGNORECASE | re.DOTALL)
_SPACED_SIGN = re.compile(r"(?<=\s)[=＝](?=\s)")
_SIGN = re.compile(r"[=＝]")


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberCommand:
    """`/remember some fact`."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberPairs:
    """`/remember key = value` in a notebook, or a message of nothing but text calls anywhere; keys are distinct."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetCommand:
    """`/forget id, key or words`."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoriesCommand:
    """`/memories`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandProblem:
    """A command that cannot be carried out as it was written; `message` tells the form."""

    command: str
    message: str


Command = RememberCommand | RememberPairs | ForgetCommand | MemoriesCommand | CommandProblem


def parse_command(message: str, *, notebook: bool, limits: Limits = _LIMITS) -> Command | None:
    """Return the command that `message` is, or None when it is an ordinary message.

    A command begins the message; its word may be in any case, and white space ends it (`/rememberx` is none). Key and
    value part at the first `=` with space on both sides, else at the first `=`. Lengths are checked where things are
    stored, as for every door; those of text calls here, since their keys must be clean to tell which are the same.
    """
    found = _COMMAND.fullmatch(message.strip())
    if found is None:
        return _of_calls_only(message, limits)
    word, argument = found.group(1).lower(), found.group(2).strip()
    if word == "memories":
        return _memories(argument)
    if word == "forget":
        return ForgetCommand(target=argument) if argument else _problem(word, "/forget id, key or words")
    if notebook:
        return _pair(argument)
    return RememberCommand(text=argument) if argument else _problem(word, "/remember some fact")


def _memories(argument: str) -> Command:
    return _problem("memories", "/memories, with nothing after it") if argument else MemoriesCommand()


def _pair(argument: str) -> Command:
    found = _SPACED_SIGN.search(argument) or _SIGN.search(argument)
    key, value = (argument[: found.start()].strip(), argument[found.end() :].strip()) if found else ("", "")
    if not key or not value:
        return _problem("remember", "/remember key = value")
    return RememberPairs(pairs=((key, value),))


def _of_calls_only(message: str, limits: Limits) -> RememberPairs | CommandProblem | None:
    calls = read_calls(message, most=_MOST_CALLS)
    if calls is None:
        return None
    try:
        pairs = {
            clean_key(call.key, limit=limits.key_characters): clean("value", call.value, limit=limits.value_characters)
            for call in calls
        }
    except InputError as error:
        return CommandProblem(command="remember", message=error.message)
    return RememberPairs(pairs=tuple(pairs.items()))


def _problem(command: str, form: str) -> CommandProblem:
    return CommandProblem(command=command, message=f"Write it as {form}.")
