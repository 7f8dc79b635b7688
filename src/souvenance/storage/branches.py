"""A conversation's turns and messages, cut, counted and taken away without reading their words (T2, T4, T7, D1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Delete, Integer, Row, Table, bindparam, delete, func, select, update

from souvenance.domain.ids import ConversationId, MessageId, TurnId
from souvenance.domain.memory import Scope
from souvenance.ports.branches import Held
from souvenance.storage.batches import batches
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import (
    conversations,
    due,
    epochs,
    messages,
    nodes,
    rebuilds,
    scopes,
    short_ids,
    summary_rules,
    tombstones,
    turns,
)

_M = messages.c
_AFTER = bindparam("after", type_=Integer)
_ORIGINS = _M.origin_id.in_(bindparam("origins", expanding=True))
_HELD = (
    select(_M.message_id, _M.origin_id, _M.position, _M.part, _M.chosen)
    .where(owned(messages), _M.conversation_id == bindparam("conversation"))
    .order_by(_M.position, _M.part, _M.variant)
)
_LATER = _HELD.where(_M.position > _AFTER)
_SAID_BETWEEN = (
    select(func.count())
    .select_from(messages)
    .where(
        owned(messages),
        _M.conversation_id == bindparam("conversation"),
        _M.position > _AFTER,
        _M.position < bindparam("before", type_=Integer),
        _M.chosen,
    )
)
_COPIES = _HELD.where(_ORIGINS, _M.chosen)
_STILL_HELD = select(_M.origin_id).where(owned(messages), _ORIGINS).distinct()
_REMOVE_MESSAGES = delete(messages).where(owned(messages), _M.message_id.in_(bindparam("ids", expanding=True)))
_REMOVE_TURN = delete(turns).where(owned(turns), turns.c.turn_id == bindparam("turn"))
# A basis that no prompt can have; the number goes on, so that no two epochs of a conversation share one.
_END_EPOCHS = (
    update(epochs).where(owned(epochs), epochs.c.conversation_id == bindparam("conversation")).values(basis="{}")
)


def _of_conversation(table: Table) -> Delete:
    return delete(table).where(owned(table), table.c.conversation_id == bindparam("conversation"))


_CUT = tuple(_of_conversation(table).where(table.c.position > _AFTER) for table in (messages, turns))
_REMOVE = tuple(
    _of_conversation(table)
    for table in (messages, turns, epochs, short_ids, nodes, summary_rules, rebuilds, due, conversations)
)
_REMOVE_SCOPE = tuple(
    delete(table).where(owned(table), table.c.scope == bindparam("in")) for table in (tombstones, scopes)
)


class SqlBranches(Repository):
    """`ports.branches.Branches`."""

    __slots__ = ()

    def held(self, conversation_id: ConversationId, *, after: int = -1) -> list[Held]:
        return [_held(row) for row in self._rows(_LATER, conversation=conversation_id, after=after)]

    def said_between(self, conversation_id: ConversationId, after: int, before: int) -> int:
        counted: int = self._run(_SAID_BETWEEN, conversation=conversation_id, after=after, before=before).scalar_one()
        return counted

    def copies(self, conversation_id: ConversationId, origins: Sequence[MessageId]) -> dict[MessageId, Held]:
        return {
            row.origin_id: _held(row)
            for some in batches(origins)
            for row in self._rows(_COPIES, conversation=conversation_id, origins=some)
        }

    def still_held(self, origins: Sequence[MessageId]) -> set[MessageId]:
        return {row.origin_id for some in batches(origins) for row in self._rows(_STILL_HELD, origins=some)}

    def cut(self, conversation_id: ConversationId, *, after: int) -> None:
        for statement in _CUT:
            self._run(statement, conversation=conversation_id, after=after)

    def remove_messages(self, message_ids: Sequence[MessageId]) -> None:
        for ids in batches(message_ids):
            self._run(_REMOVE_MESSAGES, ids=ids)

    def remove_turn(self, turn_id: TurnId) -> None:
        self._run(_REMOVE_TURN, turn=turn_id)

    def end_epochs(self, conversation_id: ConversationId) -> None:
        self._run(_END_EPOCHS, conversation=conversation_id)

    def remove_conversation(self, conversation_id: ConversationId) -> None:
        scope = Scope.of_conversation(conversation_id)
        for statement in _REMOVE_SCOPE:
            self._run(statement, **{"in": scope.key})
        for statement in _REMOVE:
            self._run(statement, conversation=conversation_id)


def _held(row: Row[Any]) -> Held:
    return Held(
        message_id=MessageId(row.message_id),
        origin_id=MessageId(row.origin_id),
        position=row.position,
        part=row.part,
        chosen=row.chosen,
    )
