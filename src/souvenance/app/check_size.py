"""Refuse a message that the model cannot take, before anything of it is stored (W5)."""

from __future__ import annotations

from dataclasses import replace

from souvenance.app.kit import Kit
from souvenance.app.open_turn import OpenedTurn
from souvenance.app.plan_turn import policy_of, sizes_of
from souvenance.app.turn import TurnRequest
from souvenance.errors import PromptTooLarge
from souvenance.ports.store import Unit

_MOST_TOKENS_A_BYTE = 4
"""No model counts more: what is smaller than this fits without being counted."""


class _Bytes:
    """A `Tokenizer` that costs nothing and never counts too few."""

    def count(self, text: str) -> int:
        return len(text.encode("utf-8", "surrogatepass"))


def check_size(unit: Unit, kit: Kit, request: TurnRequest, opened: OpenedTurn, *, offer_tools: bool) -> None:
    """PromptTooLarge with both sizes when what is always sent leaves no room for the reply.

    Runs in the turn's first write, so that the error takes back what was written. Tokens are counted there only when
    the message comes near the model's size.
    """
    chosen = policy_of(kit, opened, offer_tools=offer_tools)
    most = sizes_of(replace(kit, tokenizer=_Bytes()), request, opened, chosen)
    if most.fixed * _MOST_TOKENS_A_BYTE <= most.room:
        return
    sizes = sizes_of(kit, request, opened, chosen)
    needed = unit.calibrations.get("" if opened.model is None else opened.model.name).corrected(sizes.fixed)
    if needed > sizes.room:
        raise PromptTooLarge(needed=needed, available=sizes.room, context=sizes.context)
