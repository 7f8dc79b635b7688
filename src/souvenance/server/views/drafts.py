"""Drafts, what drafting cost, and what already says a text, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from souvenance.app.ask_twice import Charge
from souvenance.app.drafts import Drafted
from souvenance.app.find_in_summaries import SummaryLine
from souvenance.app.find_similar import Similar
from souvenance.domain.draft import Draft
from souvenance.domain.memory import Origin
from souvenance.server.views.memories import ListedMemoryJson, RememberedJson, RoomJson, room_json
from souvenance.server.views.summaries import SummaryLineJson
from souvenance.server.views.view import View


class DraftJson(View):
    """A memory to be reviewed until `until`. Of a notebook `key` names it and `text` is its value; `sources` are the
    ids of the messages that it was drawn from.
    """

    id: str
    batch: str
    scope: str
    origin: Origin
    text: str
    key: str | None
    pinned: bool
    sources: list[str]
    created_at: datetime
    until: datetime

    @classmethod
    def of(cls, draft: Draft) -> Self:
        return cls(
            id=draft.draft_id,
            batch=draft.batch,
            scope=draft.scope.key,
            origin=draft.origin,
            text=draft.text,
            key=draft.key,
            pinned=draft.pinned,
            sources=list(draft.sources),
            created_at=draft.created_at,
            until=draft.until,
        )


class ChargeJson(View):
    """Tokens of the requests that it took; `reported` by the model itself, else estimated (C5)."""

    model: str
    tokens_in: int
    tokens_out: int
    reported: bool

    @classmethod
    def of(cls, charge: Charge) -> Self:
        return cls(
            model=charge.model, tokens_in=charge.tokens_in, tokens_out=charge.tokens_out, reported=charge.reported
        )


class DraftedJson(View):
    """What to review, the room of its scope, and what it cost; `charge` is null when no model was asked."""

    drafts: list[DraftJson]
    room: RoomJson
    charge: ChargeJson | None
    note: str

    @classmethod
    def of(cls, drafted: Drafted) -> Self:
        return cls(
            drafts=[DraftJson.of(draft) for draft in drafted.drafts],
            room=room_json(drafted.room.scope.key, drafted.room),
            charge=None if drafted.charge is None else ChargeJson.of(drafted.charge),
            note=drafted.note,
        )


class SavedJson(View):
    """The memories that drafts became, in their order."""

    items: list[RememberedJson]


class SimilarJson(View):
    """A memory that says the same (`equal`), or has `matched` of the text's `asked` index terms."""

    memory: ListedMemoryJson
    equal: bool
    matched: int
    asked: int


class SimilarsJson(View):
    """Memories, and lines of summaries (V4)."""

    items: list[SimilarJson]
    summary_lines: list[SummaryLineJson]

    @classmethod
    def of(cls, found: Sequence[Similar], lines: Sequence[SummaryLine]) -> Self:
        return cls(
            items=[
                SimilarJson(
                    memory=ListedMemoryJson.shown(one.view), equal=one.equal, matched=one.matched, asked=one.asked
                )
                for one in found
            ],
            summary_lines=[SummaryLineJson.of(line) for line in lines],
        )
