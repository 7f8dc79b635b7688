"""Make, find and change bots; set how much of a conversation with them is kept word for word (E1, W2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum

from souvenance.app.kit import Kit
from souvenance.domain.bot import PRESETS, Bot, BotSettings, Extraction, Preset
from souvenance.domain.ids import BotId, OwnerId, known_shape
from souvenance.domain.limits import Level
from souvenance.domain.text import clean
from souvenance.errors import BadValue, NameTaken, StaleEdit
from souvenance.ports.store import Unit

_CHANGEABLE = frozenset({"name", "system_prompt", "model", "settings"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBot:
    """`settings` overrides single settings of the preset, by name (E1)."""

    name: str
    preset: Preset = Preset.COMPANION
    system_prompt: str = ""
    model: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)


async def create_bot(kit: Kit, owner_id: OwnerId, new: NewBot) -> Bot:
    """Store a bot; NameTaken when the owner has one of this name."""
    bot = make_bot(kit, new)
    await kit.store.write(owner_id, lambda unit: unit.bots.put(bot), label="bot.created")
    return bot


async def find_bot(kit: Kit, owner_id: OwnerId, name_or_id: str) -> Bot:
    """The bot of this id, else of this name; NotFound."""

    def work(unit: Unit) -> Bot:
        found = unit.bots.find(name_or_id)
        return found if found is not None else unit.bots.get(BotId(known_shape("bot", name_or_id)))

    return await kit.store.read(owner_id, work, label="bot.found")


async def bot_for(
    kit: Kit, owner_id: OwnerId, name: str, *, preset: Preset = Preset.COMPANION, text_calls: bool | None = None
) -> Bot:
    """The bot of this name, made as `preset` if there is none yet; safe to call many times at once."""
    found = await kit.store.read(owner_id, lambda unit: unit.bots.find(name), label="bot.found")
    if found is not None:
        return found
    settings: dict[str, str | bool] = {} if text_calls is None else {"text_calls": text_calls}
    try:
        return await create_bot(kit, owner_id, NewBot(name=name, preset=preset, settings=settings))
    except NameTaken:
        return await find_bot(kit, owner_id, name)


async def change_bot(
    kit: Kit, owner_id: OwnerId, bot_id: BotId, *, seen: int | None = None, changes: Mapping[str, object]
) -> Bot:
    """The bot with `changes` to name, system_prompt, model or settings; `seen` None: whatever version is there."""
    unknown = sorted(set(changes) - _CHANGEABLE)
    if unknown or not changes:
        expected = f"some of {', '.join(sorted(_CHANGEABLE))}"
        raise BadValue(unknown[0] if unknown else "changes", value=changes, expected=expected)
    now = kit.clock.now()

    def work(unit: Unit) -> Bot:
        bot = unit.bots.get(bot_id)
        if seen is not None and bot.version != seen:
            raise StaleEdit(
                "bot",
                bot_id,
                seen=seen,
                current=bot.version,
                theirs=bot.system_prompt,
                yours=str(changes.get("system_prompt", "")),
            )
        changed = replace(_changed(kit, bot, changes), version=bot.version + 1, updated_at=now)
        unit.bots.save(changed)
        return changed

    return await kit.store.write(owner_id, work, label="bot.changed")


async def set_level(kit: Kit, owner_id: OwnerId, bot_id: BotId, level: Level) -> None:
    """From the next message on, conversations with this bot keep this much (W2, W3)."""

    def work(unit: Unit) -> None:
        unit.bots.get(bot_id)
        unit.levels.set(bot_id, level)

    await kit.store.write(owner_id, work, label="level.set")


async def read_level(kit: Kit, owner_id: OwnerId, bot_id: BotId) -> Level:
    def work(unit: Unit) -> Level:
        unit.bots.get(bot_id)
        return unit.levels.get(bot_id) or Level.BALANCED

    return await kit.store.read(owner_id, work, label="level.read")


def make_bot(kit: Kit, new: NewBot) -> Bot:
    """A bot that is not stored yet; InputError for what cannot be."""
    now = kit.clock.now()
    return Bot(
        bot_id=BotId(kit.ids.new("bot")),
        name=checked_name(kit, new.name),
        preset=new.preset,
        settings=with_settings(PRESETS[new.preset], new.settings),
        system_prompt=_checked_prompt(kit, new.system_prompt),
        model=_checked_model(kit, new.model),
        created_at=now,
        updated_at=now,
    )


def _changed(kit: Kit, bot: Bot, changes: Mapping[str, object]) -> Bot:
    settings = changes.get("settings", {})
    if not isinstance(settings, Mapping):
        raise BadValue("settings", value=settings, expected="settings by name")
    model = changes.get("model", bot.model)
    return replace(
        bot,
        name=checked_name(kit, _text("name", changes.get("name", bot.name))),
        system_prompt=_checked_prompt(kit, _text("system_prompt", changes.get("system_prompt", bot.system_prompt))),
        model=_checked_model(kit, None if model is None else _text("model", model)),
        settings=with_settings(bot.settings, settings),
    )


def _text(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadValue(field, value=value, expected="text")
    return value


def with_settings(settings: BotSettings, changes: Mapping[str, object]) -> BotSettings:
    """`settings` with these changed by name; BadValue for a name or value that does not exist."""
    known = {f.name for f in fields(BotSettings)}
    checked: dict[str, bool | Extraction] = {}
    for name, value in changes.items():
        if name not in known:
            raise BadValue(f"settings.{name}", value=value, expected=f"one of {', '.join(sorted(known))}")
        checked[name] = _extraction(value) if name == "extraction" else _switch(name, value)
    return replace(settings, **checked)  # type: ignore[arg-type]  # each value was checked for its name


def _extraction(value: object) -> Extraction:
    try:
        return Extraction(str(value))
    except ValueError as e:
        raise BadValue("settings.extraction", value=value, expected=_words(Extraction)) from e


def _switch(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise BadValue(f"settings.{name}", value=value, expected="true or false")
    return value


def _words(kind: type[StrEnum]) -> str:
    return " or ".join(kind)


def checked_name(kit: Kit, name: str) -> str:
    """A name of a bot or persona: visible, one line; it cannot hold `@`, which parts a model from a bot (I3)."""
    name = clean("name", name.strip(), limit=kit.limits.name_characters, keep_breaks=False)
    if "@" in name:
        raise BadValue("name", value=name, expected="a name without @")
    return name


def _checked_prompt(kit: Kit, prompt: str) -> str:
    if not prompt.strip():
        return ""
    return clean("system_prompt", prompt, limit=kit.limits.system_prompt_characters)


def _checked_model(kit: Kit, model: str | None) -> str | None:
    if model is None:
        return None
    return clean("model", model, limit=kit.limits.model_characters, keep_breaks=False)
