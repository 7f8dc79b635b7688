"""What a reply has come to so far: the one thing of a turn that grows while the model speaks."""

from __future__ import annotations

from dataclasses import dataclass, field

from souvenance.app.change_memories import Remove, Wish
from souvenance.domain.ids import MemoryId
from souvenance.domain.journal import Actor
from souvenance.domain.prompt import Assembled
from souvenance.ports.chat_model import Usage


@dataclass(slots=True, kw_only=True)
class Round:
    """One request of the reply and what it cost. `text` is all that came back, text calls included; `shown` is without
    them, as a later round is told it: their words stand in no prompt (V2, M14).
    """

    asked: Assembled
    estimated_in: int
    text: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    usage: Usage | None = None


@dataclass(slots=True, kw_only=True)
class Reply:
    """`shown` is what the person saw; `wishes` what is to be stored with it, each with who wished it; `by_number` and
    `given` start as the prompt's short ids and grow with what `memory_query` showed; `of_others` are an organisation's
    memories that it showed.
    """

    shown: list[str] = field(default_factory=list)
    wishes: list[tuple[Wish, Actor]] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    by_number: dict[int, MemoryId] = field(default_factory=dict)
    given: dict[MemoryId, int] = field(default_factory=dict)
    last_number: int = 0
    of_others: set[MemoryId] = field(default_factory=set)
    finish: str = ""
    their_calls: bool = False

    @property
    def gone(self) -> frozenset[MemoryId]:
        """What this reply wished to have removed: the model has no say over it any more."""
        return frozenset(wish.memory_id for wish, _ in self.wishes if isinstance(wish, Remove))

    @property
    def text(self) -> str:
        return "".join(self.shown)

    @property
    def is_worth_keeping(self) -> bool:
        return bool(self.text.strip() or self.wishes)

    @property
    def is_calls_only(self) -> bool:
        """Whether it is text calls and nothing else: what a person sees of it is how many were stored (V2)."""
        called = any(actor is Actor.TEXT_CALL for _, actor in self.wishes)
        return called and not self.text.strip() and not self.their_calls


@dataclass(slots=True, kw_only=True)
class Call:
    """One tool call, put together from its pieces."""

    call_id: str = ""
    name: str = ""
    arguments: str = ""
