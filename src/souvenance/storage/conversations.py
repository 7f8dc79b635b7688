"""Conversations: one row each, which every write in the conversation holds (HOUSE 8)."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Row, bindparam, insert, select, update

from souvenance.domain.conversation import Channel, Conversation, Flags
from souvenance.domain.ids import BotId, ConversationId
from souvenance.errors import NotFound
from souvenance.storage.repository import LIMIT, Repository, owned
from souvenance.storage.schema import conversations

_C = conversations.c
_GET = select(conversations).where(owned(conversations), _C.conversation_id == bindparam("id"))
_LOCK = _GET.with_for_update()
_BY_REF = select(conversations).where(
    owned(conversations), _C.client == bindparam("key"), _C.client_ref_hash == bindparam("hash")
)
_LOCK_BY_REF = _BY_REF.with_for_update()
_BY_HISTORY = (
    select(conversations)
    .where(owned(conversations), _C.client == bindparam("key"), _C.history_hash == bindparam("hash"))
    .order_by(_C.conversation_id.desc())
    .limit(2)
)
_ALL = select(conversations).where(owned(conversations)).order_by(_C.conversation_id.desc()).limit(LIMIT)
_OLDER = _C.conversation_id < bindparam("before")
_OF_BOT = _C.bot_id == bindparam("bot")
_PAGES = {
    (False, False): _ALL,
    (False, True): _ALL.where(_OLDER),
    (True, False): _ALL.where(_OF_BOT),
    (True, True): _ALL.where(_OF_BOT, _OLDER),
}
"""By whether a bot is named and whether there is a conversation to start before."""

_PUT = insert(conversations)
_SAVE = (
    update(conversations)
    .where(owned(conversations), _C.conversation_id == bindparam("id"))
    .values(version=_C.version + 1)
)


class SqlConversations(Repository):
    """`ports.conversations.Conversations`."""

    __slots__ = ()

    def get(self, conversation_id: ConversationId) -> Conversation:
        return self._one(self._row(_GET, id=conversation_id), conversation_id)

    def lock(self, conversation_id: ConversationId) -> Conversation:
        return self._one(self._row(_LOCK, id=conversation_id), conversation_id)

    def put(self, conversation: Conversation) -> None:
        row = {
            "conversation_id": conversation.conversation_id,
            "version": conversation.version,
            **self._values(conversation),
        }
        self._insert(_PUT, [row])

    def save(self, conversation: Conversation) -> None:
        values = self._values(conversation)
        if self._run(_SAVE, id=conversation.conversation_id, **values).rowcount == 0:
            raise NotFound("conversation", conversation.conversation_id)

    def by_client_ref(self, client: str, client_ref: str, bot_id: BotId | None) -> Conversation | None:
        row = self._row(_BY_REF, key=client, hash=self._ref_hash(client_ref, bot_id))
        return None if row is None else _conversation(row)

    def lock_by_client_ref(self, client: str, client_ref: str, bot_id: BotId | None) -> Conversation | None:
        row = self._row(_LOCK_BY_REF, key=client, hash=self._ref_hash(client_ref, bot_id))
        return None if row is None else _conversation(row)

    def by_history(self, client: str, history_hash: str) -> list[Conversation]:
        return [_conversation(row) for row in self._rows(_BY_HISTORY, key=client, hash=history_hash)]

    def page(self, *, bot_id: BotId | None, before: ConversationId | None, limit: int) -> list[Conversation]:
        named = {"bot": bot_id, "before": before}
        bounds = {name: value for name, value in named.items() if value is not None}
        statement = _PAGES[bot_id is not None, before is not None]
        return [_conversation(row) for row in self._rows(statement, limit=limit, **bounds)]

    def _one(self, row: Row[Any] | None, conversation_id: ConversationId) -> Conversation:
        if row is None:
            raise NotFound("conversation", conversation_id)
        return _conversation(row)

    def _ref_hash(self, client_ref: str, bot_id: BotId | None) -> bytes | None:
        return self._hash(f"{bot_id or ''} {client_ref}", "client ref") if client_ref else None

    def _values(self, conversation: Conversation) -> dict[str, object]:
        values = {name: getattr(conversation, name) for name in _SAME}
        flags = {name: getattr(conversation.flags, name) for name in _FLAGS}
        return {
            **values,
            **flags,
            "members": json.dumps(conversation.members),
            "client_ref_hash": self._ref_hash(conversation.client_ref, conversation.bot_id),
        }


_FLAGS = ("challenge", "gateway", "anonymous", "temporary")
_SAME = (
    "bot_id",
    "bot_owner",
    "persona_id",
    "model",
    "channel",
    "organisation_id",
    "parent_id",
    "fork_position",
    "title",
    "time_zone",
    "window_start",
    "last_position",
    "messages",
    "waiting",
    "summarised_to",
    "deepened_to",
    "client",
    "client_ref",
    "history_hash",
    "created_at",
    "updated_at",
)
"""Fields that stand in a column of their own name as they are."""


def _conversation(row: Row[Any]) -> Conversation:
    fields = row._mapping
    return Conversation(
        conversation_id=ConversationId(row.conversation_id),
        version=row.version,
        members=tuple(BotId(member) for member in json.loads(row.members)),
        flags=Flags(**{name: fields[name] for name in _FLAGS}),
        **{**{name: fields[name] for name in _SAME}, "channel": Channel(row.channel)},
    )
