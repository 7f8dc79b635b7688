"""Rebuilds of a summary and what they would cost, as JSON (S7)."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from souvenance.app.estimate_rebuild import Estimate
from souvenance.domain.limits import Level
from souvenance.domain.summary import Rebuild, RebuildState
from souvenance.server.views.view import View


class EstimateJson(View):
    """What a rebuild at this level would cost. `tokens_out` and `price` are at most; the price is null where the
    model's is not known, `model` where there is none: then it costs nothing. `edited` nodes would be discarded.
    """

    level: Level
    messages: int
    steps: int
    tokens_in: int
    tokens_out: int
    model: str | None
    price: float | None
    edited: int

    @classmethod
    def of(cls, estimate: Estimate) -> Self:
        return cls(
            level=estimate.level,
            messages=estimate.messages,
            steps=estimate.steps,
            tokens_in=estimate.tokens_in,
            tokens_out=estimate.tokens_out,
            model=estimate.model or None,
            price=estimate.price,
            edited=estimate.edited,
        )


class RebuildJson(View):
    """A rebuild: `steps` of about `steps_estimated` are done; `reason` says why it failed. `up_to` is the position of
    the last turn that it writes about.
    """

    id: str
    conversation_id: str
    level: Level
    state: RebuildState
    up_to: int
    steps: int
    steps_estimated: int
    estimated_in: int
    estimated_out: int
    spent_in: int
    spent_out: int
    edited: int
    reason: str | None
    begun_at: datetime
    ended_at: datetime | None

    @classmethod
    def of(cls, rebuild: Rebuild) -> Self:
        return cls(
            id=rebuild.rebuild_id,
            conversation_id=rebuild.conversation_id,
            level=rebuild.level,
            state=rebuild.state,
            up_to=rebuild.up_to,
            steps=rebuild.steps,
            steps_estimated=rebuild.steps_estimated,
            estimated_in=rebuild.estimated_in,
            estimated_out=rebuild.estimated_out,
            spent_in=rebuild.spent_in,
            spent_out=rebuild.spent_out,
            edited=rebuild.edited,
            reason=rebuild.reason or None,
            begun_at=rebuild.begun_at,
            ended_at=rebuild.ended_at,
        )
