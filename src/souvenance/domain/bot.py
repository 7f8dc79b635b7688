"""Bots and personas: whom one talks with, and the mask one wears (E1)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from souvenance.domain.ids import BotId, PersonaId


class Preset(StrEnum):
    COMPANION = "companion"
    NOTEBOOK = "notebook"
    ASSISTANT = "assistant"


class Extraction(StrEnum):
    OFF = "off"
    EXPLICIT = "explicit"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class BotSettings:
    """Every setting of E1 by itself; a preset is only where they start from."""

    text_calls: bool
    extraction: Extraction
    deeper: bool
    learn: bool = True
    tools: bool = True
    browser_only: bool = False


PRESETS: dict[Preset, BotSettings] = {
    Preset.COMPANION: BotSettings(text_calls=False, extraction=Extraction.EXPLICIT, deeper=True),
    Preset.NOTEBOOK: BotSettings(text_calls=True, extraction=Extraction.OFF, deeper=False),
    Preset.ASSISTANT: BotSettings(text_calls=True, extraction=Extraction.ALL, deeper=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """A character, a bot or an agent. `model` is the upstream's name, None for the installation's default."""

    bot_id: BotId
    name: str
    preset: Preset
    settings: BotSettings
    system_prompt: str = ""
    model: str | None = None
    enterprise: bool = False
    created_at: datetime
    updated_at: datetime
    version: int = 1

    @property
    def is_notebook(self) -> bool:
        return self.preset is Preset.NOTEBOOK


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """The mask the user wears; it never isolates memory and is no fact about the user."""

    persona_id: PersonaId
    name: str
    description: str = ""
    created_at: datetime
    updated_at: datetime
    version: int = 1
