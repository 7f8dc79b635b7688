"""`memory.turns` of the blocking door."""

from __future__ import annotations

from collections.abc import Iterator

from souvenance.blocking.loop_thread import LoopThread
from souvenance.domain.conversation import Message
from souvenance.domain.ids import TurnId
from souvenance.library.pieces import Piece
from souvenance.library.turns import Turns


class BlockingTurns:
    """`Turns` with methods that wait; each does and raises what its namesake there does."""

    def __init__(self, thread: LoopThread, turns: Turns) -> None:
        self._thread = thread
        self._turns = turns

    def regenerate(self, turn_id: TurnId, *, part: int | None = None, model: str | None = None) -> Iterator[Piece]:
        return self._thread.each(lambda: self._turns.regenerate(turn_id, part=part, model=model))

    def go_on(self, turn_id: TurnId, *, part: int | None = None, model: str | None = None) -> Iterator[Piece]:
        return self._thread.each(lambda: self._turns.go_on(turn_id, part=part, model=model))

    def choose(self, turn_id: TurnId, *, part: int = 1, variant: int) -> Message:
        return self._thread.call(lambda: self._turns.choose(turn_id, part=part, variant=variant))

    def read(self, turn_id: TurnId) -> tuple[Message, ...]:
        return self._thread.call(lambda: self._turns.read(turn_id))
