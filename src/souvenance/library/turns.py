"""`memory.turns`: ask again, go on, choose another variant (T1, T3, T6)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from souvenance.app.browse import read_turn
from souvenance.app.choose_variant import choose_variant
from souvenance.app.go_on import go_on
from souvenance.app.regenerate import regenerate
from souvenance.app.reopen_turn import AskedAgain
from souvenance.domain.ids import TurnId, known_shape

if TYPE_CHECKING:
    from souvenance.domain.conversation import Message
    from souvenance.library.pieces import Piece
    from souvenance.library.replies import Replies
    from souvenance.wiring import House


class Turns:
    """What can be done with a turn that is there; its id stands in every message and in a reply's `done.turn`."""

    def __init__(self, house: House, replies: Replies) -> None:
        self._kit = house.kit
        self._owner = house.owner_id
        self._replies = replies

    def regenerate(
        self, turn_id: TurnId, *, part: int | None = None, model: str | None = None
    ) -> AsyncGenerator[Piece, None]:
        """A new reply to the last turn, piece by piece, as if the one there had never been given: what that one wrote
        is undone once the new one is stored. When the model fails or the iterator is closed, the old one stays.

        In a group `part` says which reply; the last when it is left out. NotLastTurn.
        """
        asked = AskedAgain(turn_id=_turn_id(turn_id), part=part, model=model)
        return self._replies.begin(regenerate(self._kit, self._owner, asked))

    def go_on(
        self, turn_id: TurnId, *, part: int | None = None, model: str | None = None
    ) -> AsyncGenerator[Piece, None]:
        """The rest of a reply that was cut off, piece by piece; it is added to what is there. NothingToContinue."""
        asked = AskedAgain(turn_id=_turn_id(turn_id), part=part, model=model)
        return self._replies.begin(go_on(self._kit, self._owner, asked))

    async def choose(self, turn_id: TurnId, *, part: int = 1, variant: int) -> Message:
        """Let another variant of a reply stand: what the one left wrote is undone, what this one wrote comes back.

        ConversationBusy while the turn is being answered.
        """
        return await choose_variant(self._kit, self._owner, _turn_id(turn_id), part=part, variant=variant)

    async def read(self, turn_id: TurnId) -> tuple[Message, ...]:
        """All messages of a turn by part and variant, those that were not chosen included."""
        _, messages = await read_turn(self._kit, self._owner, _turn_id(turn_id))
        return tuple(messages)


def _turn_id(raw: str) -> TurnId:
    return TurnId(known_shape("turn", raw))
