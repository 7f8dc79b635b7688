"""Drafts: memories to be reviewed, each until it is saved, discarded or expires (V10)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, Row, bindparam, delete, insert, select, update

from souvenance.domain.draft import Draft
from souvenance.domain.ids import DraftId, MessageId
from souvenance.domain.memory import Origin, Scope
from souvenance.errors import NotFound
from souvenance.storage.batches import batches
from souvenance.storage.repository import LIMIT, Repository, owned
from souvenance.storage.schema import drafts

_C = drafts.c
_IDS: BindParameter[list[str]] = bindparam("ids", expanding=True)
_ONE = (owned(drafts), _C.draft_id == bindparam("id"))

_GET = select(drafts).where(*_ONE)
_SAVE = update(drafts).where(*_ONE)
_REMOVE = delete(drafts).where(owned(drafts), _C.draft_id.in_(_IDS))
_PAGE = (
    select(drafts)
    .where(owned(drafts), _C.draft_id > bindparam("after"), _C.until > bindparam("now"))
    .order_by(_C.draft_id)
    .limit(LIMIT)
)
_OF_SCOPES = (
    select(drafts)
    .where(owned(drafts), _C.scope.in_(bindparam("scopes", expanding=True)), _C.text.is_not(None))
    .order_by(_C.draft_id)
)
_DRAWN = select(_C.draft_id, _C.sources).where(owned(drafts), _C.sources != "[]")
_PURGE = (
    update(drafts)
    .where(owned(drafts), _C.until <= bindparam("now"), _C.text.is_not(None))
    .values(text=None, key=None, sources="[]")
)
_FORGET = delete(drafts).where(owned(drafts), _C.until <= bindparam("before"))


class SqlDrafts(Repository):
    """`ports.drafts.Drafts`."""

    __slots__ = ()

    def put_all(self, drafts_: Sequence[Draft]) -> None:
        self._insert(insert(drafts), [{"draft_id": draft.draft_id, **_values(draft)} for draft in drafts_])

    def get(self, draft_id: DraftId) -> Draft:
        row = self._row(_GET, id=draft_id)
        if row is None:
            raise NotFound("draft", draft_id)
        return _draft(row)

    def save(self, draft: Draft) -> None:
        if self._run(_SAVE, id=draft.draft_id, **_values(draft)).rowcount == 0:
            raise NotFound("draft", draft.draft_id)

    def remove(self, draft_ids: Sequence[DraftId]) -> None:
        for ids in batches(draft_ids):
            self._run(_REMOVE, ids=ids)

    def page(self, *, now: datetime, after: DraftId | None, limit: int) -> list[Draft]:
        return [_draft(row) for row in self._rows(_PAGE, now=now, after=after or "", limit=limit)]

    def of_scopes(self, scopes: Sequence[Scope]) -> list[Draft]:
        return [_draft(row) for row in self._rows(_OF_SCOPES, scopes=[scope.key for scope in scopes])]

    def remove_drawn_from(self, message_ids: Sequence[MessageId]) -> None:
        gone = frozenset(message_ids)
        self.remove([row.draft_id for row in self._rows(_DRAWN) if not gone.isdisjoint(json.loads(row.sources))])

    def purge_ended(self, now: datetime) -> int:
        return self._run(_PURGE, now=now).rowcount

    def forget_ended(self, before: datetime) -> None:
        self._run(_FORGET, before=before)


def _values(draft: Draft) -> dict[str, object]:
    return {
        "batch": draft.batch,
        "scope": draft.scope.key,
        "origin": draft.origin,
        "text": draft.text,
        "key": draft.key,
        "pinned": draft.pinned,
        "sources": json.dumps(draft.sources),
        "created_at": draft.created_at,
        "until": draft.until,
    }


def _draft(row: Row[Any]) -> Draft:
    return Draft(
        draft_id=DraftId(row.draft_id),
        batch=row.batch,
        scope=Scope.parse(row.scope),
        origin=Origin(row.origin),
        text=row.text or "",
        key=row.key,
        pinned=row.pinned,
        sources=tuple(json.loads(row.sources)),
        created_at=row.created_at,
        until=row.until,
    )
