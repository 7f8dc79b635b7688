"""Index what users said with the reply to it: one write for both, off the way to a first token (HOUSE 11).

So the newest message is indexed when its turn settles; until then it stands in its own conversation's live window. What
a crash left without that is indexed with the next reply there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from souvenance.domain.conversation import Message, Role, WindowMessage
from souvenance.domain.terms import terms
from souvenance.ports.memories import Kind
from souvenance.ports.store import Unit


def index_said(
    unit: Unit,
    said: Sequence[Message],
    before: Sequence[WindowMessage],
    *,
    replies: Mapping[str, Sequence[str]],
    known: Mapping[str, Sequence[str]],
) -> None:
    """Index new `replies` by their terms, and what is not indexed yet of the user: in their turn (`said`), and in the
    turns just `before` it that nobody answered. `known` has terms by text, worked out before the store was held.
    """
    asked: dict[str, str] = {m.message_id: m.text for m in said if m.role is Role.USER}
    unanswered = [m.message_id for m in _unanswered(before)]
    if unanswered:
        asked |= {m.message_id: m.text for m in unit.messages.many(unanswered)}
    missing = unit.index.missing(Kind.MESSAGE, list(asked))
    late = {message_id: known.get(asked[message_id]) or terms(asked[message_id]) for message_id in sorted(missing)}
    unit.index.put_new(Kind.MESSAGE, {**late, **replies})


def _unanswered(before: Sequence[WindowMessage]) -> list[WindowMessage]:
    """The user's messages at the end of these that no reply follows."""
    last = max((at for at, message in enumerate(before) if message.role is Role.BOT), default=-1)
    return list(before[last + 1 :])
