"""The first write of a turn: find or open the conversation, store the user's message, take the turn (T6, I3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from souvenance.app.adopt_history import prepare_history, visible
from souvenance.app.choose_model import Shelf, choose
from souvenance.app.conversations import check_new, known_zone
from souvenance.app.kit import Kit
from souvenance.app.members import members_of, speakers_of
from souvenance.app.off_loop import off_loop
from souvenance.app.recognise import Asked, HistoryIsNew, bytes_hash, recognise
from souvenance.app.rewind import cut_after, position_of
from souvenance.app.turn import FromClient, InConversation, TurnRequest
from souvenance.app.undisturbed import refuse_while_answered
from souvenance.domain.bot import Bot, Persona
from souvenance.domain.conversation import Conversation, Message, MessageState, Role, Turn, TurnState
from souvenance.domain.history import history_hash
from souvenance.domain.ids import ConversationId, MessageId, OwnerId, TurnId
from souvenance.domain.limits import Limits
from souvenance.domain.text import clean
from souvenance.errors import BadValue, NotFound
from souvenance.ports.chat_model import ModelInfo
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedTurn:
    """A turn that this attempt may answer. `stored` are its replies when it is answered already; `goes_on` says that
    the client brings the results of its own tools, so that what was said before them stays.

    In a group `bot` speaks now and `after` follow; `heard` are the replies of this turn that stand before.
    `replaces` are replies that a person asks for again (T1): they stay until the new one is whole. `continues` is a
    reply that was cut off and is gone on with (T6).
    """

    conversation: Conversation
    bot: Bot | None
    persona: Persona | None
    model: ModelInfo | None
    turn: Turn
    message: Message
    stored: tuple[Message, ...] = ()
    goes_on: bool = False
    members: tuple[Bot, ...] = ()
    after: tuple[Bot, ...] = ()
    heard: tuple[Message, ...] = ()
    replaces: frozenset[MessageId] = frozenset()
    continues: Message | None = None


Check = Callable[[Unit, OpenedTurn], None]
"""Raises PromptTooLarge for a turn that cannot be sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arrival:
    """All that the write needs and that is worked out before it. `check` refuses what the model cannot take (W5)."""

    asked: Asked
    shelf: Shelf
    check: Check
    turn_id: TurnId
    message_id: MessageId
    tokens: int
    limits: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """The turn that this attempt took, with its replies when it is answered already; `speakers` have yet to answer."""

    conversation: Conversation
    turn: Turn
    message: Message
    speakers: tuple[Bot, ...]
    stored: tuple[Message, ...] = ()
    heard: tuple[Message, ...] = ()


async def open_turn(kit: Kit, owner_id: OwnerId, request: TurnRequest, shelf: Shelf, check: Check) -> OpenedTurn:
    """Store the user's message, or find the turn that it opened before; after this it is acknowledged (T6).

    One that replaces a turn takes that and all after it out in the same write (T7); ConversationBusy while a reply is
    being written there. Raises NotFound, UnknownModel, InputError, RequestKeyUsed and what `check` raises; then nothing
    is stored.
    """
    if request.replaces is not None:
        refuse_while_answered(kit, owner_id, _replaced_in(request))
    history = request.address.history if isinstance(request.address, FromClient) else ()
    size = len(request.text) + sum(len(text) for _, text in history)
    arrival = await off_loop(size, lambda: _arrive(kit, request, shelf, check))
    try:
        return await kit.store.write(owner_id, lambda unit: _open(unit, arrival), label="turn.opened")
    except HistoryIsNew:
        adopted = await off_loop(size, lambda: prepare_history(kit, arrival.asked.said))
        known = replace(arrival, asked=replace(arrival.asked, adopted=adopted))
        return await kit.store.write(owner_id, lambda unit: _open(unit, known), label="turn.opened")


def _arrive(kit: Kit, request: TurnRequest, shelf: Shelf, check: Check) -> _Arrival:
    text = clean("text", request.text, limit=kit.limits.message_characters)
    if request.time_zone:
        known_zone(request.time_zone)
    if not isinstance(request.address, InConversation):
        check_new(kit.limits, request.address.conversation)
    if request.request_key:
        clean("request_key", request.request_key, limit=kit.limits.request_key_characters, keep_breaks=False)
    return _Arrival(
        asked=Asked(
            request=request,
            said=visible(request.address.history) if isinstance(request.address, FromClient) else (),
            adopted=None,
            conversation_id=ConversationId(kit.ids.new("cnv")),
            now=kit.clock.now(),
        ),
        shelf=shelf,
        check=check,
        turn_id=TurnId(kit.ids.new("trn")),
        message_id=MessageId(kit.ids.new("msg")),
        tokens=kit.tokenizer.count(text),
        limits=kit.limits,
    )


def _replaced_in(request: TurnRequest) -> ConversationId:
    if not isinstance(request.address, InConversation):
        raise BadValue("replaces", value=request.replaces, expected="a turn of a conversation that is named by its id")
    return request.address.conversation_id


