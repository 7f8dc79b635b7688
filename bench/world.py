"""What the benches run on: one account with two full scopes of memories and a long conversation."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from souvenance.app.bots import NewBot, create_bot
from souvenance.app.conversations import NewConversation, open_conversation
from souvenance.app.kit import Kit
from souvenance.app.remember import NewMemory, remember_many
from souvenance.domain.conversation import Conversation, Message, Role, Turn, TurnState
from souvenance.domain.ids import MessageId, OwnerId, TurnId
from souvenance.domain.memory import ACCOUNT_SCOPE, Scope
from souvenance.domain.terms import terms
from souvenance.ports.memories import Kind
from souvenance.ports.store import Unit

BOT = "Maren"
UNPINNED, PINNED = 100, 20
WINDOW_TURNS = 22
_SPOKEN_OF = (
    "harbour lighthouse kettle garden letter sister violin winter bicycle market bread window river painting train "
    "morning blanket captain orchard lantern mountain recipe postcard sparrow umbrella notebook library coat bridge "
    "island cinnamon clock attic ferry compass moss piano quilt stove tram valley walnut yarn anchor birch cello dune"
)
_DOINGS = "remembers keeps finds paints carries mends forgets promises sells borrows counts hides"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One turn as it will be or was said."""

    user: str
    reply: str


class Speech:
    """Invented sentences, the same for the same seed: about 40 words from a person, 80 from a bot."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def turn(self) -> Said:
        return Said(user=self._text(4), reply=self._text(8))

    def fact(self, number: int) -> str:
        """A sentence that no other fact equals."""
        return f"Fact {number}: {self._sentence()}"

    def _text(self, sentences: int) -> str:
        return " ".join(self._sentence() for _ in range(sentences))

    def _sentence(self) -> str:
        first, second, third, fourth = self._random.sample(_SPOKEN_OF.split(), 4)
        verb = self._random.choice(_DOINGS.split())
        return f"The {first} by the {second} {verb} what the {third} and the {fourth} were for."


async def furnish(kit: Kit, owner_id: OwnerId, *, messages: int) -> Conversation:
    """A companion with full memories, account and bot, and a conversation of this many messages with it.

    The messages are stored through the store's own repositories, as their turns would have left them: the window at
    the newest ones, everything indexed.
    """
    speech = Speech(seed=2)
    bot = await create_bot(kit, owner_id, NewBot(name=BOT, system_prompt="You are Maren, who keeps a small museum."))
    for scope in (ACCOUNT_SCOPE, Scope.of_bot(bot.bot_id)):
        await remember_many(kit, owner_id, list(_memories(speech, scope)))
    begun = await open_conversation(kit, owner_id, NewConversation(bot_id=bot.bot_id))
    return await plant(kit, owner_id, begun, [speech.turn() for _ in range(messages // 2)])


async def plant(kit: Kit, owner_id: OwnerId, begun: Conversation, said: Sequence[Said]) -> Conversation:
    """The conversation, just begun, with all this said in it: the window at the newest turns, the others waiting."""

    def work(unit: Unit) -> Conversation:
        for position, turn in enumerate(said):
            _put_turn(unit, kit, begun, position, turn)
        start = max(0, len(said) - WINDOW_TURNS)
        grown = replace(
            begun, last_position=len(said) - 1, messages=2 * len(said), window_start=start, waiting=2 * start
        )
        unit.conversations.save(grown)
        return grown

    return await kit.store.write(owner_id, work, label="bench.planted")


def _memories(speech: Speech, scope: Scope) -> Iterator[NewMemory]:
    for number in range(UNPINNED + PINNED):
        yield NewMemory(text=speech.fact(number), scope=scope, pinned=number < PINNED)


def _put_turn(unit: Unit, kit: Kit, conversation: Conversation, position: int, said: Said) -> None:
    at = conversation.created_at - timedelta(minutes=conversation.last_position - position + 10_000)
    turn = Turn(
        turn_id=TurnId(kit.ids.new("trn")),
        conversation_id=conversation.conversation_id,
        position=position,
        state=TurnState.WHOLE,
        acknowledged=True,
        created_at=at,
    )
    unit.turns.put(turn)
    for part, (role, text) in enumerate(((Role.USER, said.user), (Role.BOT, said.reply))):
        message_id = MessageId(kit.ids.new("msg"))
        message = Message(
            message_id=message_id,
            conversation_id=conversation.conversation_id,
            turn_id=turn.turn_id,
            position=position,
            part=part,
            role=role,
            bot_id=conversation.bot_id if role is Role.BOT else None,
            origin_id=message_id,
            text=text,
            tokens=kit.tokenizer.count(text),
            created_at=at,
        )
        unit.messages.put(message)
        unit.index.put(Kind.MESSAGE, message_id, terms(text))
