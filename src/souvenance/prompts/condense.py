"""Ask a model to bring the long-term summary within its bound (S5).

Open promises and what is true now stay without being asked about; the model says which other items stay, and writes
one short line for each period whose timeline lines go. Nothing that stays is written again.
"""

from __future__ import annotations

from collections.abc import Sequence

from souvenance.domain.json_object import JsonObject
from souvenance.domain.summary import Part
from souvenance.prompts.merge import read_kept
from souvenance.prompts.numbered import Old, Room, Summary
from souvenance.prompts.parts import (
    NUMBER,
    TRUE,
    as_it_was,
    kept_at,
    list_schema,
    object_schema,
    parts_schema,
    read_object,
    read_parts,
    shown,
)
from souvenance.prompts.question import DATA, BadAnswer, Question, as_json

VERSION = 1

_TASK = (
    "You keep the long-term summary of a conversation, and it has become too long. Below are its items. Those under "
    "stays are kept in any case and take room too. Of those under items you say what becomes of each."
)
_HOW = (
    "keep: the numbers of the items that stay exactly as they are: the newest timeline lines, the turning points, and "
    "the references that a line which stays names. Every other item is gone. timeline: for the oldest lines that go, "
    "one short new line for each period, drawn from the lines with the numbers first to last, with the period as day."
)


def ask(olds: Sequence[Old], room: Room) -> Question:
    """The question for these items of the long-term summary, numbered from 1."""
    answer = f"Answer with one JSON object of this schema and nothing else: {as_json(schema())}"
    stay = {old.number for old in staying(olds)}
    data = {
        "stays": [shown(old) for old in olds if old.number in stay],
        "items": [shown(old) for old in olds if old.number not in stay],
    }
    return Question(system=f"{_TASK} {TRUE} {_HOW} {kept_at(room)} {answer} {DATA}", user=as_json(data))


def staying(olds: Sequence[Old]) -> tuple[Old, ...]:
    """Open promises, and of the state what no later line about the same thing supersedes."""
    latest = {old.item.about: old.number for old in olds if old.item.part is Part.STATE}
    return tuple(old for old in olds if _stays(old, latest.get(old.item.about)))


def _stays(old: Old, latest: int | None) -> bool:
    if old.item.part is Part.STATE:
        return not old.item.about or old.number == latest
    return old.item.part is Part.PROMISES and not old.item.kept


def schema() -> JsonObject:
    """The JSON schema of an answer."""
    return object_schema({"keep": list_schema(NUMBER)} | parts_schema([Part.TIMELINE]))


def parse(answer: str, *, olds: Sequence[Old]) -> Summary | BadAnswer:
    """The condensed summary in an answer about these items, all of it or none."""
    found = read_object(answer, ("keep", Part.TIMELINE))
    if isinstance(found, BadAnswer):
        return found
    kept, periods = read_kept(found, olds), read_parts(found, [Part.TIMELINE], len(olds))
    if isinstance(kept, BadAnswer):
        return kept
    if isinstance(periods, BadAnswer):
        return periods
    stay = {old.number for old in staying(olds)}
    stay |= {one.first for one in kept}
    items = (*periods, *(as_it_was(old) for old in olds if old.number in stay))
    return Summary(items=items) if items else BadAnswer(reason="It keeps nothing.")
