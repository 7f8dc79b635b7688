"""Find the conversation that a request belongs to, and the turn that it opened before, if it did (I3, T6).

A client without conversations of its own sends its history again each time. It is recognised by equality, never by a
guess: where two conversations could be meant, a new one begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from souvenance.app.adopt_history import Adopted, adopt
from souvenance.app.conversations import NewConversation, make_conversation, put_conversation
from souvenance.app.turn import FromClient, InConversation, TurnRequest
from souvenance.domain.conversation import Conversation, Role, Turn, TurnState
from souvenance.domain.history import beginning, history_hash
from souvenance.domain.ids import ConversationId, known_shape
from souvenance.errors import NotFound, RequestKeyUsed
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as it is looked for. `said` is its history without what is no conversation; `adopted` the same worked
    out for storing, None as long as it is hoped to be known.
    """

    request: TurnRequest
    said: Sequence[tuple[Role, str]]
    adopted: tuple[Adopted, ...] | None
    conversation_id: ConversationId
    now: datetime


class HistoryIsNew(Exception):
    """The client's history belongs to no conversation of ours: it must be worked out, then stored as a new one."""


def recognise(unit: Unit, asked: Asked) -> tuple[Conversation, Turn | None]:
    """The conversation, held, and the turn that this very request opened before. NotFound, RequestKeyUsed."""
    address = asked.request.address
    if isinstance(address, FromClient):
        # Two equal requests may come at once: the second must see what the first opened.
        unit.owners.hold()
        conversation, again = _of_client(unit, address, asked)
    elif isinstance(address, InConversation):
        conversation, again = unit.conversations.lock(address.conversation_id), None
    else:
        conversation, again = _made_once(unit, asked, address.conversation), None
    return conversation, again or _by_request_key(unit, asked, conversation)


def bytes_hash(unit: Unit, request: TurnRequest) -> str:
    """The keyed hash of the request's very bytes, "" where they are not known."""
    return unit.keyed_hash(request.request_hash).hex() if request.request_hash else ""


def _of_client(unit: Unit, address: FromClient, asked: Asked) -> tuple[Conversation, Turn | None]:
    if not address.ref:
        return _by_history(unit, address, asked) or (_put(unit, address, asked), None)
    bot_id = address.conversation.bot_id
    named = unit.conversations.lock_by_client_ref(address.client, address.ref, bot_id) or _echoed(unit, address)
    return (_put(unit, address, asked), None) if named is None else (named, _unanswered(unit, named, address, asked))


def _hashes(unit: Unit, address: FromClient, asked: Asked) -> tuple[str, str]:
    """The hash of the history that the client sent, without and with this message."""
    before = history_hash(asked.said, unit.keyed_hash, after=beginning(address.conversation.bot_id))
    return before, history_hash([(Role.USER, asked.request.text)], unit.keyed_hash, after=before)


def _echoed(unit: Unit, address: FromClient) -> Conversation | None:
    """The conversation of this key and bot whose own id the client gives, as our responses name it; held."""
    if not address.ref.startswith("cnv_"):
        return None
    with suppress(NotFound):
        found = unit.conversations.lock(ConversationId(known_shape("conversation", address.ref)))
        return found if (found.client, found.bot_id) == (address.client, address.conversation.bot_id) else None
    return None


def _by_history(unit: Unit, address: FromClient, asked: Asked) -> tuple[Conversation, Turn | None] | None:
    """The one conversation that ends where this message begins, or with this very message unanswered."""
    before, opened = _hashes(unit, address, asked)
    again = [turn for turn in _opened_before(unit, address, asked, opened) if _is_asked(unit, turn)]
    same = unit.conversations.by_history(address.client, before) if asked.said else []
    if len(again) + len(same) != 1:
        return None
    if again:
        conversation = unit.conversations.lock(again[0].conversation_id)
        # Read again now that it is held: another process may have taken the turn in between.
        return conversation, unit.turns.get(again[0].turn_id)
    conversation = unit.conversations.lock(same[0].conversation_id)
    return (conversation, None) if conversation.history_hash == before else None


def _opened_before(unit: Unit, address: FromClient, asked: Asked, opened: str) -> list[Turn]:
    """Turns of this key that this message may have opened, whose reply it never got.

    A first message must be the same bytes, since many chats begin alike; but a client that brings the results of its
    own tools goes on with the turn that asked for them.
    """
    if asked.said or _brings_results(asked.request):
        return unit.turns.unacknowledged(address.client, opened_hash=opened)
    return unit.turns.unacknowledged(address.client, request_hash=bytes_hash(unit, asked.request))


def _unanswered(unit: Unit, conversation: Conversation, address: FromClient, asked: Asked) -> Turn | None:
    """The conversation's last turn, if this request opened it and its reply never arrived."""
    last = unit.turns.last(conversation.conversation_id)
    if last is None or last.acknowledged:
        return None
    same_bytes = bool(last.request_hash) and last.request_hash == bytes_hash(unit, asked.request)
    waits = last.state is TurnState.OPEN and _brings_results(asked.request)
    same = same_bytes or waits or (bool(asked.said) and last.opened_hash == _hashes(unit, address, asked)[1])
    return last if same and _asks(unit, last, asked.request.text) else None


def _brings_results(request: TurnRequest) -> bool:
    return any(message.get("role") in {"tool", "function"} for message in request.tail)


def _is_asked(unit: Unit, turn: Turn) -> bool:
    """Whether the message that opened it is there: a person may have deleted it, and left the reply (T7)."""
    return unit.messages.of_turn(turn.turn_id)[0].role is Role.USER


def _asks(unit: Unit, turn: Turn, text: str) -> bool:
    first = unit.messages.of_turn(turn.turn_id)[0]
    return first.role is Role.USER and first.text == text


def _by_request_key(unit: Unit, asked: Asked, conversation: Conversation) -> Turn | None:
    """The turn that this idempotency key opened; the key stands for one message only."""
    key = asked.request.request_key
    turn = unit.turns.by_request(conversation.conversation_id, key) if key else None
    if turn is not None and not _asks(unit, turn, asked.request.text):
        raise RequestKeyUsed(key)
    return turn


def _put(unit: Unit, address: FromClient, asked: Asked) -> Conversation:
    if asked.said and asked.adopted is None:
        raise HistoryIsNew
    return _made_once(unit, asked, address.conversation, client=address.client, ref=address.ref)


def _made_once(unit: Unit, asked: Asked, new: NewConversation, *, client: str = "", ref: str = "") -> Conversation:
    """A new conversation; with an idempotency key its id follows from the key, so that a repeated request finds it."""
    key, conversation_id = asked.request.request_key, asked.conversation_id
    if key:
        conversation_id = ConversationId(f"cnv_{unit.keyed_hash(f'new chat {client} {key}').hex()[:32]}")
        with suppress(NotFound):
            there = unit.conversations.lock(conversation_id)
            if there.members != new.members:
                raise RequestKeyUsed(key)
            return there
    made = make_conversation(new, conversation_id, asked.now, client=client, ref=ref)
    return adopt(unit, put_conversation(unit, made), asked.adopted or (), asked.now)
