"""What every verb is handed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from souvenance.app.busy import Busy
from souvenance.domain.limits import Limits
from souvenance.domain.phrases import Phrases

if TYPE_CHECKING:
    from souvenance.ports.chat_model import ChatModel
    from souvenance.ports.clock import Clock, Ids
    from souvenance.ports.store import Store
    from souvenance.ports.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """The ports and figures of one installation.

    `default_model` None means: the first that `models` lists, if any; `summary_model` None: the one that answers.
    `read_phrases` answers the same value each time, and is not asked before it is needed. `credit_tokens` is what
    summaries may spend in all, None for any amount (C4); `deeper_memory` whether the plan has it (O7).
    """

    store: Store
    models: ChatModel
    tokenizer: Tokenizer
    clock: Clock
    ids: Ids
    limits: Limits = Limits()
    default_model: str | None = None
    summary_model: str | None = None
    credit_tokens: int | None = None
    deeper_memory: bool = True
    busy: Busy = field(default_factory=Busy)
    read_phrases: Callable[[], Phrases] = Phrases

    @property
    def phrases(self) -> Phrases:
        """The words by which rules and facts are found without a model (S4, S11)."""
        return self.read_phrases()
