"""Turns: one user message and what answered it, in the order of their positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, and_, bindparam, exists, insert, select, update

from souvenance.domain.conversation import Turn, TurnState
from souvenance.domain.ids import ConversationId, TurnId
from souvenance.errors import NotFound
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import turns

_C = turns.c
_GET = select(turns).where(owned(turns), _C.turn_id == bindparam("id"))
_OF_CONVERSATION = select(turns).where(owned(turns), _C.conversation_id == bindparam("conversation"))
_LAST = _OF_CONVERSATION.order_by(_C.position.desc()).limit(1)
_AFTER = _OF_CONVERSATION.where(_C.position > bindparam("after")).order_by(_C.position)
_BEFORE = _LAST.where(_C.position < bindparam("at"))
_BY_REQUEST = _OF_CONVERSATION.where(_C.request_key_hash == bindparam("hash"))
_later = turns.alias("later")
_FOLLOWED = exists().where(
    and_(owned(_later), _later.c.conversation_id == _C.conversation_id, _later.c.position > _C.position)
)
_UNACKNOWLEDGED = (
    select(turns)
    .where(owned(turns), _C.client == bindparam("key"), ~_C.acknowledged, ~_FOLLOWED)
    .order_by(_C.turn_id.desc())
    .limit(2)
)
_BY_REQUEST_HASH = _UNACKNOWLEDGED.where(_C.request_hash == bindparam("hash"))
_BY_OPENED_HASH = _UNACKNOWLEDGED.where(_C.opened_hash == bindparam("hash"))
_PUT = insert(turns)
_SAVE = update(turns).where(owned(turns), _C.turn_id == bindparam("id"))
_ACKNOWLEDGE = _SAVE.where(_C.state == TurnState.WHOLE).values(acknowledged=True)


class SqlTurns(Repository):
    """`ports.conversations.Turns`."""

    __slots__ = ()

    def get(self, turn_id: TurnId) -> Turn:
        row = self._row(_GET, id=turn_id)
        if row is None:
            raise NotFound("turn", turn_id)
        return _turn(row)

    def put(self, turn: Turn) -> None:
        self.put_all([turn])

    def put_all(self, turns: Sequence[Turn]) -> None:
        self._insert(_PUT, [{"turn_id": turn.turn_id, **self._values(turn)} for turn in turns])

    def save(self, turn: Turn) -> None:
        if self._run(_SAVE, id=turn.turn_id, **self._values(turn)).rowcount == 0:
            raise NotFound("turn", turn.turn_id)

    def acknowledge(self, turn_id: TurnId) -> None:
        self._run(_ACKNOWLEDGE, id=turn_id)

    def last(self, conversation_id: ConversationId) -> Turn | None:
        row = self._row(_LAST, conversation=conversation_id)
        return None if row is None else _turn(row)

    def after(self, conversation_id: ConversationId, position: int) -> list[Turn]:
        return [_turn(row) for row in self._rows(_AFTER, conversation=conversation_id, after=position)]

    def before(self, conversation_id: ConversationId, position: int) -> Turn | None:
        row = self._row(_BEFORE, conversation=conversation_id, at=position)
        return None if row is None else _turn(row)

    def by_request(self, conversation_id: ConversationId, request_key: str) -> Turn | None:
        row = self._row(_BY_REQUEST, conversation=conversation_id, hash=self._key_hash(request_key))
        return None if row is None else _turn(row)

    def unacknowledged(self, client: str, *, request_hash: str = "", opened_hash: str = "") -> list[Turn]:
        statement, value = (_BY_REQUEST_HASH, request_hash) if request_hash else (_BY_OPENED_HASH, opened_hash)
        return [_turn(row) for row in self._rows(statement, key=client, hash=value)]

    def _key_hash(self, request_key: str) -> bytes | None:
        return self._hash(request_key, "request key") if request_key else None

    def _values(self, turn: Turn) -> dict[str, object]:
        return {
            "conversation_id": turn.conversation_id,
            "position": turn.position,
            "state": turn.state,
            "attempt": turn.attempt,
            "request_key": turn.request_key,
            "request_key_hash": self._key_hash(turn.request_key),
            "request_hash": turn.request_hash,
            "opened_hash": turn.opened_hash,
            "client": turn.client,
            "acknowledged": turn.acknowledged,
            "created_at": turn.created_at,
        }


def _turn(row: Row[Any]) -> Turn:
    return Turn(
        turn_id=TurnId(row.turn_id),
        conversation_id=ConversationId(row.conversation_id),
        position=row.position,
        state=TurnState(row.state),
        attempt=row.attempt,
        request_key=row.request_key,
        request_hash=row.request_hash,
        opened_hash=row.opened_hash,
        client=row.client,
        acknowledged=row.acknowledged,
        created_at=row.created_at,
    )
