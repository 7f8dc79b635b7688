"""Ask a model for the items of a summary that must be replaced, because a message under them has changed (S9).

The items that go are not shown: their words may be those that a person deleted. Only of which parts they were is told.
"""

from __future__ import annotations

from collections.abc import Sequence

from souvenance.domain.json_object import JsonObject
from souvenance.domain.summary import Part
from souvenance.prompts.numbered import Line, Old, Room, Summary
from souvenance.prompts.parts import (
    TRUE,
    as_shown,
    described,
    kept_at,
    object_schema,
    parts_schema,
    read_object,
    read_parts,
    shown,
)
from souvenance.prompts.question import DATA, BadAnswer, Question, as_json

VERSION = 1

_TASK = (
    "You keep the summary of a conversation. Something in it was changed or removed, so that some items of the summary "
    "hold no more. Write what stands in their place, from what is left and shown below, in the parts that are asked "
    "for. Where nothing is left to say, the list stays empty."
)
_RANGES = (
    "first and last are the numbers of the first and last one of those shown that an item is drawn from, no wider than "
    "need be."
)


def ask(left: Sequence[Line] | Sequence[Old], gone: Sequence[Old], room: Room) -> Question:
    """The question for what is left of the range of the items that go; `left` is numbered from 1."""
    answer = f"Answer with one JSON object of this schema and nothing else: {as_json(schema(gone))}"
    system = f"{_TASK} {TRUE} {described(_parts_of(gone))} {_RANGES} {kept_at(room)} {answer} {DATA}"
    data = {
        "replaced": {part.value: sum(old.item.part is part for old in gone) for part in _parts_of(gone)},
        "left": [as_shown(one) if isinstance(one, Line) else shown(one) for one in left],
    }
    return Question(system=system, user=as_json(data))


def schema(gone: Sequence[Old]) -> JsonObject:
    """The JSON schema of an answer: the parts of the items that go."""
    return object_schema(parts_schema(_parts_of(gone)))


def parse(answer: str, *, left: int, gone: Sequence[Old]) -> Summary | BadAnswer:
    """The new items in an answer about so many messages or items; it may have none."""
    parts = _parts_of(gone)
    found = read_object(answer, parts)
    if isinstance(found, BadAnswer):
        return found
    items = read_parts(found, parts, left)
    return items if isinstance(items, BadAnswer) else Summary(items=items)


def _parts_of(gone: Sequence[Old]) -> tuple[Part, ...]:
    return tuple(part for part in Part if any(old.item.part is part for old in gone))
