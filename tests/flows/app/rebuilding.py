"""A house with a summary to be written anew: its rebuilds are worked on by the real worker, or step by step."""

from __future__ import annotations

from dataclasses import replace

from souvenance.app.browse import list_notifications
from souvenance.app.due_work import Stepped, Work
from souvenance.app.rebuild import fail_rebuild, rebuild
from souvenance.app.steer_rebuild import read_rebuild
from souvenance.domain.conversation import Conversation
from souvenance.domain.summary import Node, Rebuild
from souvenance.ports.chat_model import ChatRequest
from souvenance.testing import ScriptedModel
from souvenance.testing.summaries import summary_answer
from souvenance.worker.loop import Worker
from souvenance.worker.pace import Pace
from tests.flows.app.house import House
from tests.flows.app.summarising import LEASE, summarising, talk
from tests.flows.app.summarising import STEPS as USUAL

STEPS = {**USUAL, Work.REBUILD: rebuild}


def small(house: House) -> House:
    """Batches of one turn: four turns make a merged node, sixteen the long-term one."""
    return summarising(house).with_limits(balanced_messages=10, batch_messages=2)


async def told(house: House, turns: int = 12) -> Conversation:
    """A conversation of so many turns, most of them summarised."""
    chat = await house.chat(await house.bot())
    await talk(house, chat, turns)
    return chat


async def step(house: House) -> Stepped | None:
    """One step of a rebuild; None when none is due."""
    due = await house.kit.store.claim(worker="w", now=house.kit.clock.now(), lease=LEASE, kinds=[Work.REBUILD])
    return None if due is None else await rebuild(house.kit, due)


async def steps(house: House, count: int) -> None:
    for _ in range(count):
        stepped = await step(house)
        assert stepped is not None
        assert stepped.more


def worker(house: House, **limits: int) -> Worker:
    """As the house has it, its pauses without chance."""
    kit = replace(house.kit, limits=replace(house.kit.limits, **limits))
    return Worker(kit, STEPS, pace=Pace(jitter=lambda: 0.0), when_parked={Work.REBUILD: fail_rebuild})


async def last(house: House, chat: Conversation) -> Rebuild:
    return await read_rebuild(house.kit, house.owner, chat.conversation_id)


async def every(house: House, chat: Conversation) -> list[Node]:
    return await house.read(lambda unit: unit.summaries.all(chat.conversation_id))


async def built(house: House, chat: Conversation) -> list[Node]:
    """What the last rebuild has made and not swapped in."""
    made = await last(house, chat)
    return await house.read(lambda unit: unit.summaries.all(chat.conversation_id, rebuild_id=made.rebuild_id))


async def notified(house: House) -> list[tuple[str, dict[str, str | int | float]]]:
    """Oldest first."""
    page = await list_notifications(house.kit, house.owner, unread_only=False, cursor=None, limit=None)
    return [(each.kind, each.about) for each in reversed(page.items)]


def questions(house: House) -> list[ChatRequest]:
    """The requests that asked for words of a summary."""
    model: ScriptedModel = house.model
    return [request for request in model.requests if summary_answer(request.messages) is not None]
