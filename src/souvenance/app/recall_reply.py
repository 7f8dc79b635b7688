"""The reply where there is no model: what is remembered that fits the question, and that this is all (STACK, V3)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable

from souvenance.app.gather_turn import scopes_read
from souvenance.app.kit import Kit
from souvenance.app.plan_turn import Plan
from souvenance.app.query_memories import Hits, Query, query_memories
from souvenance.app.reply import Reply
from souvenance.app.stand_in import see
from souvenance.app.turn import Delta
from souvenance.domain.ids import OwnerId
from souvenance.domain.memory_lines import line
from souvenance.errors import StoreError
from souvenance.ports.memories import ChatsWith
from souvenance.ports.store import Unit

LABEL = "[recall reply: no model is connected]"
_NOTHING = "Nothing that is remembered fits this. Your message is kept."
_MOST = 5


async def recall_reply(kit: Kit, owner_id: OwnerId, plan: Plan, reply: Reply) -> AsyncGenerator[Delta, None]:
    """One labelled text made of memories and past messages; never anything invented."""
    scopes = scopes_read(plan.policy, plan.opened)
    query = Query(
        text=plan.opened.message.text,
        scopes=scopes,
        messages=plan.policy.finds_messages,
        chats=ChatsWith(bot_id=None if plan.opened.bot is None else plan.opened.bot.bot_id),
        leave_out=plan.opened.conversation.conversation_id,
        leave_out_from=plan.opened.turn.position,
        limit=_MOST,
    )

    def read(work: Callable[[Unit], Hits]) -> Awaitable[Hits]:
        return see(kit, owner_id, plan.opened, work, label="memories.queried")

    try:
        hits = await query_memories(kit, owner_id, query, read=read) if scopes else None
    except StoreError:
        hits = None
    found = [] if hits is None else [line(hit.memory) for hit in hits.memories]
    if hits is not None and not found:
        found = [f"- {hit.message.created_at.date().isoformat()}: {_short(hit.message.text)}" for hit in hits.messages]
    text = "\n".join([LABEL, *(found or [_NOTHING])])
    reply.shown.append(text)
    reply.finish = "stop"
    yield Delta(text=text)


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 200 else one_line[:199] + "…"