def _recognised(unit: Unit, arrival: _Arrival) -> tuple[Conversation, Turn | None]:
    """The conversation, held, without what this request replaces, and the turn that this very request opened before."""
    replaces = arrival.asked.request.replaces
    if replaces is not None:
        unit.owners.hold()
    conversation, again = recognise(unit, arrival.asked)
    if replaces is not None and again is None:
        kept = position_of(unit, conversation, replaces) - 1
        conversation = cut_after(unit, arrival.limits, conversation, kept, arrival.asked.now)
    return conversation, again


def _open(unit: Unit, arrival: _Arrival) -> OpenedTurn:
    request = arrival.asked.request
    conversation, again = _recognised(unit, arrival)
    members = members_of(unit, conversation)
    speakers = speakers_of(conversation, members, request.speakers)
    taken = (
        _append(unit, conversation, speakers, arrival)
        if again is None
        else _resume(unit, conversation, again, speakers, request)
    )
    opened = OpenedTurn(
        conversation=taken.conversation,
        bot=None,
        persona=persona_of(unit, conversation),
        model=None,
        turn=taken.turn,
        message=taken.message,
        stored=taken.stored,
        goes_on=bool(request.tail),
        members=members,
        heard=taken.heard,
    )
    each = [spoken_by(opened, bot, arrival.shelf, request) for bot in taken.speakers or (None,)]
    for one in each if not opened.stored else ():
        arrival.check(unit, one)
    return replace(each[0], after=taken.speakers[1:])


def spoken_by(opened: OpenedTurn, bot: Bot | None, shelf: Shelf, request: TurnRequest) -> OpenedTurn:
    """The turn as this member (None: the bare model) answers it; what it was cut off in saying is not heard."""
    model = choose(shelf, asked=request.model, conversation=opened.conversation, bot=bot)
    heard = tuple(m for m in opened.heard if bot is None or not _is_cut_off_by(m, bot))
    return replace(opened, bot=bot, model=model, heard=heard)


def heard_in(conversation: Conversation, said: Sequence[Message]) -> tuple[Message, ...]:
    """The chosen replies of a turn, in a group: there another one comes after them."""
    return tuple(m for m in said if m.role is Role.BOT and m.chosen) if conversation.is_group else ()


def _is_cut_off_by(message: Message, bot: Bot) -> bool:
    return message.state is MessageState.CUT_OFF and message.bot_id == bot.bot_id


def persona_of(unit: Unit, conversation: Conversation) -> Persona | None:
    """The mask that is worn here; one that was deleted is worn no more."""
    if conversation.persona_id is None:
        return None
    with suppress(NotFound):
        return unit.personas.get(conversation.persona_id)
    return None


def _resume(
    unit: Unit, conversation: Conversation, turn: Turn, speakers: tuple[Bot, ...], request: TurnRequest
) -> _Taken:
    """The turn again: with its replies when everybody answered, else for a new attempt, which fences older ones off."""
    said = unit.messages.of_turn(turn.turn_id)
    replies = tuple(m for m in said if m.role is Role.BOT and m.chosen)
    whole = {m.bot_id for m in replies if m.state is MessageState.WHOLE}
    silent = tuple(bot for bot in speakers if bot.bot_id not in whole) if request.speakers or not whole else ()
    cut_off = not conversation.is_group and any(m.state is MessageState.CUT_OFF for m in replies)
    if turn.state is TurnState.WHOLE and not silent and not cut_off:
        stored = replies[-1:] if request.tail else replies
        return _Taken(conversation=conversation, turn=turn, message=said[0], speakers=speakers, stored=stored)
    turn = replace(turn, attempt=turn.attempt + 1)
    unit.turns.save(turn)
    return _Taken(
        conversation=conversation,
        turn=turn,
        message=said[0],
        speakers=silent or speakers,
        heard=heard_in(conversation, replies),
    )


def _append(unit: Unit, conversation: Conversation, speakers: tuple[Bot, ...], arrival: _Arrival) -> _Taken:
    request, now, position = arrival.asked.request, arrival.asked.now, conversation.last_position + 1
    opened = history_hash([(Role.USER, request.text)], unit.keyed_hash, after=conversation.history_hash)
    turn = Turn(
        turn_id=arrival.turn_id,
        conversation_id=conversation.conversation_id,
        position=position,
        state=TurnState.OPEN,
        request_key=request.request_key,
        request_hash=bytes_hash(unit, request),
        opened_hash=opened,
        client=conversation.client,
        created_at=now,
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
        created_at=now,
    )
    unit.turns.put(turn)
    unit.messages.put(message)
    grown = replace(
        conversation,
        last_position=position,
        messages=conversation.messages + 1,
        history_hash=opened,
        updated_at=now,
        version=conversation.version + 1,
    )
    unit.conversations.save(grown)
    return _Taken(conversation=grown, turn=turn, message=message, speakers=speakers)
