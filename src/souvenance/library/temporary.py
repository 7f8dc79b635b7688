"""A turn of a temporary chat, as the library's callers tell it: names and pairs (O4)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from souvenance.app.bots import find_bot
from souvenance.app.plan_temporary_turn import TemporaryTurn
from souvenance.app.temporary_turn import temporary_turn
from souvenance.domain.conversation import Role
from souvenance.errors import BadValue, NotFound

if TYPE_CHECKING:
    from souvenance.app.kit import Kit
    from souvenance.app.turn import TurnEvent
    from souvenance.domain.ids import BotId, OwnerId


async def say_temporarily(
    kit: Kit,
    owner_id: OwnerId,
    text: str,
    *,
    bot: str | None,
    history: Sequence[tuple[str, str]],
    model: str | None,
) -> AsyncGenerator[TurnEvent, None]:
    """The turn's events; BadValue for a role in `history` that is neither the user's nor the bot's."""
    said = tuple((_role(place, role), words) for place, (role, words) in enumerate(history))
    bot_id = None if bot is None else await _bot_id(kit, owner_id, bot)
    asked = TemporaryTurn(text=text, bot_id=bot_id, model=model, history=said)
    async with aclosing(temporary_turn(kit, owner_id, asked)) as events:
        async for event in events:
            yield event


def _role(place: int, name: str) -> Role:
    try:
        return Role(name)
    except ValueError as e:
        raise BadValue(f"history.{place}.role", value=name, expected="user or bot") from e


async def _bot_id(kit: Kit, owner_id: OwnerId, name: str) -> BotId | None:
    """None for a bot that is not there: making one would store something."""
    try:
        return (await find_bot(kit, owner_id, name)).bot_id
    except NotFound:
        return None
