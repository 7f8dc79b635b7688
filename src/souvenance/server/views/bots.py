"""Bots and personas as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import BaseModel

from souvenance.domain.bot import Bot, BotSettings, Extraction, Persona, Preset
from souvenance.domain.limits import Level


class SettingsJson(BaseModel):
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


class BotJson(BaseModel):
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


class LevelJson(BaseModel):
    level: Level


class PersonaJson(BaseModel):
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
