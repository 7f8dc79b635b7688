"""How a node's items, spots and children and a rule's sources stand in their columns: JSON lists, fields by place."""

from __future__ import annotations

import json
from collections.abc import Iterable

from souvenance.domain.ids import MessageId, NodeId
from souvenance.domain.summary import Item, Part, Source, Spot


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def items_json(items: Iterable[Item]) -> str:
    return _json([[i.part, i.text, *i.first, *i.last, int(i.kept), i.day, i.about] for i in items])


def items_of(stored: str) -> tuple[Item, ...]:
    return tuple(
        Item(part=Part(part), text=text, first=Spot(*first), last=Spot(*last), kept=bool(kept), day=day, about=about)
        for part, text, *spots, kept, day, about in json.loads(stored)
        for first, last in [(spots[:2], spots[2:])]
    )


def spots_json(spots: Iterable[Spot]) -> str:
    return _json(sorted(spots))


def spots_of(stored: str) -> frozenset[Spot]:
    return frozenset(Spot(*spot) for spot in json.loads(stored))


def children_json(children: Iterable[NodeId]) -> str:
    return _json(list(children))


def children_of(stored: str) -> tuple[NodeId, ...]:
    return tuple(NodeId(child) for child in json.loads(stored))


def sources_json(sources: Iterable[Source]) -> str:
    return _json([_listed(source) for source in sources])


def sources_of(stored: str) -> tuple[Source, ...]:
    return tuple(_source(listed) for listed in json.loads(stored))


def source_json(source: Source | None) -> str:
    """Empty for none."""
    return "" if source is None else _json(_listed(source))


def source_of(stored: str) -> Source | None:
    return _source(json.loads(stored)) if stored else None


def _listed(source: Source) -> list[str | int | None]:
    return [source.message_id, *source.spot]


def _source(listed: list[str | int | None]) -> Source:
    message_id, position, part = listed
    assert isinstance(position, int)
    assert isinstance(part, int)
    return Source(message_id=None if message_id is None else MessageId(str(message_id)), spot=Spot(position, part))
