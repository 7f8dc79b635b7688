"""Take the last turn of a conversation once more: to ask for its reply again, or to go on with one cut off (T1, T6).

Each taking is an attempt of its own, so that of two at once, in whatever process, one alone is stored.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from souvenance.app.check_size import check_size
from souvenance.app.choose_model import Shelf, models_at_hand
from souvenance.app.kit import Kit
from souvenance.app.members import members_of
from souvenance.app.open_turn import OpenedTurn, persona_of, spoken_by
from souvenance.app.plan_turn import plan_turn
from souvenance.app.speak_and_settle import speak_and_settle
from souvenance.app.turn import InConversation, Opened, Speaking, TurnEvent, TurnRequest
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation, Message, Role, Turn
from souvenance.domain.ids import OwnerId, TurnId
from souvenance.errors import BotGone, NotFound, NothingToAnswer, NotLastTurn
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAgain:
    """What a person asks of a turn that is there. `part` names one reply of a group's; None: the last."""

    turn_id: TurnId
    part: int | None = None
    model: str | None = None
    stream: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenAgain:
    """A turn held for a new attempt. `replies` are the chosen ones, in order."""

    conversation: Conversation
    turn: Turn
    message: Message
    replies: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retake:
    """What the attempt is to do: stand in for `replaces`, or go on with `continues`, after having heard `heard`; None
    and nothing: answer a turn that has no answer yet. In a group it is the reply of the bot that gave the first one.
    """

    heard: tuple[Message, ...] = ()
    replaces: tuple[Message, ...] = ()
    continues: Message | None = None


Decide = Callable[[TakenAgain], Retake]


async def answer_again(
    kit: Kit, owner_id: OwnerId, asked: AskedAgain, decide: Decide
) -> AsyncGenerator[TurnEvent, None]:
    """The events of the turn as `chat_turn` gives them. What the client of an OpenAI-compatible door sent beside its
    messages (its own system prompt, its tools) is not kept, and so not sent again.

    Raises NotFound, NotLastTurn, NothingToAnswer, BotGone, UnknownModel, PromptTooLarge, and what `decide`, the model
    and `settle_turn` raise; StoreUnavailable too: nothing is asked that could not be stored.
    """
    turn = await kit.store.read(owner_id, lambda unit: unit.turns.get(asked.turn_id), label="turn.read")
    here = f"{owner_id} {turn.conversation_id}"
    async with kit.busy.alone(here), kit.busy.alone(f"answers {here}"):
        shelf = await models_at_hand(kit, asked=asked.model)
        opened, request = await kit.store.write(
            owner_id, lambda unit: _retaken(unit, kit, asked, shelf, decide), label="turn.taken_again"
        )
        yield Opened(conversation=opened.conversation, turn=opened.turn, message=opened.message)
        if opened.conversation.is_group and opened.bot is not None and opened.continues is None:
            yield Speaking(bot=opened.bot, first=True)
        plan = await plan_turn(kit, owner_id, request, opened)
        async with aclosing(speak_and_settle(kit, owner_id, plan)) as events:
            async for event in events:
                yield event


def _retaken(unit: Unit, kit: Kit, asked: AskedAgain, shelf: Shelf, decide: Decide) -> tuple[OpenedTurn, TurnRequest]:
    taken = _held(unit, asked.turn_id)
    retake = decide(taken)
    turn = replace(taken.turn, attempt=taken.turn.attempt + 1)
    unit.turns.save(turn)
    request = _request(taken, asked)
    members = members_of(unit, taken.conversation)
    opened = OpenedTurn(
        conversation=taken.conversation,
        bot=None,
        persona=persona_of(unit, taken.conversation),
        model=None,
        turn=turn,
        message=taken.message,
        members=members,
        replaces=frozenset(m.message_id for m in retake.replaces),
        continues=retake.continues,
    )
    opened = replace(
        spoken_by(opened, _speaker(taken.conversation, members, retake), shelf, request), heard=retake.heard
    )
    check_size(unit, kit, request, opened, offer_tools=True)
    return opened, request


def _held(unit: Unit, turn_id: TurnId) -> TakenAgain:
    """The turn with its conversation held, so that it stays the last one and what it says until the commit."""
    conversation = unit.conversations.lock(unit.turns.get(turn_id).conversation_id)
    turn = unit.turns.get(turn_id)
    if turn.position != conversation.last_position:
        raise NotLastTurn(turn_id)
    said = [message for message in unit.messages.of_turn(turn_id) if message.chosen]
    if not said or said[0].role is not Role.USER:
        raise NothingToAnswer(turn_id)
    return TakenAgain(conversation=conversation, turn=turn, message=said[0], replies=tuple(said[1:]))


def _speaker(conversation: Conversation, members: tuple[Bot, ...], retake: Retake) -> Bot | None:
    """Who speaks: in a group whoever gave the reply, also when all other members are gone, else the first member."""
    first = retake.continues or next(iter(retake.replaces), None)
    if first is None or not conversation.is_group:
        return members[0] if members else None
    found = next((member for member in members if member.bot_id == first.bot_id), None)
    if found is None:
        raise BotGone(str(first.bot_id))
    return found


def reply_of(taken: TakenAgain, part: int | None, among: tuple[Message, ...]) -> Message:
    """The reply that is meant, of these; the last one when no part is named. NotFound."""
    found = [message for message in among if part is None or message.part == part]
    if not found:
        raise NotFound("reply", f"{taken.turn.turn_id} part {part}")
    return found[-1]


def _request(taken: TakenAgain, asked: AskedAgain) -> TurnRequest:
    return TurnRequest(
        address=InConversation(conversation_id=taken.conversation.conversation_id),
        text=taken.message.text,
        time_zone=taken.message.time_zone,
        model=asked.model,
        stream=asked.stream,
    )
