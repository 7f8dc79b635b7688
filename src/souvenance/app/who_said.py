"""Whose words a message is, as a summary tells it."""

from __future__ import annotations

from collections.abc import Mapping

from souvenance.domain.conversation import Message, Role
from souvenance.domain.ids import BotId

Names = Mapping[BotId, str]


def who_said(message: Message, names: Names) -> str:
    """The word "user", or the bot's name; "bot" for one that is gone or has none."""
    if message.role is Role.USER:
        return "user"
    return (names.get(message.bot_id) if message.bot_id is not None else None) or "bot"
