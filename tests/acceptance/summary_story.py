"""A story of a summary for processes that die in it, and how whoever comes next ends it; for tests only.

A conversation is summed up, corrected, mended, and written anew.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress

from souvenance.app.begin_rebuild import begin_rebuild
from souvenance.app.bots import bot_for
from souvenance.app.browse import list_conversations, list_messages
from souvenance.app.chat_turn import chat_turn
from souvenance.app.conversations import NewConversation
from souvenance.app.edit_message import edit_message
from souvenance.app.steer_rebuild import read_rebuild
from souvenance.app.turn import InConversation, NewChat, TurnRequest
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import MessageId
from souvenance.domain.summary import RebuildState
from souvenance.errors import NotFound
from souvenance.ports.chat_model import ChatRequest
from souvenance.ports.store import Unit
from souvenance.testing import ScriptedModel, say
from souvenance.testing.script import Reply
from souvenance.testing.summaries import summary_answer
from souvenance.wiring import House

LIMITS = {
    "balanced_messages": 4.0,
    "batch_messages": 2.0,
    "batch_share": 0.5,
    "nodes_merged": 2.0,
    "long_term_tokens_balanced": 40.0,
}
RULES = ("From now on, always answer in one sentence.", "Never mention the sea again.")
TURNS = 6
MENDED = "The heron is back."
_SAID = [*RULES, *(f"The ship called Aurora sails to harbour number {number}." for number in range(2, TURNS))]


def model() -> ScriptedModel:
    return ScriptedModel(respond=_answer)


def _answer(request: ChatRequest) -> Reply:
    told = summary_answer(request.messages) or "I see."
    if str(request.messages[-1]["content"]).startswith('{"memories"'):
        told = json.dumps({"add": [{"text": "Sails.", "subject": "", "lines": [1]}], "update": [], "forget": []})
    return say(told)


async def live(house: House, tell: Callable[[], Awaitable[None]]) -> None:
    """Whatever was done of it already is not done again: so it is also how another process goes on."""
    if await chat_of(house) is None:
        await _talk(house)
    await tell()
    await house.worker().work_off()
    await _edit(house)
    await house.worker().work_off()
    await _rebuild(house)
    await house.worker().work_off()


async def chat_of(house: House) -> Conversation | None:
    found: Sequence[Conversation] = (await list_conversations(house.kit, house.owner_id)).items
    assert len(found) <= 1
    return found[0] if found else None


async def _talk(house: House) -> None:
    bot = await bot_for(house.kit, house.owner_id, "Mira")
    for text in _SAID:
        chat = await chat_of(house)
        new = NewChat(conversation=NewConversation(bot_id=bot.bot_id))
        address = new if chat is None else InConversation(conversation_id=chat.conversation_id)
        async with aclosing(chat_turn(house.kit, house.owner_id, TurnRequest(address=address, text=text))) as events:
            async for _ in events:
                continue


async def _edit(house: House) -> None:
    said = await _messages(house)
    if MENDED not in said:
        await edit_message(house.kit, house.owner_id, said[_SAID[2]], MENDED)


async def _rebuild(house: House) -> None:
    chat = await chat_of(house)
    assert chat is not None
    with suppress(NotFound):
        await read_rebuild(house.kit, house.owner_id, chat.conversation_id)
        return
    await begin_rebuild(house.kit, house.owner_id, chat.conversation_id)


async def _messages(house: House) -> dict[str, MessageId]:
    chat = await chat_of(house)
    assert chat is not None
    page = await list_messages(house.kit, house.owner_id, chat.conversation_id, limit=200)
    return {message.text: message.message_id for message in page.items}


async def ended(house: House) -> dict[str, object]:
    """What is there at the end: no part of it may be missing or doubled."""
    chat = await chat_of(house)
    assert chat is not None
    here = chat.conversation_id

    def work(unit: Unit) -> dict[str, object]:
        newest = unit.rebuilds.newest(here)
        assert newest is not None
        assert newest.state is RebuildState.DONE
        return {
            "nodes": [(node.tier, node.first, node.last, node.items) for node in unit.summaries.all(here)],
            "live": [(node.tier, node.first, node.last, bool(node.stale)) for node in unit.summaries.live(here)],
            "rules": [(rule.text, len(rule.sources), rule.in_force) for rule in unit.summaries.rules(here)],
            "due": unit.due.every(),
            "places": (chat.messages, chat.waiting, chat.summarised_to, chat.deepened_to),
        }

    return await house.kit.store.read(house.owner_id, work, label="story.ended")
