"""The first write of a turn: find or open the conversation, store the user's message, take the turn (T6, I3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from souvenance.app.adopt_history import Adopted, adopt, prepare_history, visible
from souvenance.app.choose_model import Shelf, choose
from souvenance.app.conversations import NewConversation, known_zone, make_conversation, put_conversation
from souvenance.app.kit import Kit
from souvenance.app.turn import FromClient, InConversation, TurnRequest
from souvenance.domain.bot import Bot, Persona
from souvenance.domain.conversation import Conversation, Message, MessageState, Role, Turn, TurnState
from souvenance.domain.history import history_hash
from souvenance.domain.ids import ConversationId, MessageId, OwnerId, TurnId
from souvenance.domain.terms import terms
from souvenance.domain.text import clean
from souvenance.errors import NotFound
from souvenance.ports.chat_model import ModelInfo
from souvenance.ports.memories import Kind
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedTurn:
    """A turn that this attempt may answer. `stored` are its replies when it is answered already; `goes_on` says that
    the client brings the results of its own tools, so that what was said before them stays.
    """

    conversation: Conversation
    bot: Bot | None
    persona: Persona | None
    model: ModelInfo | None
    turn: Turn
    message: Message
    stored: tuple[Message, ...] = ()
    goes_on: bool = False


Check = Callable[[Unit, OpenedTurn], None]
"""Raises PromptTooLarge for a turn that cannot be sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arrival:
    """All that the write needs and that is worked out before it. `check` refuses what the model cannot take (W5)."""

    request: TurnRequest
    shelf: Shelf
    check: Check
    now: datetime
    conversation_id: ConversationId
    turn_id: TurnId
    message_id: MessageId
    tokens: int
    terms: Sequence[str] = field(repr=False)
    adopted: tuple[Adopted, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """The turn that this attempt took, with its replies when it is answered already."""

    conversation: Conversation
    turn: Turn
    message: Message
    stored: tuple[Message, ...] = ()


class _HistoryIsNew(Exception):
    """The client's history belongs to no conversation of ours: it must be worked out, then stored as a new one."""


async def open_turn(kit: Kit, owner_id: OwnerId, request: TurnRequest, shelf: Shelf, check: Check) -> OpenedTurn:
    """Store the user's message, or find the turn that it opened before; after this it is acknowledged (T6).

    Raises NotFound, UnknownModel, InputError and what `check` raises; then nothing is stored.
    """
    arrival = _arrive(kit, request, shelf, check)
    try:
        return await kit.store.write(owner_id, lambda unit: _open(unit, arrival), label="turn.opened")
    except _HistoryIsNew:
        history = request.address.history if isinstance(request.address, FromClient) else ()
        arrival = replace(arrival, adopted=prepare_history(kit, history))
        return await kit.store.write(owner_id, lambda unit: _open(unit, arrival), label="turn.opened")


def _arrive(kit: Kit, request: TurnRequest, shelf: Shelf, check: Check) -> _Arrival:
    text = clean("text", request.text, limit=kit.limits.message_characters)
    if request.time_zone:
        known_zone(request.time_zone)
    return _Arrival(
        request=request,
        shelf=shelf,
        check=check,
        now=kit.clock.now(),
        conversation_id=ConversationId(kit.ids.new("cnv")),
        turn_id=TurnId(kit.ids.new("trn")),
        message_id=MessageId(kit.ids.new("msg")),
        tokens=kit.tokenizer.count(text),
        terms=terms(text),
    )


def _open(unit: Unit, arrival: _Arrival) -> OpenedTurn:
    conversation, again = _find(unit, arrival)
    bot = None if conversation.bot_id is None else unit.bots.get(conversation.bot_id)
    model = choose(arrival.shelf, asked=arrival.request.model, conversation=conversation, bot=bot)
    goes_on = bool(arrival.request.tail)
    found = (
        _append(unit, conversation, arrival) if again is None else _resume(unit, conversation, again, goes_on=goes_on)
    )
    opened = OpenedTurn(
        conversation=found.conversation,
        bot=bot,
        persona=_persona(unit, conversation),
        model=model,
        turn=found.turn,
        message=found.message,
        stored=found.stored,
        goes_on=goes_on,
    )
    if not opened.stored:
        arrival.check(unit, opened)
    return opened


def _persona(unit: Unit, conversation: Conversation) -> Persona | None:
    """The mask that is worn here; one that was deleted is worn no more."""
    if conversation.persona_id is None:
        return None
    with suppress(NotFound):
        return unit.personas.get(conversation.persona_id)
    return None


def _find(unit: Unit, arrival: _Arrival) -> tuple[Conversation, Turn | None]:
    """The conversation, held, and the turn that this very request opened before, if any."""
    address = arrival.request.address
    if isinstance(address, FromClient):
        return _find_for_client(unit, address, arrival)
    if isinstance(address, InConversation):
        conversation = unit.conversations.lock(address.conversation_id)
    else:
        conversation = _new_chat(unit, address.conversation, arrival)
    key = arrival.request.request_key
    return conversation, unit.turns.by_request(conversation.conversation_id, key) if key else None


def _new_chat(unit: Unit, new: NewConversation, arrival: _Arrival) -> Conversation:
    """A new conversation; with an idempotency key its id follows from the key, so that a repeated request finds it."""
    key, conversation_id = arrival.request.request_key, arrival.conversation_id
    if key:
        conversation_id = ConversationId(f"cnv_{unit.keyed_hash('new chat ' + key).hex()[:32]}")
        with suppress(NotFound):
            return unit.conversations.lock(conversation_id)
    return put_conversation(unit, make_conversation(new, conversation_id, arrival.now))


def _find_for_client(unit: Unit, address: FromClient, arrival: _Arrival) -> tuple[Conversation, Turn | None]:
    if address.ref:
        named = unit.conversations.by_client_ref(address.client, address.ref)
        if named is not None:
            conversation = unit.conversations.lock(named.conversation_id)
            return conversation, _unanswered(unit, conversation, arrival)
        return _put_for_client(unit, address, arrival), None
    before = history_hash(visible(address.history), unit.keyed_hash)
    opened = history_hash([(Role.USER, arrival.request.text)], unit.keyed_hash, after=before)
    again = _opened_before(unit, address, arrival, opened)
    if again is not None:
        # Read again once it is held: another process may have taken the turn in between.
        return unit.conversations.lock(again.conversation_id), unit.turns.get(again.turn_id)
    same = unit.conversations.by_history(address.client, before) if before else []
    if len(same) == 1:
        conversation = unit.conversations.lock(same[0].conversation_id)
        if conversation.history_hash == before:
            return conversation, None
    return _put_for_client(unit, address, arrival), None


def _opened_before(unit: Unit, address: FromClient, arrival: _Arrival, opened: str) -> Turn | None:
    """The turn whose reply this client never got, if there is exactly one it can be (I3).

    A first turn must be the same bytes, since many chats begin alike; but a client that brings the results of its own
    tools goes on with the turn that asked for them.
    """
    goes_on = bool(address.history or arrival.request.tail)
    if goes_on:
        turns = unit.turns.unacknowledged(address.client, opened_hash=opened)
    else:
        turns = unit.turns.unacknowledged(address.client, request_hash=_bytes_hash(unit, arrival))
    return turns[0] if len(turns) == 1 else None


def _unanswered(unit: Unit, conversation: Conversation, arrival: _Arrival) -> Turn | None:
    """The conversation's last turn, if it is this very message and its reply never arrived."""
    last = unit.turns.last(conversation.conversation_id)
    if last is None or last.acknowledged:
        return None
    first = unit.messages.of_turn(last.turn_id)[0]
    return last if first.role is Role.USER and first.text == arrival.request.text else None


def _put_for_client(unit: Unit, address: FromClient, arrival: _Arrival) -> Conversation:
    if visible(address.history) and arrival.adopted is None:
        raise _HistoryIsNew
    made = make_conversation(
        address.conversation, arrival.conversation_id, arrival.now, client=address.client, ref=address.ref
    )
    put_conversation(unit, made)
    return adopt(unit, made, arrival.adopted or (), arrival.now)


def _resume(unit: Unit, conversation: Conversation, turn: Turn, *, goes_on: bool) -> _Taken:
    """The turn again: with its reply when it has a whole one, else for a new attempt, which fences older ones off."""
    said = unit.messages.of_turn(turn.turn_id)
    replies = tuple(m for m in said if m.role is Role.BOT and m.chosen)
    if turn.state is TurnState.OPEN or any(m.state is MessageState.CUT_OFF for m in replies):
        replies = ()
        turn = replace(turn, attempt=turn.attempt + 1)
        unit.turns.save(turn)
    return _Taken(conversation=conversation, turn=turn, message=said[0], stored=replies[-1:] if goes_on else replies)


def _append(unit: Unit, conversation: Conversation, arrival: _Arrival) -> _Taken:
    request, position = arrival.request, conversation.last_position + 1
    opened = history_hash([(Role.USER, request.text)], unit.keyed_hash, after=conversation.history_hash)
    turn = Turn(
        turn_id=arrival.turn_id,
        conversation_id=conversation.conversation_id,
        position=position,
        state=TurnState.OPEN,
        request_key=request.request_key,
        request_hash=_bytes_hash(unit, arrival),
        opened_hash=opened,
        client=conversation.client,
        created_at=arrival.now,
    )
    message = Message(
        message_id=arrival.message_id,
        conversation_id=conversation.conversation_id,
        turn_id=arrival.turn_id,
        position=position,
        part=0,
        role=Role.USER,
        origin_id=arrival.message_id,
        text=request.text,
        tokens=arrival.tokens,
        time_zone=request.time_zone or conversation.time_zone,
        created_at=arrival.now,
    )
    unit.turns.put(turn)
    unit.messages.put(message)
    unit.index.put(Kind.MESSAGE, message.message_id, arrival.terms)
    grown = replace(
        conversation,
        last_position=position,
        messages=conversation.messages + 1,
        history_hash=opened,
        updated_at=arrival.now,
        version=conversation.version + 1,
    )
    unit.conversations.save(grown)
    return _Taken(conversation=grown, turn=turn, message=message)


def _bytes_hash(unit: Unit, arrival: _Arrival) -> str:
    given = arrival.request.request_hash
    return unit.keyed_hash(given).hex() if given else ""
