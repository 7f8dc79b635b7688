"""Bots, and the level of detail kept per account and bot (W2)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Row, bindparam, delete, insert, select, update

from souvenance.domain.bot import Bot, BotSettings, Extraction, Preset
from souvenance.domain.ids import BotId
from souvenance.domain.limits import Level
from souvenance.domain.text import fold
from souvenance.errors import NameTaken, NotFound, StaleEdit
from souvenance.storage.batches import batches
from souvenance.storage.repository import LIMIT, Repository, owned
from souvenance.storage.schema import bots, epochs, levels

_C = bots.c
_GET = select(bots).where(owned(bots), _C.bot_id == bindparam("id"))
_MANY = select(bots).where(owned(bots), _C.bot_id.in_(bindparam("ids", expanding=True)))
_FIND = select(bots).where(owned(bots), _C.name_hash == bindparam("hash"))
_PAGE = select(bots).where(owned(bots), _C.bot_id > bindparam("after")).order_by(_C.bot_id).limit(LIMIT)
_NOTEBOOKS = select(_C.bot_id).where(
    owned(bots), _C.bot_id.in_(bindparam("ids", expanding=True)), _C.preset == Preset.NOTEBOOK
)
_PUT = insert(bots)
_REMOVE = delete(bots).where(owned(bots), _C.bot_id == bindparam("id"))
_DROP_EPOCHS = delete(epochs).where(owned(epochs), epochs.c.speaker == bindparam("of"))
_SAVE = update(bots).where(owned(bots), _C.bot_id == bindparam("id"), _C.version == bindparam("seen"))

_LEVEL = select(levels.c.level).where(owned(levels), levels.c.bot_id == bindparam("of"))
_DROP_LEVEL = delete(levels).where(owned(levels), levels.c.bot_id == bindparam("of"))


class SqlBots(Repository):
    """`ports.conversations.Bots`."""

    __slots__ = ()

    def get(self, bot_id: BotId) -> Bot:
        row = self._row(_GET, id=bot_id)
        if row is None:
            raise NotFound("bot", bot_id)
        return _bot(row)

    def many(self, bot_ids: Sequence[BotId]) -> list[Bot]:
        found = {row.bot_id: _bot(row) for some in batches(bot_ids) for row in self._rows(_MANY, ids=some)}
        return [found[bot_id] for bot_id in bot_ids if bot_id in found]

    def find(self, name: str) -> Bot | None:
        row = self._row(_FIND, hash=self._name_hash(name))
        return None if row is None else _bot(row)

    def put(self, bot: Bot) -> None:
        self._refuse_taken(bot)
        self._insert(_PUT, [{"bot_id": bot.bot_id, **self._values(bot)}])

    def save(self, bot: Bot) -> None:
        self._refuse_taken(bot)
        if self._run(_SAVE, id=bot.bot_id, seen=bot.version - 1, **self._values(bot)).rowcount == 0:
            current = self.get(bot.bot_id)
            raise StaleEdit(
                "bot", bot.bot_id, seen=bot.version - 1, current=current.version, theirs=current.name, yours=bot.name
            )

    def page(self, *, after: BotId | None, limit: int) -> list[Bot]:
        return [_bot(row) for row in self._rows(_PAGE, after=after or "", limit=limit)]

    def notebooks(self, bot_ids: Sequence[BotId]) -> set[BotId]:
        return {row.bot_id for some in batches(bot_ids) for row in self._rows(_NOTEBOOKS, ids=some)}

    def remove(self, bot_id: BotId) -> None:
        self._run(_DROP_LEVEL, of=bot_id)
        self._run(_DROP_EPOCHS, of=bot_id)
        self._run(_REMOVE, id=bot_id)

    def _refuse_taken(self, bot: Bot) -> None:
        holder = self.find(bot.name)
        if holder is not None and holder.bot_id != bot.bot_id:
            raise NameTaken("bot", bot.name)

    def _name_hash(self, name: str) -> bytes:
        return self._hash(fold(name), "bot name")

    def _values(self, bot: Bot) -> dict[str, object]:
        return {
            "name": bot.name,
            "name_hash": self._name_hash(bot.name),
            "preset": bot.preset,
            "settings": json.dumps(asdict(bot.settings), sort_keys=True),
            "system_prompt": bot.system_prompt,
            "model": bot.model,
            "enterprise": bot.enterprise,
            "created_at": bot.created_at,
            "updated_at": bot.updated_at,
            "version": bot.version,
        }


class SqlLevels(Repository):
    """`ports.conversations.Levels`."""

    __slots__ = ()

    def get(self, bot_id: BotId) -> Level | None:
        row = self._row(_LEVEL, of=bot_id)
        return None if row is None else Level(row.level)

    def set(self, bot_id: BotId, level: Level) -> None:
        self._run(_DROP_LEVEL, of=bot_id)
        self._insert(insert(levels), [{"bot_id": bot_id, "level": level}])


def _bot(row: Row[Any]) -> Bot:
    return Bot(
        bot_id=BotId(row.bot_id),
        name=row.name,
        preset=Preset(row.preset),
        settings=_settings(row.settings),
        system_prompt=row.system_prompt,
        model=row.model,
        enterprise=row.enterprise,
        created_at=row.created_at,
        updated_at=row.updated_at,
        version=row.version,
    )


def _settings(data: str) -> BotSettings:
    """Settings that were added since the row was written stand at their defaults."""
    raw = json.loads(data)
    return BotSettings(**{**raw, "extraction": Extraction(raw["extraction"])})
