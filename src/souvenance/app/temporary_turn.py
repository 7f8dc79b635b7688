"""One turn of a temporary chat: answered without memory, and kept nowhere (O4).

Since nothing is stored, the chat lives with its caller, who sends what was said so far with each turn.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from souvenance.app.hear_model import hear_model
from souvenance.app.kit import Kit
from souvenance.app.plan_temporary_turn import TemporaryPlan, TemporaryTurn, plan_temporary_turn
from souvenance.app.speak import request_of
from souvenance.app.turn import Delta, Done, Noted, Opened, TurnEvent
from souvenance.domain.ids import OwnerId
from souvenance.domain.prompt import assemble
from souvenance.errors import ModelBroken
from souvenance.ports.chat_model import Usage


async def temporary_turn(kit: Kit, owner_id: OwnerId, asked: TemporaryTurn) -> AsyncGenerator[TurnEvent, None]:
    """The events of one turn: Opened and Done name nothing stored; Noted says how many messages were dropped, if any.

    The model is offered no tool of ours, and calls in its text are text. Close it early and the call upstream ends.
    Raises what `plan_temporary_turn` and the model raise.
    """
    plan = await plan_temporary_turn(kit, owner_id, asked)
    yield Opened(conversation=None, turn=None, message=None, dropped=plan.dropped)
    if plan.dropped:
        yield Noted(kind="dropped", text=_dropped(plan.dropped))
    said: list[str] = []
    usage: Usage | None = None
    finish, empty = "stop", True
    head = plan.layout.head
    async with aclosing(hear_model(kit, request_of(head, assemble(head, plan.layout.pieces)))) as chunks:
        async for chunk in chunks:
            finish, usage = chunk.finish or finish, chunk.usage or usage
            said.append(chunk.text)
            empty = empty and not chunk.text and not chunk.tool_calls
            yield Delta(text=chunk.text, chunk=chunk)
    if empty:
        raise ModelBroken(plan.model.name, problem="an empty reply")
    yield _done(kit, plan, "".join(said), finish, usage)


def _dropped(count: int) -> str:
    """The visible note, in place of a summary."""
    messages = "1 older message" if count == 1 else f"{count} older messages"
    return f"{messages} no longer fit the window and did not reach the model: a temporary chat is not summarised."


def _done(kit: Kit, plan: TemporaryPlan, text: str, finish: str, usage: Usage | None) -> Done:
    corrected = plan.calibration.corrected
    return Done(
        turn=None,
        message=None,
        finish=finish,
        model=plan.model.name,
        tokens_in=corrected(sum(plan.layout.layers.values())) if usage is None else usage.tokens_in,
        tokens_out=corrected(kit.tokenizer.count(text)) if usage is None else usage.tokens_out,
        estimated=usage is None,
        memory_unavailable=plan.memory_unavailable,
    )
