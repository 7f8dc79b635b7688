"""Messages, kept in the order in which a conversation is read: position, part, variant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from sqlalchemy import Integer, Row, bindparam, insert, select, tuple_, update

from souvenance.domain.conversation import Message, MessageSize, MessageState, Role, WindowMessage
from souvenance.domain.ids import BotId, ConversationId, MessageId, TurnId
from souvenance.errors import NotFound
from souvenance.storage.repository import LIMIT, Repository, owned
from souvenance.storage.schema import messages

_AT_ONCE = 500

_C = messages.c
_COLUMNS = (
    _C.message_id,
    _C.conversation_id,
    _C.turn_id,
    _C.position,
    _C.part,
    _C.variant,
    _C.chosen,
    _C.role,
    _C.bot_id,
    _C.origin_id,
    _C.state,
    _C.text,
    _C.tokens,
    _C.noted,
    _C.model,
    _C.time_zone,
    _C.created_at,
)
"""In the order in which `_message` takes them."""

_AT_POSITION, _AT_PART = bindparam("at_position", type_=Integer), bindparam("at_part", type_=Integer)
_ALL = select(*_COLUMNS).where(owned(messages))
_GET = _ALL.where(_C.message_id == bindparam("id"))
_MANY = _ALL.where(_C.message_id.in_(bindparam("ids", expanding=True)))
_PRESENT = select(_C.message_id).where(owned(messages), _C.message_id.in_(bindparam("ids", expanding=True)))
_OF_TURN = _ALL.where(_C.turn_id == bindparam("turn")).order_by(_C.part, _C.variant)
_CHOSEN = _ALL.where(_C.conversation_id == bindparam("conversation"), _C.chosen)
FROM_POSITION = _CHOSEN.where(_C.position >= bindparam("start")).order_by(_C.position, _C.part)
OLDEST = FROM_POSITION.limit(LIMIT)
SPAN = FROM_POSITION.where(_C.position <= bindparam("end"))
WINDOW = FROM_POSITION.with_only_columns(_C.message_id, _C.position, _C.role, _C.bot_id, _C.text, _C.tokens)
SIZES = SPAN.with_only_columns(_C.position, _C.tokens)
NEWEST = _CHOSEN.order_by(_C.position.desc(), _C.part.desc()).limit(LIMIT)
OLDER = NEWEST.where(tuple_(_C.position, _C.part) < tuple_(_AT_POSITION, _AT_PART))
_PUT = insert(messages)
_SAVE = update(messages).where(owned(messages), _C.message_id == bindparam("id"))


class SqlMessages(Repository):
    """`ports.conversations.Messages`."""

    __slots__ = ()

    def get(self, message_id: MessageId) -> Message:
        row = self._row(_GET, id=message_id)
        if row is None:
            raise NotFound("message", message_id)
        return _message(row)

    def put(self, message: Message) -> None:
        self.put_all([message])

    def put_all(self, messages: Sequence[Message]) -> None:
        self._insert(_PUT, [_values(message) for message in messages])

    def save(self, message: Message) -> None:
        if self._run(_SAVE, id=message.message_id, **_values(message)).rowcount == 0:
            raise NotFound("message", message.message_id)

    def from_position(self, conversation_id: ConversationId, position: int) -> list[Message]:
        return [_message(row) for row in self._rows(FROM_POSITION, conversation=conversation_id, start=position)]

    def oldest(self, conversation_id: ConversationId, position: int, *, limit: int) -> list[Message]:
        rows = self._rows(OLDEST, conversation=conversation_id, start=position, limit=limit)
        return [_message(row) for row in rows]

    def span(self, conversation_id: ConversationId, first: int, last: int) -> list[Message]:
        return [_message(row) for row in self._rows(SPAN, conversation=conversation_id, start=first, end=last)]

    def sizes(self, conversation_id: ConversationId, last: int) -> list[MessageSize]:
        rows = self._rows(SIZES, conversation=conversation_id, start=0, end=last)
        return [MessageSize(row.position, row.tokens) for row in rows]

    def window(self, conversation_id: ConversationId, start: int) -> list[WindowMessage]:
        return [_in_window(tuple(row)) for row in self._rows(WINDOW, conversation=conversation_id, start=start)]

    def of_turn(self, turn_id: TurnId) -> list[Message]:
        return [_message(row) for row in self._rows(_OF_TURN, turn=turn_id)]

    def page(self, conversation_id: ConversationId, *, before: tuple[int, int] | None, limit: int) -> list[Message]:
        if before is None:
            rows = self._rows(NEWEST, conversation=conversation_id, limit=limit)
        else:
            position, part = before
            rows = self._rows(OLDER, conversation=conversation_id, at_position=position, at_part=part, limit=limit)
        return [_message(row) for row in rows]

    def many(self, message_ids: Sequence[MessageId]) -> list[Message]:
        found = [_message(row) for ids in _runs(message_ids) for row in self._rows(_MANY, ids=ids)]
        by_id = {message.message_id: message for message in found}
        return [by_id[message_id] for message_id in message_ids if message_id in by_id]

    def missing(self, message_ids: Iterable[MessageId]) -> set[MessageId]:
        asked = set(message_ids)
        present = {row.message_id for ids in _runs(asked) for row in self._rows(_PRESENT, ids=ids)}
        return asked - present


def _runs(message_ids: Iterable[MessageId]) -> Iterator[list[MessageId]]:
    """Split, since a statement takes only so many parameters."""
    rest = iter(message_ids)
    while run := list(islice(rest, _AT_ONCE)):
        yield run


def _values(message: Message) -> dict[str, object]:
    return {column.key: getattr(message, column.key) for column in _COLUMNS}


_ROLES = {role.value: role for role in Role}
_STATES = {state.value: state for state in MessageState}


@lru_cache(maxsize=1_024)
def _in_window(row: tuple[Any, ...]) -> WindowMessage:
    # Kept: a window holds nearly all the messages that it held a turn ago.
    message_id, position, role, bot_id, text, tokens = row
    return WindowMessage(
        message_id=message_id, position=position, role=_ROLES[role], bot_id=bot_id, text=text, tokens=tokens
    )


def _message(row: Row[Any]) -> Message:
    values: Sequence[Any] = row
    message_id, conversation_id, turn_id, position, part, variant, chosen, role, bot_id, origin_id = values[:10]
    state, text, tokens, noted, model, time_zone, created_at = values[10:]
    return Message(
        message_id=MessageId(message_id),
        conversation_id=ConversationId(conversation_id),
        turn_id=TurnId(turn_id),
        position=position,
        part=part,
        variant=variant,
        chosen=chosen,
        role=_ROLES[role],
        bot_id=None if bot_id is None else BotId(bot_id),
        origin_id=MessageId(origin_id),
        state=_STATES[state],
        text=text,
        tokens=tokens,
        noted=noted,
        model=model,
        time_zone=time_zone,
        created_at=created_at,
    )
