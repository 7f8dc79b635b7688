"""Go on with a reply that was cut off: what comes is added to it, and so is what it writes (T6)."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from souvenance.app.kit import Kit
from souvenance.app.reopen_turn import AskedAgain, Retake, TakenAgain, answer_again, reply_of
from souvenance.app.turn import TurnEvent
from souvenance.domain.conversation import MessageState
from souvenance.domain.ids import OwnerId
from souvenance.errors import NothingToContinue


def go_on(kit: Kit, owner_id: OwnerId, asked: AskedAgain) -> AsyncGenerator[TurnEvent, None]:
    """The events of the rest: Delta brings what is new only, the message of Done is the reply as a whole. When the
    model fails or the caller leaves, the reply stays cut off, longer by what came.

    Raises what `answer_again` raises, and NothingToContinue when no reply was cut off.
    """
    return answer_again(kit, owner_id, asked, lambda taken: _retake(taken, asked.part))


def _retake(taken: TakenAgain, part: int | None) -> Retake:
    cut_off = tuple(m for m in taken.replies if m.state is MessageState.CUT_OFF)
    if not cut_off:
        raise NothingToContinue(taken.turn.turn_id)
    meant = reply_of(taken, part, cut_off)
    return Retake(heard=tuple(m for m in taken.replies if m.part <= meant.part), continues=meant)
