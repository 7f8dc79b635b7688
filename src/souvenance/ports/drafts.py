"""The repository of drafts (V10)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from souvenance.domain.draft import Draft
from souvenance.domain.ids import DraftId, MessageId
from souvenance.domain.memory import Scope


class Drafts(Protocol):
    def put_all(self, drafts: Sequence[Draft]) -> None:
        """Write new ones."""
        ...

    def get(self, draft_id: DraftId) -> Draft:
        """The draft, an expired one too (without a text once it is purged); NotFound when the owner has no such one."""
        ...

    def save(self, draft: Draft) -> None:
        """Write the changed draft over the one before."""
        ...

    def remove(self, draft_ids: Sequence[DraftId]) -> None:
        """Drop these; one that is not there is no trouble."""
        ...

    def page(self, *, now: datetime, after: DraftId | None, limit: int) -> list[Draft]:
        """Those that have not expired at `now`, in order of id, after `after`."""
        ...

    def of_scopes(self, scopes: Sequence[Scope]) -> list[Draft]:
        """All of these scopes that still have their text."""
        ...

    def remove_drawn_from(self, message_ids: Sequence[MessageId]) -> None:
        """Drop those that were drawn from any of these messages."""
        ...

    def purge_ended(self, now: datetime) -> int:
        """Drop the texts and sources of those that have expired at `now`; returns of how many. What stays holds ids
        and times only, so that whoever comes too late can be told so.
        """
        ...

    def forget_ended(self, before: datetime) -> None:
        """Drop what is left of those that expired by `before`."""
        ...
