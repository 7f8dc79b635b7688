"""Hand a bot on, as a document or as a link that holds it, and take one in (K4): never memory, never keys."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from souvenance.app.bots import NewBot, make_bot
from souvenance.app.kit import Kit
from souvenance.domain.bot import Bot
from souvenance.domain.bot_document import BotDocument, document_of, link_of, numbered, read_document, read_link
from souvenance.domain.ids import BotId, OwnerId
from souvenance.domain.json_object import JsonObject
from souvenance.ports.store import Unit


async def export_bot(kit: Kit, owner_id: OwnerId, bot_id: BotId) -> JsonObject:
    """Name, preset, settings, system prompt and model of a bot, as JSON. NotFound."""
    bot = await kit.store.read(owner_id, lambda unit: unit.bots.get(bot_id), label="bot.exported")
    return document_of(bot)


async def share_link(kit: Kit, owner_id: OwnerId, bot_id: BotId) -> str:
    """The same in a link that needs no server. NotFound, TextTooLong when it would be too long for a link."""
    return link_of(await export_bot(kit, owner_id, bot_id), kit.limits)


async def import_bot(kit: Kit, owner_id: OwnerId, shared: object) -> Bot:
    """A new bot from a document, or from a link (text); where its name is taken, a number makes it free. InputError."""
    said = read_document(read_link(shared, kit.limits) if isinstance(shared, str) else shared)
    bot = _made(kit, said)

    def work(unit: Unit) -> Bot:
        unit.owners.hold()
        names = (numbered(bot.name, number, kit.limits) for number in count(1))
        named = replace(bot, name=next(name for name in names if unit.bots.find(name) is None))
        unit.bots.put(named)
        return named

    return await kit.store.write(owner_id, work, label="bot.imported")


def _made(kit: Kit, said: BotDocument) -> Bot:
    return make_bot(
        kit,
        NewBot(
            name=said.name,
            preset=said.preset,
            system_prompt=said.system_prompt,
            model=said.model,
            settings=said.settings,
        ),
    )
