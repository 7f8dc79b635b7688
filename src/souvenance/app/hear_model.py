"""Ask a model, whichever adapter it is behind, and let no half of a character get further."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from souvenance.app.kit import Kit
from souvenance.domain.split_pairs import SplitPairs, whole
from souvenance.ports.chat_model import ChatRequest, ModelChunk, ToolCallDelta


async def hear_model(kit: Kit, request: ChatRequest) -> AsyncGenerator[ModelChunk, None]:
    """The model's reply; lone halves of surrogate pairs in its texts and calls are U+FFFD, `wire` stays as it came.

    Raises what the model raises. Close it early and the call upstream ends.
    """
    text, reasoning = SplitPairs(), SplitPairs()
    async with aclosing(kit.models.reply(request)) as chunks:
        async for chunk in chunks:
            last = chunk.finish is not None
            yield replace(
                chunk,
                text=text.join(chunk.text, last=last),
                reasoning=reasoning.join(chunk.reasoning, last=last),
                tool_calls=tuple(map(_whole, chunk.tool_calls)),
            )


def _whole(delta: ToolCallDelta) -> ToolCallDelta:
    return replace(delta, call_id=whole(delta.call_id), name=whole(delta.name), arguments=whole(delta.arguments))
