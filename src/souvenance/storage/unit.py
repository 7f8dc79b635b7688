"""The unit: one transaction on one owner's data, with a repository for each aggregate, made when it is asked for.

A repository is also imported when it is first asked for: the statements of all would take longer to build than a whole
first answer takes.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import Connection

from souvenance.domain.ids import OwnerId
from souvenance.storage.hashing import Hasher
from souvenance.storage.repository import Repository

if TYPE_CHECKING:
    from souvenance.storage.bots import SqlBots, SqlLevels
    from souvenance.storage.branches import SqlBranches
    from souvenance.storage.conversations import SqlConversations
    from souvenance.storage.drafts import SqlDrafts
    from souvenance.storage.due import SqlDueWork
    from souvenance.storage.epochs import SqlEpochs, SqlShortIds
    from souvenance.storage.erasures import SqlErasures
    from souvenance.storage.index import SqlIndex
    from souvenance.storage.journal import SqlJournal
    from souvenance.storage.memories import SqlMemories
    from souvenance.storage.messages import SqlMessages
    from souvenance.storage.notifications import SqlNotifications
    from souvenance.storage.owners import SqlOwners
    from souvenance.storage.personas import SqlPersonas
    from souvenance.storage.prompts import SqlCalibrations, SqlPrompts
    from souvenance.storage.rebuilds import SqlRebuilds
    from souvenance.storage.scopes import SqlScopes
    from souvenance.storage.spending import SqlSpending
    from souvenance.storage.summaries import SqlSummaries
    from souvenance.storage.turns import SqlTurns

R = TypeVar("R", bound=Repository)


class SqlUnit:
    """`ports.store.Unit` on a SQLAlchemy connection whose transaction somebody else begins and ends."""

    def __init__(self, connection: Connection, owner_id: OwnerId) -> None:
        self.owner_id = owner_id
        self._connection = connection
        self._hasher = Hasher(connection, owner_id)

    @property
    def made_due(self) -> bool:
        """Whether a worker has something to look for once this is committed."""
        return "due" in self.__dict__ and self.due.made_due

    def keyed_hash(self, text: str) -> bytes:
        return self._hasher(text)

    def _make(self, kind: type[R]) -> R:
        return kind(self._connection, self.owner_id, self._hasher)

    @cached_property
    def owners(self) -> SqlOwners:
        from souvenance.storage.owners import SqlOwners

        return self._make(SqlOwners)

    @cached_property
    def bots(self) -> SqlBots:
        from souvenance.storage.bots import SqlBots

        return self._make(SqlBots)

    @cached_property
    def levels(self) -> SqlLevels:
        from souvenance.storage.bots import SqlLevels

        return self._make(SqlLevels)

    @cached_property
    def personas(self) -> SqlPersonas:
        from souvenance.storage.personas import SqlPersonas

        return self._make(SqlPersonas)

    @cached_property
    def conversations(self) -> SqlConversations:
        from souvenance.storage.conversations import SqlConversations

        return self._make(SqlConversations)

    @cached_property
    def turns(self) -> SqlTurns:
        from souvenance.storage.turns import SqlTurns

        return self._make(SqlTurns)

    @cached_property
    def messages(self) -> SqlMessages:
        from souvenance.storage.messages import SqlMessages

        return self._make(SqlMessages)

    @cached_property
    def branches(self) -> SqlBranches:
        from souvenance.storage.branches import SqlBranches

        return self._make(SqlBranches)

    @cached_property
    def scopes(self) -> SqlScopes:
        from souvenance.storage.scopes import SqlScopes

        return self._make(SqlScopes)

    @cached_property
    def memories(self) -> SqlMemories:
        from souvenance.storage.memories import SqlMemories

        return self._make(SqlMemories)

    @cached_property
    def journal(self) -> SqlJournal:
        from souvenance.storage.journal import SqlJournal

        return self._make(SqlJournal)

    @cached_property
    def index(self) -> SqlIndex:
        from souvenance.storage.index import SqlIndex

        return self._make(SqlIndex)

    @cached_property
    def epochs(self) -> SqlEpochs:
        from souvenance.storage.epochs import SqlEpochs

        return self._make(SqlEpochs)

    @cached_property
    def short_ids(self) -> SqlShortIds:
        from souvenance.storage.epochs import SqlShortIds

        return self._make(SqlShortIds)

    @cached_property
    def prompts(self) -> SqlPrompts:
        from souvenance.storage.prompts import SqlPrompts

        return self._make(SqlPrompts)

    @cached_property
    def calibrations(self) -> SqlCalibrations:
        from souvenance.storage.prompts import SqlCalibrations

        return self._make(SqlCalibrations)

    @cached_property
    def notifications(self) -> SqlNotifications:
        from souvenance.storage.notifications import SqlNotifications

        return self._make(SqlNotifications)

    @cached_property
    def due(self) -> SqlDueWork:
        from souvenance.storage.due import SqlDueWork

        return self._make(SqlDueWork)

    @cached_property
    def erasures(self) -> SqlErasures:
        from souvenance.storage.erasures import SqlErasures

        return self._make(SqlErasures)

    @cached_property
    def drafts(self) -> SqlDrafts:
        from souvenance.storage.drafts import SqlDrafts

        return self._make(SqlDrafts)

    @cached_property
    def summaries(self) -> SqlSummaries:
        from souvenance.storage.summaries import SqlSummaries

        return self._make(SqlSummaries)

    @cached_property
    def rebuilds(self) -> SqlRebuilds:
        from souvenance.storage.rebuilds import SqlRebuilds

        return self._make(SqlRebuilds)

    @cached_property
    def spending(self) -> SqlSpending:
        from souvenance.storage.spending import SqlSpending

        return self._make(SqlSpending)
