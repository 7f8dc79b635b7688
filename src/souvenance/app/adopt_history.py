"""Take over the history that a client brings to a new conversation (I3): stored once, as turns nobody waits for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from souvenance.app.kit import Kit
from souvenance.domain.commands import parse_command
from souvenance.domain.conversation import Conversation, Message, Role, Turn, TurnState
from souvenance.domain.history import history_hash
from souvenance.domain.ids import MessageId, TurnId
from souvenance.domain.terms import terms
from souvenance.ports.memories import Kind
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """One message of the history, worked out before the store is held; `turn_id` is its turn's."""

    role: Role
    text: str
    position: int
    part: int
    opens: bool
    turn_id: TurnId
    message_id: MessageId
    tokens: int
    terms: Sequence[str] = field(repr=False)


def visible(history: Sequence[tuple[Role, str]]) -> list[tuple[Role, str]]:
    """What of a client's history is conversation: messages with text, without commands and their answers (V3)."""
    kept: list[tuple[Role, str]] = []
    answers_command, user = False, Role.USER
    for role, text in history:
        if role is user:
            answers_command = parse_command(text, notebook=True) is not None
        if text.strip() and not answers_command:
            kept.append((role, text))
    return kept


def prepare_history(kit: Kit, said: Sequence[tuple[Role, str]]) -> tuple[Adopted, ...]:
    """What `visible` left of a history, in turns: a user message opens one, what follows until the next answers it."""
    adopted: list[Adopted] = []
    position, part, turn_id = -1, 0, TurnId("")
    for role, text in said:
        opens = role is Role.USER or position < 0
        if opens:
            position, part, turn_id = position + 1, 0 if role is Role.USER else 1, TurnId(kit.ids.new("trn"))
        else:
            part += 1
        adopted.append(
            Adopted(
                role=role,
                text=text,
                position=position,
                part=part,
                opens=opens,
                turn_id=turn_id,
                message_id=MessageId(kit.ids.new("msg")),
                tokens=kit.tokenizer.count(text),
                terms=terms(text),
            )
        )
    return tuple(adopted)


def adopt(unit: Unit, conversation: Conversation, history: Sequence[Adopted], now: datetime) -> Conversation:
    """Store the prepared history in a new, empty conversation; returns the conversation as it is then."""
    if not history:
        return conversation
    turns: list[Turn] = []
    hashed = conversation.history_hash
    for said in history:
        hashed = history_hash([(said.role, said.text)], unit.keyed_hash, after=hashed)
        if said.opens:
            turns.append(_turn(conversation, said, hashed, now))
    unit.turns.put_all(turns)
    unit.messages.put_all([_message(conversation, said, now) for said in history])
    unit.index.put_new(Kind.MESSAGE, {said.message_id: said.terms for said in history})
    grown = replace(
        conversation,
        last_position=history[-1].position,
        # It was said elsewhere: nobody asked that it be read for deeper memory (V8).
        deepened_to=history[-1].position,
        messages=len(history),
        history_hash=hashed,
        version=conversation.version + 1,
    )
    unit.conversations.save(grown)
    return grown


def _turn(conversation: Conversation, said: Adopted, opened_hash: str, now: datetime) -> Turn:
    return Turn(
        turn_id=said.turn_id,
        conversation_id=conversation.conversation_id,
        position=said.position,
        state=TurnState.WHOLE,
        opened_hash=opened_hash,
        client=conversation.client,
        acknowledged=True,
        created_at=now,
    )


def _message(conversation: Conversation, said: Adopted, now: datetime) -> Message:
    return Message(
        message_id=said.message_id,
        conversation_id=conversation.conversation_id,
        turn_id=said.turn_id,
        position=said.position,
        part=said.part,
        role=said.role,
        bot_id=conversation.bot_id if said.role is Role.BOT else None,
        origin_id=said.message_id,
        text=said.text,
        tokens=said.tokens,
        time_zone=conversation.time_zone,
        created_at=now,
    )
