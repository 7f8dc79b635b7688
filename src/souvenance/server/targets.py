"""Whom memories are for, where a body names a bot or a scope."""

from __future__ import annotations

from souvenance.app.bots import find_bot
from souvenance.domain.ids import BotId
from souvenance.domain.memory import ACCOUNT_SCOPE, Scope
from souvenance.errors import BadValue
from souvenance.server.caller import Caller
from souvenance.server.forms import parse_scope


async def target_of(here: Caller, *, bot: str | None, scope: str | None) -> BotId | Scope:
    """The bot of this name or id, or the scope, or the account when neither is named; BadValue for both."""
    if bot is not None and scope is not None:
        raise BadValue("scope", value=scope, expected="no scope beside a bot")
    if bot is not None:
        return (await find_bot(here.kit, here.owner_id, bot)).bot_id
    return ACCOUNT_SCOPE if scope is None else parse_scope("scope", scope)
