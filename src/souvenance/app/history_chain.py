"""The hashes by which a client's history is recognised, after an earlier turn says something else (I3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from souvenance.domain.conversation import Conversation, Role, Turn
from souvenance.domain.history import beginning, history_hash
from souvenance.ports.store import Unit


def hash_after(unit: Unit, opened_hash: str, replies: Iterable[tuple[Role, str]]) -> str:
    """The hash of a conversation up to the end of a turn, from the one up to its user message."""
    said = [(role, text) for role, text in replies if role is Role.BOT and text.strip()]
    return history_hash(said, unit.keyed_hash, after=opened_hash)


def rechain(unit: Unit, conversation: Conversation, turn: Turn) -> Conversation:
    """The conversation with the hash that it has now that the replies of this turn are others; later turns are hashed
    again and saved, which only a conversation that a client re-sends has a use for.
    """
    if turn.position < conversation.last_position and not conversation.client:
        return conversation
    said = [(m.role, m.text) for m in unit.messages.of_turn(turn.turn_id) if m.chosen]
    return _behind(unit, conversation, turn.position, hash_after(unit, turn.opened_hash, said))


def rechain_from(unit: Unit, conversation: Conversation, position: int) -> Conversation:
    """The same after any message of the turn at this position changed or went, or all of the turn."""
    if not conversation.client:
        return conversation
    before = unit.turns.before(conversation.conversation_id, position)
    return _behind(unit, conversation, position - 1, hash_up_to(unit, conversation, before))


def hash_up_to(unit: Unit, conversation: Conversation, turn: Turn | None) -> str:
    """The hash of a conversation whose last turn is this one; None: of one in which nothing was said."""
    if turn is None:
        return beginning(conversation.bot_id)
    said = [(m.role, m.text) for m in unit.messages.of_turn(turn.turn_id) if m.chosen]
    if said and said[0][0] is Role.USER:
        return hash_after(unit, turn.opened_hash, said)
    # Its user message is gone, or never was: the hash that it was opened with may say more than what is before it.
    before = unit.turns.before(conversation.conversation_id, turn.position)
    return hash_after(unit, hash_up_to(unit, conversation, before), said)


def _behind(unit: Unit, conversation: Conversation, position: int, latest: str) -> Conversation:
    """The turns behind this position hashed again, from the hash `latest` of those up to it."""
    said: dict[int, list[tuple[Role, str]]] = {}
    for message in unit.messages.from_position(conversation.conversation_id, position + 1):
        said.setdefault(message.position, []).append((message.role, message.text))
    for turn in unit.turns.after(conversation.conversation_id, position):
        asked = [(role, text) for role, text in said.get(turn.position, ()) if role is Role.USER]
        opened = history_hash(asked, unit.keyed_hash, after=latest)
        unit.turns.save(replace(turn, opened_hash=opened))
        latest = hash_after(unit, opened, said.get(turn.position, ()))
    return replace(conversation, history_hash=latest)
