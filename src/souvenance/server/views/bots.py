"""Bots and personas as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import ConfigDict, Field, StrictBool, StrictInt

from souvenance.app.delete_bot import DeletedBot, Memories
from souvenance.domain.bot import Bot, BotSettings, Extraction, Persona, Preset
from souvenance.domain.limits import Level
from souvenance.server.forms import Text
from souvenance.server.views.view import View


class SettingsJson(View):
    text_calls: bool
    extraction: Extraction
    deeper: bool
    learn: bool
    tools: bool
    browser_only: bool

    @classmethod
    def of(cls, settings: BotSettings) -> Self:
        return cls(
            text_calls=settings.text_calls,
            extraction=settings.extraction,
            deeper=settings.deeper,
            learn=settings.learn,
            tools=settings.tools,
            browser_only=settings.browser_only,
        )


class BotJson(View):
    id: str
    name: str
    preset: Preset
    settings: SettingsJson
    system_prompt: str
    model: str | None
    enterprise: bool
    created_at: datetime
    updated_at: datetime
    version: int

    @classmethod
    def of(cls, bot: Bot) -> Self:
        return cls(
            id=bot.bot_id,
            name=bot.name,
            preset=bot.preset,
            settings=SettingsJson.of(bot.settings),
            system_prompt=bot.system_prompt,
            model=bot.model,
            enterprise=bot.enterprise,
            created_at=bot.created_at,
            updated_at=bot.updated_at,
            version=bot.version,
        )


class BotDocumentJson(View):
    """A bot to hand on (K4); what its fields may be is said where the bot is made."""

    model_config = ConfigDict(extra="forbid")

    souvenance_bot: StrictInt
    name: Text
    preset: Preset
    settings: dict[Text, StrictBool | Text] = Field(default_factory=dict)
    system_prompt: Text = ""
    model: Text | None = None


class LinkJson(View):
    model_config = ConfigDict(extra="forbid")

    link: Text


class DeletedBotJson(View):
    """`count` memories became the account's (`keep`) or are gone (`erase`)."""

    id: str
    name: str
    memories: Memories
    count: int

    @classmethod
    def of(cls, deleted: DeletedBot) -> Self:
        return cls(id=deleted.bot.bot_id, name=deleted.bot.name, memories=deleted.memories, count=deleted.count)


class LevelJson(View):
    level: Level


class PersonaJson(View):
    id: str
    name: str
    description: str
    created_at: datetime
    updated_at: datetime
    version: int

    @classmethod
    def of(cls, persona: Persona) -> Self:
        return cls(
            id=persona.persona_id,
            name=persona.name,
            description=persona.description,
            created_at=persona.created_at,
            updated_at=persona.updated_at,
            version=persona.version,
        )
