"""The library's verbs on bots: make, find, change, hand on, delete (E1, M8, K4)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING

from souvenance.domain.bot import Bot, Preset
from souvenance.library import verbs
from souvenance.library.pages import walk

if TYPE_CHECKING:
    from souvenance.app.delete_bot import DeletedBot, Memories
    from souvenance.domain.json_object import JsonObject
    from souvenance.domain.limits import Level
    from souvenance.wiring import House


class BotVerbs:
    """What `Souvenance` can do with bots; a name is a bot's name or its id."""

    def __init__(self, house: House) -> None:
        self._kit = house.kit
        self._owner = house.owner_id

    def bots(self) -> AsyncGenerator[Bot, None]:
        """All bots in the order in which they were made."""
        return walk(lambda cursor: verbs.list_bots(self._kit, self._owner, cursor=cursor, limit=None))

    async def bot(self, name: str) -> Bot:
        """The bot of this name or id; NotFound."""
        return await verbs.find_bot(self._kit, self._owner, name)

    async def add_bot(
        self,
        name: str,
        *,
        preset: Preset = Preset.COMPANION,
        system_prompt: str = "",
        model: str | None = None,
        settings: Mapping[str, str | bool] | None = None,
    ) -> Bot:
        """Make a bot; `settings` change single ones of its preset's (E1). NameTaken."""
        new = verbs.NewBot(name=name, preset=preset, system_prompt=system_prompt, model=model, settings=settings or {})
        return await verbs.create_bot(self._kit, self._owner, new)

    async def change_bot(self, name: str, changes: Mapping[str, object]) -> Bot:
        """Change `name`, `system_prompt`, `model` or `settings` of a bot."""
        found = await self.bot(name)
        return await verbs.change_bot(self._kit, self._owner, found.bot_id, seen=None, changes=changes)

    async def delete_bot(self, name: str, *, memories: Memories | str = "keep") -> DeletedBot:
        """Delete a bot; its memories become the account's, or go with it for good (M8)."""
        chosen = verbs.Memories.read(memories)
        return await verbs.delete_bot(self._kit, self._owner, (await self.bot(name)).bot_id, memories=chosen)

    async def export_bot(self, name: str) -> JsonObject:
        """A bot as a document that can be handed on: never memory, never keys (K4)."""
        return await verbs.export_bot(self._kit, self._owner, (await self.bot(name)).bot_id)

    async def share_link(self, name: str) -> str:
        """The same document in a link that needs no server."""
        return await verbs.share_link(self._kit, self._owner, (await self.bot(name)).bot_id)

    async def import_bot(self, shared: object) -> Bot:
        """A new bot from a document or a link; where its name is taken, a number makes it free."""
        return await verbs.import_bot(self._kit, self._owner, shared)

    async def level(self, bot: str) -> Level:
        """How much of a conversation this bot keeps word for word (W1)."""
        return await verbs.read_level(self._kit, self._owner, (await self.bot(bot)).bot_id)

    async def set_level(self, bot: str, level: Level) -> None:
        """Takes effect with the next message (W3)."""
        await verbs.set_level(self._kit, self._owner, (await self.bot(bot)).bot_id, level)
