"""Ask the last turn again: a new variant of its reply, as if the one there had never been given (T1)."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from souvenance.app.kit import Kit
from souvenance.app.reopen_turn import AskedAgain, Retake, TakenAgain, answer_again, reply_of
from souvenance.app.turn import TurnEvent
from souvenance.domain.conversation import TurnState
from souvenance.domain.ids import OwnerId


def regenerate(kit: Kit, owner_id: OwnerId, asked: AskedAgain) -> AsyncGenerator[TurnEvent, None]:
    """The events of the new reply. What the old one wrote is undone in the write that stores the new one: until then,
    and when the model fails, the old one stays, and its writes stand. A new one that breaks off is kept as a variant
    that is not chosen. In a group one reply is asked again; the others stay. An open turn is answered.

    Raises what `answer_again` raises, and NotFound for a part that is no reply.
    """
    return answer_again(kit, owner_id, asked, lambda taken: _retake(taken, asked.part))


def _retake(taken: TakenAgain, part: int | None) -> Retake:
    replies = taken.replies
    if part is not None:
        reply_of(taken, part, replies)
    if taken.turn.state is TurnState.OPEN or not replies:
        return Retake()
    if not taken.conversation.is_group:
        return Retake(replaces=replies)
    meant = reply_of(taken, part, replies)
    return Retake(heard=tuple(m for m in replies if m.part < meant.part), replaces=(meant,))
