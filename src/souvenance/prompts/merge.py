"""Ask a model to make one summary of several that follow each other: four merged, or folded into the long-term one
(S2, S4, S13).

What need not change is carried over by its number, so that it stays as it is and costs no output.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from souvenance.domain.json_object import JsonObject
from souvenance.domain.summary import Part
from souvenance.prompts.numbered import Old, Room, Summary, Told
from souvenance.prompts.parts import (
    EVERY,
    NUMBER,
    TRUE,
    as_it_was,
    described,
    kept_at,
    list_schema,
    object_schema,
    parts_schema,
    read_list,
    read_number,
    read_object,
    read_parts,
    shown,
)
from souvenance.prompts.question import DATA, BadAnswer, Question, as_json

VERSION = 1

_TASK = (
    "You keep the summary of a conversation. The items below come from summaries of its stretches, oldest first. Make "
    "one summary of them: what you leave out is forgotten."
)
_HOW = (
    "keep: the numbers of the items that stay exactly as they are. Every other item is gone unless a new one says what "
    "matters of it. Write new items where several become one, or where a later one has changed what an earlier one "
    "says. An open promise stays, or a new promise says what became of it. first and last are the numbers of the first "
    "and last item that a new one is drawn from, no wider than need be."
)


def ask(olds: Sequence[Old], room: Room) -> Question:
    """The question for these items, numbered from 1."""
    answer = (
        "Answer with one JSON object of this schema and nothing else; a list may be empty, but not all of them: "
        f"{as_json(schema())}"
    )
    system = f"{_TASK} {TRUE} {described(EVERY)} {_HOW} {kept_at(room)} {answer} {DATA}"
    return Question(system=system, user=as_json({"items": [shown(old) for old in olds]}))


def schema() -> JsonObject:
    """The JSON schema of an answer."""
    return object_schema({"keep": list_schema(NUMBER)} | parts_schema(EVERY))


def parse(answer: str, *, olds: Sequence[Old]) -> Summary | BadAnswer:
    """The summary in an answer about these items, those carried over first; all of it or none."""
    found = read_object(answer, ("keep", *EVERY))
    if isinstance(found, BadAnswer):
        return found
    kept, items = read_kept(found, olds), read_parts(found, EVERY, len(olds))
    if isinstance(kept, BadAnswer):
        return kept
    if isinstance(items, BadAnswer):
        return items
    if not kept and not items:
        return BadAnswer(reason="It keeps nothing; write at least what the items are about.")
    return _lost_promise(olds, (*kept, *items)) or Summary(items=(*kept, *items))


def read_kept(answer: dict[str, object], olds: Sequence[Old]) -> tuple[Told, ...] | BadAnswer:
    """The items whose numbers `keep` lists, each once, in the order in which they were shown."""
    numbers = read_list(answer, "keep", partial(read_number, "the number", len(olds)))
    if isinstance(numbers, BadAnswer):
        return numbers
    wanted = set(numbers)
    return tuple(as_it_was(old) for old in olds if old.number in wanted)


def _lost_promise(olds: Sequence[Old], items: Sequence[Told]) -> BadAnswer | None:
    promises = [one for one in items if one.part is Part.PROMISES]
    for old in olds:
        is_open = old.item.part is Part.PROMISES and not old.item.kept
        if is_open and not any(one.first <= old.number <= one.last for one in promises):
            return BadAnswer(reason=f"Item {old.number} is an open promise; keep it or say what became of it.")
    return None
