"""A house whose model chats and summarises, and whose due work is done by hand, one step after another."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from souvenance.app.compact import compact
from souvenance.app.deepen import deepen
from souvenance.app.due_work import Stepped, Work
from souvenance.domain.conversation import Conversation
from souvenance.domain.due import Due
from souvenance.domain.summary import Node, Rule
from souvenance.ports.chat_model import ChatRequest
from souvenance.testing import ScriptedModel, say
from souvenance.testing.script import Reply
from souvenance.testing.summaries import summary_answer
from souvenance.wiring import installed_phrases
from tests.flows.app.house import House

LEASE = timedelta(minutes=5)
STEPS = {Work.SUMMARY: compact, Work.REFRESH: compact, Work.DEEPER: deepen}


def answers(request: ChatRequest) -> Reply:
    """A summary where one is asked for, else a short reply."""
    return say(summary_answer(request.messages) or f"Reply to: {str(request.messages[-1]['content'])[:40]}")


def summarising(house: House) -> House:
    with_model = house.with_model(ScriptedModel(respond=answers))
    return replace(with_model, kit=replace(with_model.kit, read_phrases=installed_phrases))


async def claim(house: House) -> Due | None:
    kinds = list(STEPS)
    return await house.kit.store.claim(worker="w", now=house.kit.clock.now(), lease=LEASE, kinds=kinds)


async def work(house: House, *, most: int = 100) -> list[Stepped]:
    """Do every step that is due; the last one of each piece says why it rests."""
    steps: list[Stepped] = []
    while (due := await claim(house)) is not None:
        steps.append(await STEPS[Work(due.kind)](house.kit, due))
        assert len(steps) < most, "it never rests"
    return steps


async def talk(house: House, chat: Conversation, turns: int, *, words: str = "", worked: bool = True) -> None:
    """So many turns, with what is due done after each."""
    for number in range(turns):
        await house.say(chat, f"Message {number}. {words}")
        if worked:
            await work(house)


async def live(house: House, chat: Conversation) -> list[Node]:
    return await house.read(lambda unit: unit.summaries.live(chat.conversation_id))


async def rules(house: House, chat: Conversation) -> list[Rule]:
    return await house.read(lambda unit: unit.summaries.rules(chat.conversation_id))


async def now(house: House, chat: Conversation) -> Conversation:
    return await house.read(lambda unit: unit.conversations.get(chat.conversation_id))
