"""How a prompt tells who said what in a group: each line but the speaker's own begins with a name and a colon (M7)."""

from __future__ import annotations

from collections.abc import Mapping

from souvenance.domain.block import escape_key
from souvenance.domain.conversation import Role
from souvenance.domain.ids import BotId

USER = "User"
"""The name of a user who wears no persona."""

_GONE = "Former member"


def name_before(name: str) -> str:
    """What stands before a line of this one's; the first `: ` ends the name, and `unescape` gives it back."""
    return f"{escape_key(name)}: "


def name_of(role: Role, bot_id: BotId | None, names: Mapping[BotId, str], *, user: str) -> str:
    """Who said a message, also when it was a bot that is gone."""
    if role is Role.USER:
        return user
    return _GONE if bot_id is None else names.get(bot_id, _GONE)
