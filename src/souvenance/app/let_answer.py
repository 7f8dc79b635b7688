"""Let another member of a group answer the last message too, without a new one (M7)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from souvenance.app.chat_turn import answer
from souvenance.app.check_size import check_size
from souvenance.app.choose_model import Shelf, models_at_hand
from souvenance.app.kit import Kit
from souvenance.app.members import members_of, speakers_of
from souvenance.app.open_turn import OpenedTurn, heard_in, persona_of, spoken_by
from souvenance.app.turn import InConversation, TurnEvent, TurnRequest
from souvenance.domain.bot import Bot
from souvenance.domain.conversation import Conversation, Message, Role
from souvenance.domain.ids import BotId, ConversationId, OwnerId
from souvenance.errors import BadValue, NothingToAnswer
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class LetAnswer:
    """Who is to answer, in this order; nobody named: the member after the one that spoke last."""

    conversation_id: ConversationId
    speakers: tuple[BotId, ...] = ()
    model: str | None = None
    stream: bool = True


async def let_answer(kit: Kit, owner_id: OwnerId, asked: LetAnswer) -> AsyncGenerator[TurnEvent, None]:
    """The events of these members' replies, as `chat_turn` gives them.

    BadValue where nothing was said yet, outside a group, or for whoever spoke last: it is asked again by regenerating.
    NothingToAnswer when the user's message was deleted.
    """
    here = f"{owner_id} {asked.conversation_id}"
    shelf = await models_at_hand(kit, asked=asked.model)
    request = TurnRequest(
        address=InConversation(conversation_id=asked.conversation_id),
        text="",
        speakers=asked.speakers,
        model=asked.model,
        stream=asked.stream,
    )
    async with kit.busy.alone(here), kit.busy.alone(f"answers {here}"):
        opened = await kit.store.write(
            owner_id, lambda unit: _take(unit, kit, asked.conversation_id, request, shelf), label="turn.taken"
        )
        async with aclosing(answer(kit, owner_id, request, opened, shelf)) as events:
            async for event in events:
                yield event


def _take(unit: Unit, kit: Kit, conversation_id: ConversationId, request: TurnRequest, shelf: Shelf) -> OpenedTurn:
    """The last turn for a new attempt, which fences older ones off."""
    conversation = unit.conversations.lock(conversation_id)
    last = unit.turns.last(conversation_id)
    if last is None or not conversation.is_group:
        raise BadValue("conversation", value=conversation_id, expected="a group in which something was said")
    turn = replace(last, attempt=last.attempt + 1)
    unit.turns.save(turn)
    said = unit.messages.of_turn(turn.turn_id)
    if said[0].role is not Role.USER:
        raise NothingToAnswer(turn.turn_id)
    members = members_of(unit, conversation)
    heard = heard_in(conversation, said)
    opened = OpenedTurn(
        conversation=conversation,
        bot=None,
        persona=persona_of(unit, conversation),
        model=None,
        turn=turn,
        message=said[0],
        members=members,
        heard=heard,
    )
    speakers = _speakers(conversation, members, request.speakers, heard)
    each = [spoken_by(opened, bot, shelf, request) for bot in speakers]
    for one in each:
        check_size(unit, kit, request, one, offer_tools=True)
    return replace(each[0], after=speakers[1:])


def _speakers(
    conversation: Conversation, members: Sequence[Bot], named: Sequence[BotId], heard: Sequence[Message]
) -> tuple[Bot, ...]:
    last = heard[-1].bot_id if heard else None
    speakers = speakers_of(conversation, members, named)
    if not named and last is not None:
        at = next((n for n, bot in enumerate(members) if bot.bot_id == last), -1)
        speakers = (members[(at + 1) % len(members)],)
    if speakers[0].bot_id == last:
        raise BadValue("speakers", value=last, expected="another member than the one that spoke last")
    return speakers
