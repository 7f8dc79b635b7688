"""Sent prompts as JSON: their figures by layer, and their parts (C1)."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from souvenance.domain.sent import LeftOut, Part, SentPrompt
from souvenance.server.views.view import View


class LeftOutJson(View):
    layer: str
    item: str
    tokens: int

    @classmethod
    def of(cls, left: LeftOut) -> Self:
        return cls(layer=left.layer, item=left.item, tokens=left.tokens)


class FiguresJson(View):
    """Tokens in by layer, estimated; the reported figures are the model's own, null until it reports them."""

    id: str
    conversation_id: str
    turn_id: str
    message_id: str | None
    model: str
    at: datetime
    layers: dict[str, int]
    left_out: list[LeftOutJson]
    estimated_in: int
    estimated_out: int
    reported_in: int | None
    reported_out: int | None
    round: int
    epoch: int

    @classmethod
    def of(cls, prompt: SentPrompt) -> Self:
        return cls(
            id=prompt.prompt_id,
            conversation_id=prompt.conversation_id,
            turn_id=prompt.turn_id,
            message_id=prompt.message_id,
            model=prompt.model,
            at=prompt.at,
            layers=dict(prompt.layers),
            left_out=[LeftOutJson.of(each) for each in prompt.left_out],
            estimated_in=prompt.estimated_in,
            estimated_out=prompt.estimated_out,
            reported_in=prompt.reported_in,
            reported_out=prompt.reported_out,
            round=prompt.round,
            epoch=prompt.epoch,
        )


class PartJson(View):
    """A run of the request's bytes as text, with the memory, message or summary node that it holds."""

    text: str
    memory_id: str | None
    message_id: str | None
    node_id: str | None

    @classmethod
    def of(cls, part: Part) -> Self:
        text = part.data.decode(errors="replace")
        return cls(text=text, memory_id=part.memory_id, message_id=part.message_id, node_id=part.node_id)


class PromptJson(FiguresJson):
    parts: list[PartJson]

    @classmethod
    def whole(cls, prompt: SentPrompt) -> Self:
        figures = FiguresJson.of(prompt)
        return cls(**figures.model_dump(), parts=[PartJson.of(part) for part in prompt.parts])


class PromptsJson(View):
    items: list[FiguresJson]
