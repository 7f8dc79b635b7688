"""Answer although memory cannot be reached: what the client sent goes on as it is, and the end says so (T6)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from souvenance.app.choose_model import Shelf
from souvenance.app.hear_model import hear_model
from souvenance.app.kit import Kit
from souvenance.app.open_turn import OpenedTurn
from souvenance.app.turn import Delta, Done, FromClient, Opened, TurnEvent, TurnRequest
from souvenance.domain.conversation import Role
from souvenance.domain.prompt import AsSent, Piece, assemble
from souvenance.errors import StoreUnavailable
from souvenance.ports.chat_model import ChatRequest


async def answer_without_memory(
    kit: Kit, request: TurnRequest, shelf: Shelf, *, opened: OpenedTurn | None = None
) -> AsyncGenerator[TurnEvent, None]:
    """The model's own answer to what was sent, as the bot if that is known. Nothing is read, nothing is stored.

    Raises StoreUnavailable when there is no model that could answer either, and what the model raises.
    """
    name = _name(request, shelf, opened)
    if name is None:
        raise StoreUnavailable("it did not answer, and there is no model to answer without it")
    if opened is None:
        yield Opened(conversation=None, turn=None, message=None)
    head = {"model": name, **request.fields, **({"tools": list(request.tools)} if request.tools else {})}
    asked = assemble({**head, "stream": request.stream}, _pieces(request, opened))
    finish = "stop"
    chat = ChatRequest(
        model=name,
        messages=asked.messages,
        tools=request.tools,
        fields=request.fields,
        stream=request.stream,
        body=asked.body,
    )
    async with aclosing(hear_model(kit, chat)) as chunks:
        async for chunk in chunks:
            finish = chunk.finish or finish
            yield Delta(text=chunk.text, chunk=chunk)
    yield Done(turn=None, message=None, finish=finish, model=name, memory_unavailable=True)


def _name(request: TurnRequest, shelf: Shelf, opened: OpenedTurn | None) -> str | None:
    if opened is not None:
        return None if opened.model is None else opened.model.name
    return request.model if request.model in shelf.models else shelf.default


def _pieces(request: TurnRequest, opened: OpenedTurn | None) -> list[Piece]:
    bot = None if opened is None else opened.bot
    own = [{"role": "system", "content": bot.system_prompt}] if bot is not None and bot.system_prompt else []
    history = request.address.history if isinstance(request.address, FromClient) else ()
    said = [{"role": "user" if role is Role.USER else "assistant", "content": text} for role, text in history]
    newest = request.user_message or {"role": "user", "content": request.text}
    return [AsSent(layer="sent", wire=wire) for wire in (*own, *request.system, *said, newest, *request.tail)]
