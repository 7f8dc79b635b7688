"""Ask a model to read a batch of messages again for lasting details, beside the memories that stand (V8, M13)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from souvenance.domain.json_object import JsonObject
from souvenance.domain.limits import Limits
from souvenance.domain.text import fold
from souvenance.prompts.memory_tools import WORTH
from souvenance.prompts.numbered import Line
from souvenance.prompts.parts import (
    NUMBER,
    TRUE,
    as_shown,
    list_schema,
    misshaped,
    object_schema,
    read_list,
    read_number,
    read_object,
    read_text,
    text_schema,
)
from souvenance.prompts.question import DATA, BadAnswer, Question, as_json

VERSION = 1

_TASK = (
    "You keep what a chat bot remembers about its user in every later conversation. Read the messages for lasting "
    f"facts that the memories miss or have wrong. {WORTH}"
)
_HOW = (
    "add: a new memory, one fact in one sentence; subject is whom it is about, and empty when it is the user. update: "
    "the whole new text of the memory with this number, when a message says that it has changed. forget: the number of "
    "a memory that a message says is no longer true or not wanted. lines are the numbers of the messages that say so. "
    "Memories without a number stay as they are. At most {most} changes together, the most lasting ones; usually there "
    "are none."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A memory that stands, as it is shown; `number` counts from 1, and is None for one that may not be changed."""

    text: str
    number: int | None
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """`lines` are the numbers of the messages that it was drawn from; so of the others."""

    text: str
    lines: tuple[int, ...]
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    number: int
    text: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    number: int
    lines: tuple[int, ...]


Change = Add | Update | Forget


def ask(lines: Sequence[Line], memories: Sequence[Known], limits: Limits) -> Question:
    """The question for these messages, numbered from 1, beside these memories."""
    answer = f"Answer with one JSON object of this schema and nothing else: {as_json(schema(limits))}"
    how = _HOW.format(most=limits.deeper_changes)
    data = {
        "memories": [_shown(memory) for memory in memories],
        "messages": [as_shown(line) for line in lines],
    }
    return Question(system=f"{_TASK} {TRUE} {how} {answer} {DATA}", user=as_json(data))


def _shown(memory: Known) -> JsonObject:
    number = {} if memory.number is None else {"number": memory.number}
    subject = {"subject": memory.subject} if memory.subject else {}
    return {**number, **subject, "text": memory.text}


def schema(limits: Limits) -> JsonObject:
    """The JSON schema of an answer."""
    text, lines = text_schema(limits.memory_characters), {"type": "array", "items": NUMBER, "minItems": 1}
    subject = text_schema(limits.subject_characters, least=0)
    return object_schema(
        {
            "add": list_schema(object_schema({"text": text, "subject": subject, "lines": lines})),
            "update": list_schema(object_schema({"number": NUMBER, "text": text, "lines": lines})),
            "forget": list_schema(object_schema({"number": NUMBER, "lines": lines})),
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """What an answer may name: messages up to `lines`, memories by these numbers."""

    lines: int
    numbers: frozenset[int]
    limits: Limits


def parse(answer: str, *, lines: int, memories: Sequence[Known], limits: Limits) -> tuple[Change, ...] | BadAnswer:
    """The changes of an answer about so many messages and these memories, all of them or none; often none."""
    found = read_object(answer, _READERS)
    if isinstance(found, BadAnswer):
        return found
    numbers = frozenset(one.number for one in memories if one.number is not None)
    shown = _Shown(lines=lines, numbers=numbers, limits=limits)
    changes: list[Change] = []
    for name, read in _READERS.items():
        some: tuple[Change, ...] | BadAnswer = read_list(found, name, partial(read, shown))
        if isinstance(some, BadAnswer):
            return some
        changes += some
    return _bad_together(changes, limits) or tuple(changes)


def _bad_together(changes: Sequence[Change], limits: Limits) -> BadAnswer | None:
    if len(changes) > limits.deeper_changes:
        return BadAnswer(reason=f"It has {len(changes)} changes; there may be {limits.deeper_changes} at most.")
    named = [one.number for one in changes if not isinstance(one, Add)]
    added = [(fold(one.text), fold(one.subject)) for one in changes if isinstance(one, Add)]
    if len(set(named)) < len(named) or len(set(added)) < len(added):
        return BadAnswer(reason="It changes one memory twice, or adds one twice.")
    return None


def _read_add(shown: _Shown, given: object) -> Change | BadAnswer:
    if bad := misshaped(given, ("text", "subject", "lines")):
        return bad
    assert isinstance(given, dict)
    text, lines = _read_memory(shown, given), _read_lines(shown, given)
    if isinstance(text, BadAnswer):
        return text
    if isinstance(lines, BadAnswer):
        return lines
    if given["subject"] == "":
        return Add(text=text, lines=lines)
    subject = read_text("subject", given["subject"], most=shown.limits.subject_characters)
    return subject if isinstance(subject, BadAnswer) else Add(text=text, lines=lines, subject=subject)


def _read_update(shown: _Shown, given: object) -> Change | BadAnswer:
    if bad := misshaped(given, ("number", "text", "lines")):
        return bad
    assert isinstance(given, dict)
    text, lines, number = _read_memory(shown, given), _read_lines(shown, given), _read_known(shown, given)
    if isinstance(text, BadAnswer):
        return text
    if isinstance(lines, BadAnswer):
        return lines
    return number if isinstance(number, BadAnswer) else Update(number=number, text=text, lines=lines)


def _read_forget(shown: _Shown, given: object) -> Change | BadAnswer:
    if bad := misshaped(given, ("number", "lines")):
        return bad
    assert isinstance(given, dict)
    lines, number = _read_lines(shown, given), _read_known(shown, given)
    if isinstance(lines, BadAnswer):
        return lines
    return number if isinstance(number, BadAnswer) else Forget(number=number, lines=lines)


def _read_memory(shown: _Shown, given: dict[str, object]) -> str | BadAnswer:
    return read_text("text", given["text"], most=shown.limits.memory_characters)


def _read_known(shown: _Shown, given: dict[str, object]) -> int | BadAnswer:
    number = given["number"]
    if isinstance(number, bool) or not isinstance(number, int) or number not in shown.numbers:
        return BadAnswer(reason="number must be that of a memory which was shown with one.")
    return number


def _read_lines(shown: _Shown, given: dict[str, object]) -> tuple[int, ...] | BadAnswer:
    lines = read_list(given, "lines", partial(read_number, "the number", shown.lines))
    if lines == ():
        return BadAnswer(reason="lines must name at least one message.")
    return lines if isinstance(lines, BadAnswer) else tuple(sorted(set(lines)))


_READERS: Mapping[str, Callable[[_Shown, object], Change | BadAnswer]] = {
    "add": _read_add,
    "update": _read_update,
    "forget": _read_forget,
}
