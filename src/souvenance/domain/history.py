"""Recognising a conversation by the history that a client sends again (I3).

Each message's hash covers the hash before it, so a conversation that grows by one message needs one more hash, not all
of them again. The texts to be hashed put every part's length before it: no two histories share one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from souvenance.domain.conversation import Role
from souvenance.domain.ids import BotId

NO_HISTORY = ""
"""The hash of a conversation in which nothing was said yet."""


def beginning(bot_id: BotId | None) -> str:
    """What the hash of a conversation with this bot starts from: histories with different bots never are equal."""
    return f"with {bot_id}" if bot_id is not None else NO_HISTORY


def normalised(text: str) -> str:
    """A message as histories compare it: white space around it and the kind of its line ends make no difference."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def chain(previous_hash: str, role: Role, text: str) -> str:
    """What to hash for a message that follows the history of this hash."""
    return "".join(f"{len(part)}:{part}" for part in (previous_hash, role.value, normalised(text)))


def history_hash(
    messages: Iterable[tuple[Role, str]], keyed_hash: Callable[[str], bytes], *, after: str = NO_HISTORY
) -> str:
    """The chained hash (lower-case hex) of `messages` that follow the history of hash `after`.

    Texts stand without our own text calls (V2), as a client was shown them; system messages are no part of a history.
    """
    latest = after
    for role, text in messages:
        latest = keyed_hash(chain(latest, role, text)).hex()
    return latest
