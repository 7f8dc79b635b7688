"""What every verb is handed."""

from __future__ import annotations

from dataclasses import dataclass, field

from souvenance.app.busy import Busy
from souvenance.domain.limits import Limits
from souvenance.ports.chat_model import ChatModel
from souvenance.ports.clock import Clock, Ids
from souvenance.ports.store import Store
from souvenance.ports.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """The ports and figures of one installation. `default_model` None means: the first that `models` lists, if any."""

    store: Store
    models: ChatModel
    tokenizer: Tokenizer
    clock: Clock
    ids: Ids
    limits: Limits = Limits()
    default_model: str | None = None
    busy: Busy = field(default_factory=Busy)
